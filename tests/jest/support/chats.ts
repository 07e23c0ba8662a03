// SPDX-License-Identifier: MIT
// The 20 chats with their known greedy answers (demo/models/tinychat/chats.json).

import { readFileSync } from 'node:fs';
import { tinychatChats } from './paths.js';

export interface KnownChat {
  messages: { role: string; content: string }[];
  prompt_ids: number[];
  replies: Record<string, { ids: number[]; text: string } | undefined>;
}

export const chats = JSON.parse(readFileSync(tinychatChats, 'utf8')) as KnownChat[];

export function replyOf(chat: KnownChat): { ids: number[]; text: string } {
  const reply = chat.replies['tinychat-q8_0.gguf'];
  if (reply === undefined) {
    throw new Error('chats.json has no reply for the Q8_0 file');
  }
  return reply;
}
