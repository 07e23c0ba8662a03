// SPDX-License-Identifier: MIT
// The storage worker's end of the ring (ring-reads.ts is the other): serves reads in turn, and blocks between two of them
// instead of going back to its messages, for as long as a pass usually needs to ask for the next.

import type { ReadRingMemory } from '../protocol/data.js';
import type { ModelReader } from '../storage/store-types.js';

/** A pass that computes for longer pays a message. */
const idleMs = 3;
/** What else this worker has to do waits for at most about so long. */
const maxSilenceMs = 15;

/** Lets messages in. Without event-loop.ts, which the engine worker has in its first load. */
function turn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Until nothing was asked for for a while, or a read fails: that one and those behind it are not done.
 *  `memory`: the shared memory, of at least so many bytes. */
export async function drainRing(
  reader: ModelReader,
  memory: (bytes: number) => ArrayBufferLike,
  { asked, done, asleep, reads }: ReadRingMemory,
  signal: AbortSignal,
): Promise<void> {
  let turned = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const next = Atomics.load(done, 0);
    if (next !== Atomics.load(asked, 0)) {
      const at = ((next >>> 0) * 4) % reads.length;
      const [part = 0, offset = 0, bytes = 0, pointer = 0] = reads.subarray(at, at + 4);
      const into = new Uint8Array(memory(pointer + bytes), pointer, bytes);
      await reader.read(part, offset, into, signal);
      Atomics.add(done, 0, 1);
      Atomics.notify(done, 0);
    } else if (Atomics.wait(asked, 0, next, idleMs) === 'timed-out') {
      Atomics.store(asleep, 0, 1);
      // Whoever takes the word back goes on: this loop, or the call that the next read makes.
      if (Atomics.load(asked, 0) === next || Atomics.exchange(asleep, 0, 0) === 0) {
        return;
      }
    }
    if (performance.now() - turned > maxSilenceMs) {
      await turn();
      turned = performance.now();
    }
  }
}
