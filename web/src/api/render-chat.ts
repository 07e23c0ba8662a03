// SPDX-License-Identifier: MIT
// Chat templates: Jinja text from the model file, rendered as transformers renders it. What does it (web/src/chat and
// @huggingface/jinja) is only loaded when a chat needs it.

import type { TextPrompt } from '../protocol/data.js';
import type { Text } from '../chat/text.js';
import type { RenderChatOptions } from './types.js';

async function render(template: string, options: RenderChatOptions): Promise<Text> {
  const { renderTemplate } = await import('../chat/template.js');
  return renderTemplate(template, {
    variables: {
      tools: options.tools,
      ...options.variables,
      messages: options.messages,
      add_generation_prompt: options.addGenerationPrompt ?? options.add_generation_prompt ?? true,
    },
    trusted: { bos_token: bosTokenOf(options), eos_token: options.eosToken ?? options.eos_token ?? '' },
    now: options.now ?? new Date(),
  });
}

const bosTokenOf = (options: RenderChatOptions): string => options.bosToken ?? options.bos_token ?? '';

/**
 * Text of a chat as the model was trained on it. Rejects with a ChatTemplateError; when the template itself refuses
 * the chat, `details.raised` has its words.
 *
 * @example
 * await renderChat(template, { messages: [{ role: 'user', content: 'Hello!' }], eos_token: '</s>' });
 */
export async function renderChat(template: string, options: RenderChatOptions): Promise<string> {
  return (await render(template, options)).text;
}

/**
 * The chat as a prompt that knows which of its characters came from the caller: control tokens spelled there stay
 * text, unless `allowControlTokens`.
 */
export async function renderPrompt(
  template: string,
  options: RenderChatOptions,
  allowControlTokens = false,
): Promise<TextPrompt> {
  const { text, untrusted } = await render(template, options);
  const bos = bosTokenOf(options);
  return {
    text,
    addSpecial: bos === '' || !text.startsWith(bos),
    parseSpecial: true,
    untrusted: allowControlTokens ? [] : untrusted,
  };
}
