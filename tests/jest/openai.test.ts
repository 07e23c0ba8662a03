// SPDX-License-Identifier: MIT
// The client with OpenAI's shapes, on the real engine: what comes back, whole and streamed, and what is refused.

import { beforeEach, describe, expect, test } from '@jest/globals';
import { openAIClient } from '#web/api/openai/client.js';
import type { ChatCompletionChunk, CompletionChunk, OpenAIClient } from '#web/api/openai/types.js';
import type { Model } from '#web/api/types.js';
import { thrownBy } from './support/assertions.js';
import { chats, replyOf, type KnownChat } from './support/chats.js';
import { useTinychat } from './support/loaded.js';

const tinychat = useTinychat();
const chat = chats[1] as KnownChat;
const messages = chat.messages;
const greedy = { model: 'tiny', messages, temperature: 0 } as const;

let model: Model;
let client: OpenAIClient;
beforeEach(async () => {
  model = await tinychat.load();
  client = openAIClient(model);
});

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
const contentOf = (chunks: ChatCompletionChunk[]): string =>
  chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

describe('chat completions', () => {
  test('whole: the object that OpenAI sends', async () => {
    const before = Math.floor(Date.now() / 1000);
    const answer = await client.chat.completions.create(greedy);
    const { completion_tokens: completionTokens, prompt_tokens: promptTokens } = answer.usage;
    expect(answer).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'tiny',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: replyOf(chat).text, refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        total_tokens: promptTokens + completionTokens,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    });
    expect(answer.created).toBeGreaterThanOrEqual(before);
    expect(completionTokens).toBe(await model.countTokens(replyOf(chat).text));
    const again = await client.chat.completions.create({ messages, temperature: 0, max_tokens: 3 });
    expect(again.id).not.toBe(answer.id);
    expect(again).toMatchObject({
      model: model.info.name,
      choices: [{ finish_reason: 'length' }],
      usage: { completion_tokens: 3 },
    });
    expect(again.usage.prompt_tokens_details.cached_tokens).toBeGreaterThan(0);
  });

  test('streamed: role first, then text, then the reason, then usage when asked for', async () => {
    const options = { ...greedy, stream: true, stream_options: { include_usage: true } } as const;
    const chunks = await all(await client.chat.completions.create(options));
    const [first, ...rest] = chunks;
    const [reason, usage] = rest.slice(-2);
    expect(first?.choices).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null },
    ]);
    expect(contentOf(chunks)).toBe(replyOf(chat).text);
    expect(reason).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }], usage: null });
    expect(usage).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(new Set(chunks.map(({ object }) => object))).toEqual(new Set(['chat.completion.chunk']));
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);

    const without = await all(await client.chat.completions.create({ ...greedy, stream: true }));
    expect(without.every((chunk) => !('usage' in chunk))).toBe(true);
    expect(without.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  test('log-probabilities of the tokens and of the most probable ones, also streamed', async () => {
    const params = { ...greedy, logprobs: true, top_logprobs: 2, max_completion_tokens: 4 } as const;
    const whole = (await client.chat.completions.create(params)).choices[0];
    const content = whole?.logprobs?.content ?? [];
    expect(content.map(({ token }) => token).join('')).toBe(whole?.message.content);
    for (const { token, logprob, top_logprobs: top } of content) {
      expect(top).toHaveLength(2);
      expect(top[0]).toEqual({ token, logprob, bytes: null }); // greedy
    }
    const chunks = await all(await client.chat.completions.create({ ...params, stream: true }));
    expect(chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? [])).toEqual(content);
  });

  test('the default temperature is 1, as OpenAI says, and a seed repeats an answer', async () => {
    const ask = async (params: object): Promise<string> =>
      (await client.chat.completions.create({ messages, ...params })).choices[0]?.message.content ?? '';
    const native = await model.chat(messages, { temperature: 1, seed: 11 }).text();
    expect(await ask({ seed: 11 })).toBe(native);
    expect(await ask({ seed: 11, temperature: null, top_p: null })).toBe(native);
    const strict = await model.chat(messages, { temperature: 2, topK: 3, seed: 11 }).text();
    expect(await ask({ seed: 11, temperature: 2, top_k: 3 })).toBe(strict);
    const stopped = replyOf(chat).text.slice(3, 6);
    expect(await ask({ temperature: 0, stop: [stopped] })).toBe(replyOf(chat).text.slice(0, 3));
  });

  test('the signal, the controller and leaving the loop each end the answer', async () => {
    const stream = await client.chat.completions.create({ ...greedy, stream: true });
    stream.controller.abort(new Error('by the controller'));
    await expect(all(stream)).rejects.toThrow('by the controller');
    const abort = new AbortController();
    const options = { signal: abort.signal };
    const other = await client.chat.completions.create({ ...greedy, stream: true }, options);
    const whole = client.chat.completions.create(greedy, options);
    abort.abort(new Error('by the signal'));
    await expect(all(other)).rejects.toThrow('by the signal');
    await expect(whole).rejects.toThrow('by the signal');
    for await (const chunk of await client.chat.completions.create({ ...greedy, stream: true })) {
      if (chunk.choices[0]?.delta.content) break;
    }
    const after = await client.chat.completions.create(greedy);
    expect(after.choices[0]?.message.content).toBe(replyOf(chat).text);
  });

  test('what a local model cannot mean is refused by name, what changes nothing passes', async () => {
    const refused: [string, unknown][] = [
      ['n', 2],
      ['response_format', { type: 'json_object' }],
      ['tool_choice', 'required'],
      ['modalities', ['audio']],
    ];
    for (const [name, value] of refused) {
      const error = await thrownBy(() => client.chat.completions.create({ ...greedy, [name]: value }));
      expect(error).toMatchObject({ code: 'bad_argument', details: { parameter: name } });
    }
    const passing = { user: 'u', metadata: {}, store: false, n: 1, response_format: null, max_tokens: 1 };
    const answer = await client.chat.completions.create({ ...greedy, ...passing });
    expect(answer.choices).toHaveLength(1);
  });
});

describe('completions', () => {
  const prompt = 'The capital of France';

  test('whole and streamed: the same text as the native call', async () => {
    const text = await model.complete(prompt, { maxTokens: 16 }).text();
    const params = { prompt, temperature: 0 } as const;
    const whole = await client.completions.create(params);
    expect(whole).toMatchObject({
      id: expect.stringMatching(/^cmpl-/),
      object: 'text_completion',
      choices: [{ index: 0, text, logprobs: null }],
    });
    for (const one of [[prompt], await model.tokenize(prompt, { addSpecial: true })]) {
      const again = await client.completions.create({ ...params, prompt: one });
      expect(again.choices[0]?.text).toBe(text);
    }
    const options = { ...params, stream: true, stream_options: { include_usage: true } } as const;
    const chunks: CompletionChunk[] = await all(await client.completions.create(options));
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe(text);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe(whole.choices[0]?.finish_reason);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: whole.usage?.total_tokens } });
  });

  test('log-probabilities say where in the text each token begins', async () => {
    const params = { prompt, temperature: 0, logprobs: 2, max_tokens: 5 } as const;
    const [choice] = (await client.completions.create(params)).choices;
    const logprobs = choice?.logprobs;
    expect(logprobs?.tokens.join('')).toBe(choice?.text);
    expect(logprobs?.text_offset[0]).toBe(0);
    logprobs?.tokens.forEach((token, i) => {
      expect(choice?.text.slice(logprobs.text_offset[i]).startsWith(token)).toBe(true);
      expect(Math.max(...Object.values(logprobs.top_logprobs[i] ?? {}))).toBe(logprobs.token_logprobs[i]);
    });
    const chunks = await all(await client.completions.create({ ...params, stream: true }));
    const offsets = chunks.flatMap(({ choices }) => choices[0]?.logprobs?.text_offset ?? []);
    expect(offsets).toEqual(logprobs?.text_offset);
  });

  test('several prompts at once, or none, are refused', async () => {
    for (const prompt of [['a', 'b'], [], null]) {
      const error = await thrownBy(() => client.completions.create({ prompt }));
      expect(error).toMatchObject({ code: 'bad_argument', details: { parameter: 'prompt' } });
    }
  });
});

describe('embeddings', () => {
  test('as numbers and packed, of texts and of ids', async () => {
    const { embeddings, usage } = await model.embed(['Cats', 'Dogs']);
    const answer = await client.embeddings.create({ model: 'tiny', input: ['Cats', 'Dogs'] });
    expect(answer).toEqual({
      object: 'list',
      data: embeddings.map((vector, index) => ({ object: 'embedding', index, embedding: [...vector] })),
      model: 'tiny',
      usage: { prompt_tokens: usage.promptTokens, total_tokens: usage.promptTokens },
    });
    const packed = await client.embeddings.create({ input: 'Cats', encoding_format: 'base64' });
    const bytes = Buffer.from(packed.data[0]?.embedding ?? '', 'base64');
    expect(new Float32Array(Uint8Array.from(bytes).buffer)).toEqual(embeddings[0]);
    const ids = await model.tokenize('Cats', { addSpecial: true });
    for (const input of [ids, [ids]]) {
      expect((await client.embeddings.create({ input })).data[0]?.embedding).toEqual([
        ...(embeddings[0] ?? []),
      ]);
    }
    const error = await thrownBy(() =>
      client.embeddings.create({ input: 'a', dimensions: 3 } as object as { input: string }),
    );
    expect(error).toMatchObject({ code: 'bad_argument', details: { parameter: 'dimensions' } });
  });
});
