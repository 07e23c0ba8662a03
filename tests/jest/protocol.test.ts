// SPDX-License-Identifier: MIT
// Client and dispatcher over a real MessageChannel: answers, errors, progress, streams, cancelling, death.

import { afterEach, describe, expect, test } from '@jest/globals';
import {
  ContextFullError,
  createError,
  hostErrorCodes,
  engineErrorCodes,
  LayerstreamError,
  WorkerCrashedError,
} from '#web/errors.js';
import { Client } from '#web/protocol/client.js';
import { decodeError, encodeError } from '#web/protocol/codec.js';
import { Dispatcher, type Handlers } from '#web/protocol/dispatcher.js';
import { protocolVersion } from '#web/protocol/methods.js';
import { initialCredits } from '#web/protocol/stream.js';
import { codeOf, pause, thrownBy, within } from './support/assertions.js';

interface TestMethods {
  add: { params: { a: number; b: number }; result: { sum: number } };
  fail: { params: { code: string }; result: null };
  slow: { params: object; result: null; progress: { step: number } };
  count: { params: { to: number }; result: { sent: number }; chunk: { n: number } };
  move: { params: { buffer: ArrayBuffer }; result: { buffer: ArrayBuffer } };
}

const channels: MessageChannel[] = [];
afterEach(() => {
  for (const { port1, port2 } of channels.splice(0)) {
    port1.close();
    port2.close();
  }
});

interface Observed {
  slowAborted: number;
  sent: number;
  countAborted: number;
}

function handlersFor(observed: Observed): Handlers<TestMethods> {
  return {
    add: async ({ a, b }) => ({ sum: a + b }),
    fail: async ({ code }) => {
      throw createError(code, 'as asked', { details: { promptTokens: 7 }, cause: new Error('deep') });
    },
    slow: (_, { signal, progress }) =>
      new Promise((_resolve, reject) => {
        progress({ step: 1 });
        progress({ step: 2 });
        signal.addEventListener('abort', () => {
          observed.slowAborted += 1;
          reject(signal.reason);
        });
      }),
    count: async ({ to }, context) => {
      try {
        for (let n = 0; n < to; ++n) {
          await context.chunk({ n });
          observed.sent += 1;
        }
      } catch (error) {
        observed.countAborted += 1;
        throw error;
      }
      return { sent: to };
    },
    move: async ({ buffer }, { transfer }) => {
      transfer(buffer);
      return { buffer };
    },
  };
}

function connect(): {
  client: Client<TestMethods>;
  dispatcher: Dispatcher<TestMethods>;
  observed: Observed;
  channel: MessageChannel;
} {
  const channel = new MessageChannel();
  channels.push(channel);
  const observed: Observed = { slowAborted: 0, sent: 0, countAborted: 0 };
  const dispatcher = new Dispatcher<TestMethods>(channel.port2, handlersFor(observed));
  return { client: new Client<TestMethods>(channel.port1), dispatcher, observed, channel };
}

describe('calls', () => {
  test('answers reach the call they belong to', async () => {
    const { client } = connect();
    const sums = await Promise.all([1, 2, 3].map((a) => client.call('add', { a, b: 10 })));
    expect(sums).toEqual([{ sum: 11 }, { sum: 12 }, { sum: 13 }]);
    expect(client.pendingCount).toBe(0);
  });

  test('errors arrive as their class, with code, details and cause', async () => {
    const { client } = connect();
    const error = await thrownBy(() => client.call('fail', { code: 'context_full' }));
    expect(error).toBeInstanceOf(ContextFullError);
    expect(error).toMatchObject({
      name: 'ContextFullError',
      code: 'context_full',
      message: 'as asked',
      details: { promptTokens: 7 },
      cause: 'deep',
    });
  });

  test('a method that does not exist is an error, not silence', async () => {
    const { client } = connect();
    const raw = client as unknown as { call(method: string, params: object): Promise<unknown> };
    expect(await codeOf(() => within(1000, raw.call('nothing', {})))).toBe('protocol_mismatch');
    expect(await codeOf(() => within(1000, raw.call('constructor', {})))).toBe('protocol_mismatch');
  });

  test('parameters that cannot be cloned reject the call', async () => {
    const { client } = connect();
    const raw = client as unknown as { call(method: string, params: object): Promise<unknown> };
    expect(await thrownBy(() => raw.call('add', { a: () => 1 }))).toMatchObject({ name: 'DataCloneError' });
    expect(client.pendingCount).toBe(0);
  });

  test('buffers are moved both ways', async () => {
    const { client } = connect();
    const buffer = new ArrayBuffer(16);
    const answer = await client.call('move', { buffer }, { transfer: [buffer] });
    expect(buffer.byteLength).toBe(0);
    expect(answer.buffer.byteLength).toBe(16);
  });

  test('progress is reported in order before the answer', async () => {
    const { client } = connect();
    const abort = new AbortController();
    const steps: number[] = [];
    const call = client.call(
      'slow',
      {},
      { signal: abort.signal, onProgress: ({ step }) => steps.push(step) },
    );
    call.catch(() => undefined);
    await pause(20);
    abort.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect(steps).toEqual([1, 2]);
  });
});

describe('cancelling', () => {
  test("rejects at once with the signal's own reason and tells the handler", async () => {
    const { client, dispatcher, observed } = connect();
    const abort = new AbortController();
    const reason = new Error('the user went away');
    const call = client.call('slow', {}, { signal: abort.signal });
    await pause(10);
    abort.abort(reason);
    expect(await thrownBy(() => call)).toBe(reason);
    await pause(10);
    expect(observed.slowAborted).toBe(1);
    expect(dispatcher.runningCount).toBe(0);
    expect(client.pendingCount).toBe(0);
  });

  test('a signal that has aborted already sends nothing', async () => {
    const { client, observed } = connect();
    await expect(client.call('slow', {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    await pause(10);
    expect(observed.slowAborted).toBe(0);
  });

  test('a result that comes after all is handed over to be let go', async () => {
    const { client } = connect();
    const abort = new AbortController();
    const orphans: unknown[] = [];
    const call = client.call(
      'add',
      { a: 1, b: 2 },
      { signal: abort.signal, onOrphan: (late) => orphans.push(late) },
    );
    abort.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await pause(20);
    expect(orphans).toEqual([{ sum: 3 }]);
  });
});

describe('streams', () => {
  test('deliver everything in order, then the result', async () => {
    const { client } = connect();
    const stream = client.stream('count', { to: 100 });
    const seen: number[] = [];
    for await (const { n } of stream) {
      seen.push(n);
    }
    expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(await stream.result).toEqual({ sent: 100 });
  });

  test('the sender stops when nobody reads', async () => {
    const { client, observed } = connect();
    const stream = client.stream('count', { to: 1000 });
    await pause(30);
    expect(observed.sent).toBe(initialCredits);
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.next();
    await pause(30);
    expect(observed.sent).toBe(initialCredits + 2);
    await iterator.return?.();
  });

  test('leaving the loop cancels the handler', async () => {
    const { client, observed, dispatcher } = connect();
    for await (const { n } of client.stream('count', { to: 1000 })) {
      if (n === 3) {
        break;
      }
    }
    await pause(20);
    expect(observed.countAborted).toBe(1);
    expect(dispatcher.runningCount).toBe(0);
    expect(client.pendingCount).toBe(0);
  });

  test('aborting rejects the iteration with the reason', async () => {
    const { client } = connect();
    const abort = new AbortController();
    const seen: number[] = [];
    const error = await thrownBy(async () => {
      for await (const { n } of client.stream('count', { to: 1000 }, { signal: abort.signal })) {
        seen.push(n);
        if (n === 5) {
          abort.abort(new Error('enough'));
        }
      }
    });
    expect(error).toMatchObject({ message: 'enough' });
    expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('several waiting readers are served in order', async () => {
    const { client } = connect();
    const iterator = client.stream('count', { to: 2 })[Symbol.asyncIterator]();
    const results = await Promise.all([iterator.next(), iterator.next(), iterator.next()]);
    expect(results.map(({ done, value }) => [done, value?.n])).toEqual([
      [false, 0],
      [false, 1],
      [true, undefined],
    ]);
  });
});

describe('when the other end is gone', () => {
  test('everything pending is rejected, and every later call', async () => {
    const { client } = connect();
    const crash = new WorkerCrashedError('worker_crashed', 'gone');
    const stream = client.stream('count', { to: 1000 });
    const calls = [client.call('slow', {}), client.call('slow', {})];
    const iterator = stream[Symbol.asyncIterator]();
    await pause(10);
    client.close(crash);
    for (const call of [...calls, stream.result]) {
      expect(await thrownBy(() => within(1000, call))).toBe(crash);
    }
    expect(await thrownBy(() => within(1000, iterator.next()))).toBe(crash);
    expect(await thrownBy(() => client.call('add', { a: 1, b: 1 }))).toBe(crash);
    expect(client.pendingCount).toBe(0);
  });

  test('a worker of another version is refused in both directions', async () => {
    const channel = new MessageChannel();
    channels.push(channel);
    const client = new Client<TestMethods>(channel.port1);
    const call = client.call('add', { a: 1, b: 1 });
    channel.port2.postMessage({ type: 'hello', version: protocolVersion + 1 });
    expect(await codeOf(() => within(1000, call))).toBe('protocol_mismatch');

    const other = new MessageChannel();
    channels.push(other);
    new Dispatcher<TestMethods>(other.port2, handlersFor({ slowAborted: 0, sent: 0, countAborted: 0 }));
    const answers: { type: string; error?: { code: string } }[] = [];
    other.port1.onmessage = ({ data }) => answers.push(data);
    other.port1.postMessage({ type: 'hello', version: protocolVersion + 1 });
    other.port1.postMessage({ type: 'request', id: 1, method: 'add', params: { a: 1, b: 1 }, credits: 1 });
    await pause(20);
    expect(answers.map(({ type }) => type)).toEqual(['hello', 'error']);
    expect(answers[1]?.error?.code).toBe('protocol_mismatch');
  });

  test('a request that the browser loses fails, the others do not', async () => {
    const { client, channel } = connect();
    await client.call('add', { a: 1, b: 1 });
    const slow = client.call('slow', {}, { onProgress: () => undefined });
    slow.catch(() => undefined);
    await pause(20);
    const { postMessage } = channel.port1;
    channel.port1.postMessage = () => void channel.port2.dispatchEvent(new Event('messageerror'));
    expect(await codeOf(() => within(1000, client.call('add', { a: 2, b: 2 })))).toBe('internal');
    channel.port1.postMessage = postMessage;
    expect(await client.call('add', { a: 3, b: 3 })).toEqual({ sum: 6 });
    expect(client.pendingCount).toBe(1);
  });

  test('an answer that the browser loses fails whatever is pending, and every later call', async () => {
    const { client, channel } = connect();
    const slow = client.call('slow', {});
    channel.port1.dispatchEvent(new Event('messageerror'));
    expect(await codeOf(() => within(1000, slow))).toBe('internal');
    expect(await codeOf(() => within(1000, client.call('add', { a: 1, b: 1 })))).toBe('internal');
  });

  test('messages of others on the same port are ignored', async () => {
    const channel = new MessageChannel();
    channels.push(channel);
    const client = new Client<TestMethods>(channel.port1);
    for (const noise of [
      null,
      1,
      'result',
      {},
      { type: 'result' },
      { type: 7, id: 1 },
      [],
      { type: 'toString', id: 1 },
    ]) {
      channel.port2.postMessage(noise);
    }
    await pause(10);
    expect(client.pendingCount).toBe(0);
  });
});

describe('codec', () => {
  test('every code survives the wire with its class', () => {
    for (const code of [...engineErrorCodes, ...hostErrorCodes]) {
      const error = createError(code, `about ${code}`, { details: { bytes: 5, url: 'u' } });
      const back = decodeError(structuredClone(encodeError(error)));
      expect(back).toBeInstanceOf(error.constructor);
      expect(back).toMatchObject({ code, message: `about ${code}`, details: { bytes: 5, url: 'u' } });
    }
  });

  test('errors of another copy of the package are known as ours, by their code', () => {
    const theirs = Object.assign(new Error('as elsewhere'), { code: 'io_failed', details: { part: 1 } });
    expect(theirs).toBeInstanceOf(LayerstreamError);
    expect(encodeError(theirs)).toEqual({ code: 'io_failed', message: 'as elsewhere', details: { part: 1 } });
    expect(Object.assign(new Error('of node'), { code: 'ENOENT' })).not.toBeInstanceOf(LayerstreamError);
    expect(new Error('of nobody')).not.toBeInstanceOf(LayerstreamError);
    const ours = createError('context_full', 'too long');
    expect(ours).toBeInstanceOf(ContextFullError);
    expect(ours).not.toBeInstanceOf(WorkerCrashedError);
  });

  test('an abort stays an abort, and a bug is internal', () => {
    expect(decodeError(encodeError(new DOMException('stop', 'AbortError')))).toMatchObject({
      name: 'AbortError',
      message: 'stop',
    });
    expect(decodeError(encodeError(new TypeError('x is undefined')))).toMatchObject({
      code: 'internal',
      message: 'x is undefined',
      details: { name: 'TypeError' },
    });
    expect(decodeError(encodeError('thrown text'))).toMatchObject({
      code: 'internal',
      message: 'thrown text',
    });
  });

  test('a code of a newer engine is internal and keeps its name', () => {
    expect(createError('too_new', 'what')).toMatchObject({ code: 'internal', message: 'too_new: what' });
  });

  test('details that cannot be cloned do not break the answer', () => {
    const error = createError('internal', 'm', { details: { f: () => 1, list: [1, 2], n: 3 } });
    expect(structuredClone(encodeError(error)).details).toEqual({ list: '[1,2]', n: 3 });
  });
});
