// SPDX-License-Identifier: MIT
// Conversations as a JSON file. What is imported is untrusted: every field is checked, and unknown ones are left out.

import type { GenerationStats } from 'layerstream';
import { downloadBlob } from '../ui/download.js';
import type { StoredConversation, StoredTurn } from './database.js';

const FORMAT = 'layerstream-conversations';
const VERSION = 1;

export function exportText(conversations: readonly StoredConversation[]): string {
  return JSON.stringify({ format: FORMAT, version: VERSION, conversations }, null, 2);
}

export function saveFile(name: string, text: string): void {
  downloadBlob(name, new Blob([text], { type: 'application/json' }));
}

/** Null if the text is not an export of this page. Conversations that make no sense are left out. */
export function readExport(text: string): StoredConversation[] | null {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(file) || file['format'] !== FORMAT || !Array.isArray(file['conversations'])) return null;
  return file['conversations'].flatMap((value: unknown) => readConversation(value) ?? []);
}

function readConversation(value: unknown): StoredConversation | null {
  if (!isRecord(value)) return null;
  const { id, title, systemPrompt, turns } = value;
  if (typeof id !== 'string' || !/^[0-9a-f]{1,64}$/.test(id) || !Array.isArray(turns)) return null;
  const read = turns.map(readTurn);
  const isChat = read.every((turn, at) => turn?.role === (at % 2 === 0 ? 'user' : 'assistant'));
  if (read.length === 0 || read.length % 2 !== 0 || !isChat) return null;
  return {
    id,
    title: typeof title === 'string' ? title.slice(0, 200) : '',
    named: value['named'] === true,
    systemPrompt: typeof systemPrompt === 'string' ? systemPrompt : '',
    createdAt: timeOf(value['createdAt']),
    updatedAt: timeOf(value['updatedAt']),
    turns: read.filter((turn) => turn !== null),
  };
}

function readTurn(value: unknown): StoredTurn | null {
  if (!isRecord(value) || typeof value['text'] !== 'string') return null;
  const { role, text } = value;
  if (role !== 'user' && role !== 'assistant') return null;
  const turn: StoredTurn = { role, text };
  const finish = (['stop', 'length', 'context', 'abort'] as const).find((name) => name === value['finish']);
  if (finish !== undefined) turn.finish = finish;
  const stats = readStats(value['stats']);
  if (stats) turn.stats = stats;
  return turn;
}

function readStats(value: unknown): GenerationStats | null {
  if (!isRecord(value)) return null;
  const number = (name: keyof GenerationStats): number => {
    const found = value[name];
    return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : 0;
  };
  return {
    promptTokens: number('promptTokens'),
    reusedTokens: number('reusedTokens'),
    completionTokens: number('completionTokens'),
    shiftedTokens: number('shiftedTokens'),
    prefillMs: number('prefillMs'),
    decodeMs: number('decodeMs'),
    bytesRead: number('bytesRead'),
  };
}

/** Times of the future would stay at the top of the list for ever. */
function timeOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(value, Date.now()) : Date.now();
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
