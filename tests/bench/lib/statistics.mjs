// SPDX-License-Identifier: MIT

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const short = (value) => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);

/** "median (least-most)" */
export const spread = (values) =>
  `${short(median(values))} (${short(Math.min(...values))}-${short(Math.max(...values))})`;
