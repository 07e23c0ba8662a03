// SPDX-License-Identifier: MIT
// The `Range` header (RFC 9110, section 14), for one range of bytes.

/**
 * undefined: no usable range, send everything (several ranges and other units may be ignored, says the RFC);
 * null: cannot be satisfied (416); otherwise { start, end }, end included.
 */
export function parseRange(header, size) {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  if (match[1] === '') {
    const length = Number(match[2]);
    if (length === 0 || size === 0) return null;
    return { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(match[1]);
  const end = match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (match[2] !== '' && Number(match[2]) < start) return undefined; // malformed, not unsatisfiable
  return start < size ? { start, end } : null;
}
