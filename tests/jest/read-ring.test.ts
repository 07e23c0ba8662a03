// SPDX-License-Identifier: MIT
// Reads without messages: the engine worker's end and the storage worker's, over memory that both share.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ReadRequest } from '#web/engine/module.js';
import { Client } from '#web/protocol/client.js';
import { Dispatcher } from '#web/protocol/dispatcher.js';
import type { ReadMethods } from '#web/protocol/methods.js';
import type { ModelReader } from '#web/storage/store-types.js';
import { ReadServer } from '#web/worker/read-server.js';
import { RingReads } from '#web/worker/ring-reads.js';
import { pause, within } from './support/assertions.js';

const source = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 31) ^ (i >> 8));
const memory = new WebAssembly.Memory({ initial: 4, maximum: 4, shared: true });
let ports: MessagePort[];
let ring: RingReads;
let failed: { ids: number[]; error: unknown }[];
/** What the reader does before it gives the bytes at an offset. */
let before: (offset: number, signal: AbortSignal | undefined) => Promise<void>;

const reader: ModelReader = {
  kind: 'opfs',
  partBytes: [source.length],
  read: async (_part, offset, into, signal) => {
    await before(offset, signal);
    into.set(source.subarray(offset, offset + into.length));
  },
  close: async () => undefined,
};

beforeEach(async () => {
  const { port1, port2 } = new MessageChannel();
  ports = [port1, port2];
  const server = new ReadServer({ readerOf: () => reader, setOrder: () => undefined });
  new Dispatcher<ReadMethods>(port2, server.handlers());
  const client = new Client<ReadMethods>(port1);
  ring = new RingReads(client, 1);
  await client.call('share', { memory, ring: ring.memory });
  failed = [];
  ring.onFailure = (reads, error) => failed.push({ ids: reads.map(({ id }) => id), error });
  before = async () => undefined;
});

afterEach(() => ports.forEach((port) => port.close()));

function request(id: number, offset: number, bytes: number, pointer: number): ReadRequest {
  return { id, part: 0, offset, bytes, pointer, stage: 1, urgent: false };
}

function takeAll(): number[] {
  const ids: number[] = [];
  for (let read = ring.take(); read !== undefined; read = ring.take()) {
    const { offset, bytes, pointer } = read;
    expect(new Uint8Array(memory.buffer, pointer, bytes).slice()).toEqual(
      source.slice(offset, offset + bytes),
    );
    ids.push(read.id);
  }
  return ids;
}

test('bring the right bytes in the order asked, also past the ring’s end and after a rest', async () => {
  const asked: number[] = [];
  const taken: number[] = [];
  for (let round = 0; round < 60; ++round) {
    for (let i = 0; i < 90; ++i) {
      const id = asked.length;
      ring.push(request(id, (id * 7919) % 90_000, 1 + ((id * 13) % 700), i * 800));
      asked.push(id);
    }
    await within(5_000, ring.settle());
    taken.push(...takeAll());
    if (round % 20 === 0) {
      await pause(10); // longer than the other end waits
    }
  }
  expect(taken).toEqual(asked);
  expect(ring.isIdle).toBe(true);
  expect(failed).toEqual([]);
});

test('a failure takes those behind it along, and the next read works', async () => {
  before = async (offset) => {
    if (offset === 30) {
      throw new Error('a bad sector');
    }
  };
  for (let id = 0; id < 5; ++id) {
    ring.push(request(id, id * 10, 10, id * 10));
  }
  await within(5_000, ring.settle());
  expect(failed).toMatchObject([{ ids: [3, 4] }]);
  expect(takeAll()).toEqual([0, 1, 2]);
  ring.push(request(5, 50, 10, 0));
  await within(5_000, ring.settle());
  expect(takeAll()).toEqual([5]);
});

test('an abort ends a read that waits', async () => {
  before = async (offset, signal) => {
    if (offset === 10) {
      await new Promise((_, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
      );
    }
  };
  ring.push(request(0, 0, 10, 0));
  ring.push(request(1, 10, 10, 10));
  await pause(20);
  expect(takeAll()).toEqual([0]);
  expect(ring.isIdle).toBe(false);
  ring.abort();
  await within(5_000, ring.settle());
  expect(failed).toMatchObject([{ ids: [1] }]);
  expect(ring.isIdle).toBe(true);
});
