// SPDX-License-Identifier: MIT
// The prompt of a chat: which template, and what it makes of the messages. Loaded with the first chat.

import type { Prompt } from '../protocol/data.js';
import { chooseTemplate } from './chat-template.js';
import { stringAt } from './json.js';
import { renderPrompt } from './render-chat.js';
import type { ChatMessage, ChatOptions, Model } from './types.js';

/** `loadedWith`: the template that loadModel was given. */
export async function chatPrompt(
  model: Pick<Model, 'info' | 'tokenize'>,
  messages: readonly ChatMessage[],
  options: ChatOptions,
  loadedWith: string | undefined,
): Promise<Prompt> {
  const template = await chooseTemplate(model.info, {
    wanted: options.template ?? loadedWith,
    hasTools: (options.tools?.length ?? 0) > 0,
    hasToken: async (text) => (await model.tokenize(text, { parseSpecial: true })).length === 1,
  });
  const bosToken = stringAt(model.info.details, 'tokenizer', 'bos_token');
  const eosToken = stringAt(model.info.details, 'tokenizer', 'eos_token');
  return renderPrompt(template, { ...options, messages, bosToken, eosToken }, options.allowControlTokens);
}
