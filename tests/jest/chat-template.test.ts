// SPDX-License-Identifier: MIT
// Which template a chat uses, and the built-in ones for files without any.

import { describe, expect, test } from '@jest/globals';
import { chooseTemplate, type TemplateChoice } from '#web/api/chat-template.js';
import { renderChat } from '#web/api/render-chat.js';
import { builtInTemplate } from '#web/chat/families.js';
import { codeOf, thrownBy } from './support/assertions.js';

function choose(
  details: unknown,
  choice: Partial<TemplateChoice> & { tokens?: string[] } = {},
): Promise<string> {
  const { tokens = [], ...rest } = choice;
  const hasToken = async (text: string): Promise<boolean> => tokens.includes(text);
  return chooseTemplate(
    { name: 'some model', details },
    { wanted: undefined, hasTools: false, hasToken, ...rest },
  );
}

const file = {
  chat_template: '{{ "own" }}',
  chat_templates: { tool_use: '{{ "tools" }}', rag: '{{ "rag" }}' },
  tokenizer: { pre: 'default' },
};

describe('the template of a chat', () => {
  test('is the caller’s, else the file’s', async () => {
    expect(await choose(file)).toBe('{{ "own" }}');
    expect(await choose(file, { wanted: '{{ "mine" }}' })).toBe('{{ "mine" }}');
  });

  test('can be one of the named ones of the file, or a built-in one', async () => {
    expect(await choose(file, { wanted: 'rag' })).toBe('{{ "rag" }}');
    expect(await choose(file, { wanted: 'chatml' })).toBe(builtInTemplate('chatml'));
    const error = await thrownBy(() => choose(file, { wanted: 'nope' }));
    expect(error).toMatchObject({
      code: 'no_chat_template',
      details: { template: 'nope', templates: ['tool_use', 'rag'] },
    });
  });

  test('is the one for tools when there are tools, and "default" where only named ones exist', async () => {
    expect(await choose(file, { hasTools: true })).toBe('{{ "tools" }}');
    expect(await choose({ ...file, chat_templates: {} }, { hasTools: true })).toBe('{{ "own" }}');
    const named = { chat_template: null, chat_templates: { default: '{{ 1 }}' } };
    expect(await choose(named)).toBe('{{ 1 }}');
  });

  test('may be given in the file by a name of llama.cpp’s', async () => {
    expect(await choose({ chat_template: 'mistral-v7' })).toBe(builtInTemplate('mistral-v7'));
    expect(await codeOf(() => choose({ chat_template: 'rwkv-world' }))).toBe('no_chat_template');
  });

  test('is told from the special tokens where the file has none', async () => {
    const families: [string[], string][] = [
      [['<|im_start|>', '<|im_end|>'], 'chatml'],
      [['<|im_start|>', '<|im_end|>', '<|im_sep|>'], 'phi4'],
      [['<|start_header_id|>', '<|eot_id|>'], 'llama3'],
      [['<start_of_turn>', '<end_of_turn>'], 'gemma'],
      [['<|user|>', '<|assistant|>', '<|end|>'], 'phi3'],
      [['[INST]', '[/INST]'], 'mistral-v3'],
      [['[INST]', '[/INST]', '[SYSTEM_PROMPT]'], 'mistral-v7-tekken'],
    ];
    for (const [tokens, name] of families) {
      expect(await choose({}, { tokens })).toBe(builtInTemplate(name));
    }
    const tekken = { tokenizer: { pre: 'tekken' } };
    expect(await choose(tekken, { tokens: ['[INST]', '[/INST]'] })).toBe(
      builtInTemplate('mistral-v3-tekken'),
    );
  });

  test('a base model has none', async () => {
    expect(await codeOf(() => choose({ chat_template: null }, { tokens: ['</s>'] }))).toBe(
      'no_chat_template',
    );
  });
});

describe('built-in templates', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Yes?' },
    { role: 'user', content: 'Bye' },
  ];
  const expected: Record<string, string> = {
    chatml:
      '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYes?<|im_end|>\n' +
      '<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n',
    phi4:
      '<|im_start|>system<|im_sep|>Be brief.<|im_end|><|im_start|>user<|im_sep|>Hi<|im_end|>' +
      '<|im_start|>assistant<|im_sep|>Yes?<|im_end|><|im_start|>user<|im_sep|>Bye<|im_end|><|im_start|>assistant<|im_sep|>',
    llama3:
      '<s><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>' +
      '<|start_header_id|>assistant<|end_header_id|>\n\nYes?<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>' +
      '<|start_header_id|>assistant<|end_header_id|>\n\n',
    gemma:
      '<s><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nYes?<end_of_turn>\n' +
      '<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n',
    phi3: '<|system|>\nBe brief.<|end|>\n<|user|>\nHi<|end|>\n<|assistant|>\nYes?<|end|>\n<|user|>\nBye<|end|>\n<|assistant|>\n',
    zephyr:
      '<|system|>\nBe brief.</s>\n<|user|>\nHi</s>\n<|assistant|>\nYes?</s>\n<|user|>\nBye</s>\n<|assistant|>\n',
    llama2: '<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST] Yes? </s><s>[INST] Bye [/INST]',
    'mistral-v1': '<s> [INST] Be brief.\n\nHi [/INST] Yes?</s> [INST] Bye [/INST]',
    'mistral-v3': '<s>[INST] Be brief.\n\nHi[/INST] Yes?</s>[INST] Bye[/INST]',
    'mistral-v3-tekken': '<s>[INST]Be brief.\n\nHi[/INST]Yes?</s>[INST]Bye[/INST]',
    'mistral-v7': '<s>[SYSTEM_PROMPT] Be brief.[/SYSTEM_PROMPT][INST] Hi[/INST] Yes?</s>[INST] Bye[/INST]',
    'mistral-v7-tekken': '<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT][INST]Hi[/INST]Yes?</s>[INST]Bye[/INST]',
  };
  for (const [name, text] of Object.entries(expected)) {
    test(name, async () => {
      const options = { messages, bosToken: '<s>', eosToken: '</s>' };
      expect(await renderChat(builtInTemplate(name) ?? '', options)).toBe(text);
      // Without a system message it begins with the user's words.
      const noSystem = await renderChat(builtInTemplate(name) ?? '', {
        ...options,
        messages: messages.slice(1),
      });
      expect(noSystem).not.toContain('Be brief.');
      expect(text.endsWith(noSystem.slice(-10))).toBe(true);
    });
  }
});
