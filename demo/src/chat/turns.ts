// SPDX-License-Identifier: MIT
// Turns of a conversation and what of them the model reads. They come in pairs (a message and its answer); a pair whose
// answer failed or is empty is shown but not sent to the model again.

import type { ChatMessage, FinishReason, GenerationStats } from 'layerstream';
import type { Problem } from '../ui/errors.js';

export interface Turn {
  /** Unique in this tab. */
  id: number;
  role: 'user' | 'assistant';
  text: string;
  /** reading: the prompt's passes run; writing: tokens arrive. */
  status: 'reading' | 'writing' | 'done' | 'failed';
  finish?: FinishReason;
  stats?: GenerationStats;
  problem?: Problem;
}

let lastId = 0;

export function makeTurn(role: Turn['role'], text: string, status: Turn['status']): Turn {
  lastId += 1;
  return { id: lastId, role, text, status };
}

export function isRunning(turn: Turn | undefined): boolean {
  return turn?.status === 'reading' || turn?.status === 'writing';
}

export function history(turns: readonly Turn[], systemPrompt: string): ChatMessage[] {
  const messages: ChatMessage[] = [];
  const system = systemPrompt.trim();
  if (system !== '') messages.push({ role: 'system', content: system });
  for (let i = 0; i + 1 < turns.length; i += 2) {
    const question = turns[i];
    const answer = turns[i + 1];
    if (!question || !answer || answer.status !== 'done' || answer.text.trim() === '') continue;
    messages.push({ role: 'user', content: question.text }, { role: 'assistant', content: answer.text });
  }
  return messages;
}

/** Positions of the context that the conversation took when its last answer ended; 0 if unknown. */
export function contextUsedBy(turns: readonly Turn[]): number {
  const stats = turns.findLast((turn) => turn.stats !== undefined)?.stats;
  return stats ? stats.promptTokens + stats.completionTokens : 0;
}

/** The beginning of the first message, cut at a word. */
export function titleOf(turns: readonly Turn[]): string {
  const text = (turns[0]?.text ?? '').trim().replace(/\s+/g, ' ');
  const LENGTH = 48;
  if (text.length <= LENGTH) return text;
  const cut = text.slice(0, LENGTH);
  const space = cut.lastIndexOf(' ');
  return `${space > LENGTH / 2 ? cut.slice(0, space) : cut}…`;
}
