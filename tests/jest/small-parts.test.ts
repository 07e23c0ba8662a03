// SPDX-License-Identifier: MIT
// Queues, credits, batching, capabilities.

import { describe, expect, test } from '@jest/globals';
import { capabilities } from '#web/api/capabilities.js';
import { abortable, SerialQueue } from '#web/async.js';
import { Credits } from '#web/protocol/stream.js';
import { ChunkBatcher, type TokenChunk } from '#web/worker/chunk-batcher.js';
import { pause, thrownBy } from './support/assertions.js';

describe('SerialQueue', () => {
  test('keeps the order, also over failures', async () => {
    const queue = new SerialQueue();
    const order: number[] = [];
    const task =
      (n: number, ms: number, fails = false) =>
      async () => {
        await pause(ms);
        order.push(n);
        if (fails) {
          throw new Error(`task ${n}`);
        }
        return n;
      };
    const [one, two, three] = [queue.run(task(1, 20)), queue.run(task(2, 5, true)), queue.run(task(3, 0))];
    expect(await thrownBy(() => two)).toMatchObject({ message: 'task 2' });
    expect([await one, await three]).toEqual([1, 3]);
    expect(order).toEqual([1, 2, 3]);
  });

  test('a task whose signal aborts while it waits is not started', async () => {
    const queue = new SerialQueue();
    const abort = new AbortController();
    let started = false;
    const first = queue.run(() => pause(30));
    const second = queue.run(async () => {
      started = true;
    }, abort.signal);
    abort.abort();
    expect(await thrownBy(() => second)).toMatchObject({ name: 'AbortError' });
    await first;
    await queue.idle();
    expect(started).toBe(false);
  });
});

test('abortable keeps the result when nothing aborts, and lets go of the signal', async () => {
  const { signal } = new AbortController();
  expect(await abortable(Promise.resolve(5), signal)).toBe(5);
  expect(
    await thrownBy(() => abortable(new Promise(() => undefined), AbortSignal.abort(new Error('no')))),
  ).toMatchObject({ message: 'no' });
});

test('credits are granted in the order they were asked for', async () => {
  const credits = new Credits(0);
  const { signal } = new AbortController();
  const order: number[] = [];
  const takes = [1, 2].map((n) => credits.take(signal).then(() => order.push(n)));
  credits.add(1);
  await pause(5);
  expect(order).toEqual([1]);
  credits.add(2);
  await Promise.all(takes);
  expect(order).toEqual([1, 2]);
  expect(credits.available).toBe(1);
});

describe('ChunkBatcher', () => {
  test('merges what comes faster than a frame or without credit, and loses nothing', async () => {
    const sent: TokenChunk[] = [];
    const sink = {
      credits: 1,
      chunk: async (chunk: TokenChunk) => {
        sink.credits -= 1;
        sent.push(chunk);
      },
    };
    const batcher = new ChunkBatcher(sink);
    for (let token = 0; token < 100; ++token) {
      batcher.add(token, `${token} `, null);
    }
    expect(sent).toEqual([{ text: '0 ', tokens: [0] }]);
    await pause(30);
    batcher.add(100, '100', null);
    expect(sent).toHaveLength(1); // no credit
    sink.credits = 1;
    await batcher.flush();
    await batcher.flush();
    expect(sent).toHaveLength(2);
    expect(sent.flatMap((chunk) => chunk.tokens)).toEqual(Array.from({ length: 101 }, (_, index) => index));
  });
});

test('capabilities are found in node too', async () => {
  const found = await capabilities();
  expect(found).toMatchObject({
    simd: true,
    threads: false,
    opfs: false,
    crossOriginIsolated: false,
    slowFormats: [],
  });
  expect(typeof found.relaxedSimd).toBe('boolean');
});
