// SPDX-License-Identifier: MIT
// strftime as chat templates use it (local time, English names, as Python with the C locale).

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
const months = [
  'January', 'February', 'March', 'April', 'May', 'June',
  'July', 'August', 'September', 'October', 'November', 'December',
] as const; // prettier-ignore

const pad = (value: number, width = 2): string => String(value).padStart(width, '0');

function dayOfYear(date: Date): number {
  const midnight = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((midnight - Date.UTC(date.getFullYear(), 0, 1)) / 86_400_000) + 1;
}

const hour12 = (date: Date): number => date.getHours() % 12 || 12;
const dayName = (date: Date): string => days[date.getDay()] ?? '';
const monthName = (date: Date): string => months[date.getMonth()] ?? '';

const directives: Readonly<Record<string, (date: Date) => string>> = {
  a: (date) => dayName(date).slice(0, 3),
  A: dayName,
  b: (date) => monthName(date).slice(0, 3),
  B: monthName,
  d: (date) => pad(date.getDate()),
  e: (date) => String(date.getDate()).padStart(2),
  H: (date) => pad(date.getHours()),
  I: (date) => pad(hour12(date)),
  j: (date) => pad(dayOfYear(date), 3),
  m: (date) => pad(date.getMonth() + 1),
  M: (date) => pad(date.getMinutes()),
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  S: (date) => pad(date.getSeconds()),
  w: (date) => String(date.getDay()),
  y: (date) => pad(date.getFullYear() % 100),
  Y: (date) => String(date.getFullYear()),
  F: (date) => `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`,
  T: (date) => `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`,
  '%': () => '%',
};

/** Directives that are not known stay as they are. `%-d` leaves out the leading zero. */
export function strftime(date: Date, format: string): string {
  return format.replace(/%(-?)([a-zA-Z%])/g, (whole, minus: string, letter: string) => {
    const text = directives[letter]?.(date);
    if (text === undefined) {
      return whole;
    }
    return minus === '-' ? text.replace(/^[0 ]+(?=.)/, '') : text;
  });
}
