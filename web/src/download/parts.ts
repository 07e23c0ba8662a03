// SPDX-License-Identifier: MIT
// The URLs of a split model: "name-00001-of-00003.gguf" stands for three parts.

const splitPattern = /-(\d{5})-of-(\d{5})(\.gguf)$/;

/** More than any real split; keeps a hostile name from starting thousands of requests. */
const maxParts = 1000;

export function partUrls(url: string): string[] {
  const parsed = new URL(url);
  const match = splitPattern.exec(parsed.pathname);
  const count = Number(match?.[2] ?? 1);
  if (match === null || Number(match[1]) !== 1 || count < 1 || count > maxParts) {
    return [url];
  }
  const stem = parsed.pathname.slice(0, match.index);
  return Array.from({ length: count }, (_, index) => {
    const part = new URL(parsed);
    part.pathname = `${stem}-${String(index + 1).padStart(5, '0')}-of-${match[2]}${match[3]}`;
    return part.href;
  });
}
