// SPDX-License-Identifier: MIT
// Versions as dotted numbers.

/** First "1.2" or "1.2.3" in a text such as `cmake --version` prints, or null. */
export const findVersion = (text) => /\d+(\.\d+)+|\d+/.exec(text ?? '')?.[0] ?? null;

export function atLeast(version, minimum) {
  if (!version) return false;
  const have = version.split('.').map(Number);
  const want = minimum.split('.').map(Number);
  for (let i = 0; i < want.length; i++) {
    if ((have[i] ?? 0) !== want[i]) return (have[i] ?? 0) > want[i];
  }
  return true;
}
