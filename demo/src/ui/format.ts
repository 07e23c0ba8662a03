// SPDX-License-Identifier: MIT
// Numbers as people read them. Bytes are decimal (1 MB = 1 000 000 bytes), as disks and downloads show them.

export const MEGABYTE = 1e6;

const oneDecimal = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

function unitOf(bytes: number): number {
  let unit = 0;
  for (let value = bytes; value >= 999.5 && unit < UNITS.length - 1; value /= 1000) unit += 1;
  return unit;
}

function inUnit(bytes: number, unit: number): string {
  const value = bytes / 1000 ** unit;
  return unit >= 2 && value < 99.95 ? oneDecimal.format(value) : whole.format(value);
}

/** As short as it stays steady while it counts: "912 B", "557 kB", "5.6 MB", "4.1 GB". */
export function formatBytes(bytes: number): string {
  const unit = unitOf(bytes);
  return `${inUnit(bytes, unit)} ${UNITS[unit] ?? ''}`;
}

/** "0.9 of 5.6 MB": in the unit of the whole, unless the part would vanish in it. */
export function formatPart(part: number, total: number): string {
  const unit = unitOf(total);
  const vanishes = part > 0 && part / 1000 ** unit < 0.1;
  return `${vanishes ? formatBytes(part) : inUnit(part, unit)} of ${formatBytes(total)}`;
}

export function formatCount(value: number): string {
  return whole.format(value);
}

/** A share of a whole in percent, 0 to 100, and 0 of an unknown whole. */
export function percent(part: number, total: number): number {
  if (!(total > 0)) return 0;
  return Math.min(100, Math.max(0, (part / total) * 100));
}

/** Tokens per second; null when there was nothing to measure. */
export function rate(tokens: number, milliseconds: number): number | null {
  return tokens > 0 && milliseconds > 0 ? (tokens * 1000) / milliseconds : null;
}

export function formatRate(tokensPerSecond: number | null): string {
  if (tokensPerSecond === null) return '–';
  const number = tokensPerSecond < 10 ? oneDecimal.format(tokensPerSecond) : whole.format(tokensPerSecond);
  return `${number} tok/s`;
}

/** A time that is guessed: "3 s", "12 min", "2 h". */
export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${whole.format(Math.max(1, seconds))} s`;
  return seconds < 5400 ? `${whole.format(seconds / 60)} min` : `${whole.format(seconds / 3600)} h`;
}

export function plural(count: number, singular: string, many = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : many}`;
}
