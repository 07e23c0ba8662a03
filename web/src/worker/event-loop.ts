// SPDX-License-Identifier: MIT
// Lets messages in between slices of computing. In browsers a MessageChannel hop is a task of its own, unlike a promise,
// and is not clamped to 4 ms like a timer. Node hands a port up to a thousand messages in one go, among them those the
// port sends itself, so there it is setImmediate.

const { setImmediate: nodeImmediate } = globalThis as { setImmediate?: (run: () => void) => void };

export class EventLoop {
  readonly #channel = new MessageChannel();
  readonly #waiting: (() => void)[] = [];
  #lastTurn = performance.now();

  constructor() {
    this.#channel.port1.onmessage = () => {
      for (const resume of this.#waiting.splice(0)) {
        resume();
      }
    };
  }

  /** Something else has just let messages in. */
  noteTurn(): void {
    this.#lastTurn = performance.now();
  }

  /** Lets messages in if none could come for `afterMs`. */
  async turnAfter(afterMs: number): Promise<void> {
    if (performance.now() - this.#lastTurn < afterMs) {
      return;
    }
    await new Promise<void>((resolve) => {
      if (nodeImmediate !== undefined) {
        nodeImmediate(resolve);
        return;
      }
      this.#waiting.push(resolve);
      this.#channel.port2.postMessage(null);
    });
    this.noteTurn();
  }

  close(): void {
    this.#channel.port1.close();
  }
}
