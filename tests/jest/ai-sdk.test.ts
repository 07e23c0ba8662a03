// SPDX-License-Identifier: MIT
// A loaded model in the Vercel AI SDK: its own functions, on the real engine.

import { beforeEach, describe, expect, test } from '@jest/globals';
import { embedMany, generateText, streamText } from 'ai';
import { embeddingModel, languageModel } from '#web/ai-sdk/index.js';
import { messagesOf } from '#web/ai-sdk/prompt.js';
import type { Model } from '#web/api/types.js';
import { codeOf } from './support/assertions.js';
import { chats, replyOf, type KnownChat } from './support/chats.js';
import { useTinychat } from './support/loaded.js';

const tinychat = useTinychat();
const chat = chats[1] as KnownChat;
const prompt = String(chat.messages[0]?.content);
const expected = replyOf(chat).text;

let model: Model;
beforeEach(async () => {
  model = await tinychat.load();
});

describe('streamText', () => {
  test('gives the text in pieces, the reason and the usage', async () => {
    const result = streamText({ model: languageModel(model), prompt });
    const pieces: string[] = [];
    for await (const text of result.textStream) pieces.push(text);
    expect(pieces.join('')).toBe(expected);
    expect(pieces.length).toBeGreaterThan(1);
    expect(await result.finishReason).toBe('stop');
    const outputTokens = await model.countTokens(expected);
    expect(await result.usage).toMatchObject({ outputTokens, inputTokens: expect.any(Number) });
    expect(await result.warnings).toEqual([]);
  });

  test('aborting it ends the answer, and the model goes on to the next', async () => {
    const abort = new AbortController();
    const result = streamText({ model: languageModel(model), prompt, abortSignal: abort.signal });
    let text = '';
    for await (const piece of result.textStream) {
      text += piece;
      abort.abort();
    }
    expect(text.length).toBeLessThan(expected.length);
    expect(await model.chat(chat.messages).text()).toBe(expected);
  });
});

describe('generateText', () => {
  test('passes settings on', async () => {
    const result = await generateText({
      model: languageModel(model),
      messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
      maxOutputTokens: 3,
      temperature: 2,
      topK: 4,
      seed: 5,
    });
    const native = { maxTokens: 3, temperature: 2, topK: 4, seed: 5 };
    expect(result.text).toBe(await model.chat(chat.messages, native).text());
    expect(result.finishReason).toBe('length');
  });

  test('a file in the prompt is refused by name', async () => {
    const file = {
      type: 'file' as const,
      mediaType: 'image/png',
      data: { type: 'data' as const, data: 'AAAA' },
    };
    expect(await codeOf(() => messagesOf([{ role: 'user', content: [file] }]))).toBe('bad_argument');
  });
});

test('messages arrive as templates read them', () => {
  const output = { type: 'json' as const, value: { celsius: 3 } };
  expect(
    messagesOf([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Wea' },
          { type: 'text', text: 'ther?' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'Let me look.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { city: 'Paris' } },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'weather', output }] },
    ]),
  ).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Weather?' },
    {
      role: 'assistant',
      content: 'Let me look.',
      reasoning_content: 'hm',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'weather', arguments: { city: 'Paris' } } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', name: 'weather', content: '{"celsius":3}' },
  ]);
});

test('settings without a meaning become warnings', async () => {
  const { warnings } = await languageModel(model).doGenerate({
    prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
    maxOutputTokens: 1,
    responseFormat: { type: 'json' },
    tools: [{ type: 'function', name: 'f', inputSchema: { type: 'object' } }],
    toolChoice: { type: 'required' },
  });
  expect(warnings.map((warning) => ('feature' in warning ? warning.feature : ''))).toEqual([
    'responseFormat',
    'tools',
    'toolChoice',
  ]);
});

test('embedMany gives the vectors of model.embed', async () => {
  const values = ['Cats sleep.', 'Paris is a city.'];
  const { embeddings, usage } = await model.embed(values, { pooling: 'last' });
  const result = await embedMany({ model: embeddingModel(model, { pooling: 'last' }), values });
  expect(result.embeddings).toEqual(embeddings.map((vector) => [...vector]));
  expect(result.usage.tokens).toBe(usage.promptTokens);
});
