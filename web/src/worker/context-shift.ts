// SPDX-License-Identifier: MIT
// What stays of a text that has outgrown the context: its first `keep` tokens and its newest ones. Half of what may go
// goes at once, so that the rest need not be computed anew for every token.

/** Tokens to go on with, fewer than `contextLength`; the same ones if they are few enough. */
export function makeRoom(tokens: readonly number[], contextLength: number, keep: number): number[] {
  if (tokens.length < contextLength) {
    return [...tokens];
  }
  const kept = Math.max(0, Math.min(keep, contextLength - 2)); // one newest token and one free position at least
  const newest = Math.max(1, Math.floor((contextLength - kept) / 2));
  return [...tokens.slice(0, kept), ...tokens.slice(tokens.length - newest)];
}
