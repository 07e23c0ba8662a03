// SPDX-License-Identifier: MIT
// Reasoning models write what they think before their answer, between tags. It is shown folded.

const OPEN = '<think>';
const CLOSE = '</think>';

/** The thoughts (null: none) and the answer. While the closing tag has not come, all is thought. */
export function splitThoughts(text: string): { thoughts: string | null; answer: string } {
  // Templates may leave a line break before the first word.
  const visible = text.trimStart();
  if (!visible.startsWith(OPEN)) return { thoughts: null, answer: visible };
  const end = visible.indexOf(CLOSE);
  if (end < 0) return { thoughts: visible.slice(OPEN.length).trim(), answer: '' };
  return {
    thoughts: visible.slice(OPEN.length, end).trim(),
    answer: visible.slice(end + CLOSE.length).trimStart(),
  };
}
