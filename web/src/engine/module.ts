// SPDX-License-Identifier: MIT
// The engine with TypeScript manners: typed errors instead of status structs, copies instead of pointers.
// The only file that touches the wasm heap. Views are made anew for every access: growing the memory detaches the
// old ones.

import { createError } from '../errors.js';
import type {
  CacheState,
  EngineSettings,
  MemoryReport,
  SamplingSettings,
  TokenLogprobs,
} from '../protocol/data.js';
import type {
  ArrayResult,
  LayerstreamModule,
  NativeEngine,
  NativeOptions,
  NativeRead,
  Status,
} from './module-types.js';

export interface ReadRequest {
  readonly id: number;
  readonly part: number;
  readonly offset: number;
  readonly bytes: number;
  /** Destination in the wasm memory. */
  readonly pointer: number;
  /** 0 embed, 1 … n blocks, n + 1 head. */
  readonly stage: number;
  readonly urgent: boolean;
}

export type RunState = 'done' | 'needs-reads' | 'paused';

/** What a pass gives: logits, or final hidden states, of its last entry or of all. */
export type PassWants = 'none' | 'last' | 'all' | 'last-hidden' | 'all-hidden';

const wantedNumber: Readonly<Record<PassWants, number>> = {
  none: 0,
  last: 1,
  all: 2,
  'last-hidden': 3,
  'all-hidden': 4,
};
/** As kSmallestUnitBytes of engine/session/session.cpp. */
const smallestUnitBytes = 1 << 20;

function check(status: Status): void {
  if (status.code !== '') {
    throw createError(status.code, status.message);
  }
}

/** One model in the module's memory. Call order: addPart for each part, open, then anything. */
export class Engine {
  readonly #module: LayerstreamModule;
  readonly #native: NativeEngine;
  #alive = true;

  constructor(module: LayerstreamModule) {
    this.#module = module;
    this.#native = new module.Engine();
  }

  /** Header of a part from a prefix of its file. 0: complete; otherwise the length of prefix to call again with. */
  addPart(index: number, prefix: Uint8Array, fileBytes: number): number {
    return this.#withBytes(prefix, (pointer) => {
      const { status, value } = this.#native.addPart(index, pointer, prefix.length, fileBytes);
      check(status);
      return value;
    });
  }

  /** Parts that the header of part 0 announces. */
  get partCount(): number {
    const { status, value } = this.#native.partCount();
    check(status);
    return value;
  }

  /** What open would find and allocate, as describe tells it. */
  plan(settings: EngineSettings): unknown {
    const { status, text } = this.#native.plan(nativeOptions(settings));
    this.#checkBudget(status, settings);
    return JSON.parse(text);
  }

  open(settings: EngineSettings): void {
    this.#checkBudget(this.#native.open(nativeOptions(settings)), settings);
  }

  /** Seconds that one product with `bytes` of weights of a type takes, the best of several within `ms`. */
  probe(type: string, bytes: number, threads: number, ms: number): number {
    let best = Infinity;
    check(this.#native.probe(type, bytes, threads)); // makes the memory, wakes the threads
    const ends = performance.now() + ms;
    do {
      const began = performance.now();
      check(this.#native.probe(type, bytes, threads));
      best = Math.min(best, performance.now() - began);
    } while (performance.now() < ends);
    return best / 1000;
  }

  describe(withTensors = false): unknown {
    const { status, text } = this.#native.describe(withTensors);
    check(status);
    return JSON.parse(text);
  }

  memory(): MemoryReport {
    const use = this.#native.memory();
    return {
      fixedBytes: use.fixedBytes,
      pinnedBytes: use.pinnedBytes,
      slotBytes: use.slotBytes,
      kvBytes: use.kvBytes,
      activationBytes: use.activationBytes,
      samplerBytes: use.samplerBytes,
      totalBytes:
        use.fixedBytes +
        use.pinnedBytes +
        use.slotBytes +
        use.kvBytes +
        use.activationBytes +
        use.samplerBytes,
      plannedBytes: use.plannedBytes,
      residentWeightBytes: use.residentWeightBytes,
      peakResidentWeightBytes: use.peakResidentWeightBytes,
      totalWeightBytes: use.totalWeightBytes,
      wasmBytes: this.#module.HEAPU8.byteLength,
      bytesRead: use.bytesRead,
      sweeps: use.sweeps,
    };
  }

  get contextLength(): number {
    return this.#native.nCtx();
  }
  get blockCount(): number {
    return this.#native.nLayers();
  }
  get vocabSize(): number {
    return this.#native.vocabSize();
  }
  /** Entries one pass can take. */
  get maxEntries(): number {
    return this.#native.maxEntries();
  }
  /** Positions in the cache. */
  get pastTokens(): number {
    return this.#native.nPast();
  }

  tokenize(text: string, options: { addSpecial: boolean; parseSpecial: boolean }): number[] {
    const result = this.#native.tokenize(text, options.addSpecial, options.parseSpecial);
    return Array.from(new Int32Array(this.#copyOut(result, 4).buffer));
  }

  detokenize(tokens: readonly number[], withControl: boolean): string {
    return this.#withBytes(tokenBytes(tokens), (pointer) => {
      const { status, text } = this.#native.detokenize(pointer, tokens.length, withControl);
      check(status);
      return text;
    });
  }

  isEndOfGeneration(token: number): boolean {
    return this.#native.isEndOfGeneration(token);
  }

  /** Text that became complete with this token. */
  acceptToken(token: number): string {
    const { status, text } = this.#native.acceptToken(token);
    check(status);
    return text;
  }

  /** What was pending; the next answer begins afresh. */
  finishText(): string {
    const { status, text } = this.#native.finishText();
    check(status);
    return text;
  }

  beginPass(tokens: readonly number[], wanted: PassWants): void {
    this.#withBytes(tokenBytes(tokens), (pointer) =>
      check(this.#native.beginPass(pointer, tokens.length, wantedNumber[wanted])),
    );
  }

  /** Computes about `maxWork` multiply-adds. `stage`: 0 embed, 1 … n blocks, n + 1 head. */
  run(maxWork: number): { state: RunState; stage: number } {
    const { status, state, stage } = this.#native.run(maxWork);
    check(status);
    return { state: state === 0 ? 'done' : state === 1 ? 'needs-reads' : 'paused', stage };
  }

  cancelPass(): void {
    this.#native.cancelPass();
  }

  /** The next read worth starting; null if there is none now. */
  takeRead(): ReadRequest | null {
    const read: NativeRead = this.#native.takeRead();
    return read.valid ? read : null;
  }

  /** The wasm memory, if other workers may write into it. */
  get sharedMemory(): WebAssembly.Memory | null {
    return this.#module.wasmMemory ?? null;
  }

  /** `bytes` has exactly the length of the request. */
  copyIn(read: ReadRequest, bytes: Uint8Array): void {
    if (bytes.length !== read.bytes) {
      throw createError('io_failed', `a read of ${read.bytes} bytes came back with ${bytes.length}`);
    }
    this.#module.HEAPU8.set(bytes, read.pointer);
    this.completeRead(read);
  }

  /** The bytes are at its pointer. */
  completeRead(read: ReadRequest): void {
    check(this.#native.completeRead(read.id));
  }

  failRead(read: ReadRequest): void {
    check(this.#native.failRead(read.id));
  }

  /** [vocab_size] of an entry of the last pass. */
  logits(entry: number): Float32Array {
    return new Float32Array(this.#copyOut(this.#native.logits(entry), 4).buffer);
  }

  /** [model_dim] after the final norm, of an entry of the last pass that wanted it. */
  hidden(entry: number): Float32Array {
    return new Float32Array(this.#copyOut(this.#native.hidden(entry), 4).buffer);
  }

  /** Also begins an answer: the seed and Mirostat's state start anew. */
  setSampler(settings: SamplingSettings): void {
    const { samplers, drySequenceBreakers, logitBias, bannedTokens, ...numbers } = settings;
    const ids = Float64Array.from([...logitBias.flat(), ...bannedTokens]);
    this.#withBytes(new Uint8Array(ids.buffer), (idsPointer) =>
      check(
        this.#native.setSampler({
          ...numbers,
          samplers: samplers.join(';'),
          dryBreakers: drySequenceBreakers.map((text) => `${text}\0`).join(''),
          idsPointer,
          nBiases: logitBias.length,
          nBanned: bannedTokens.length,
        }),
      ),
    );
  }

  sample(): number {
    const { status, value } = this.#native.sample();
    check(status);
    return value;
  }

  /** Of the token that sample() drew and of the `topCount` most probable ones, before any sampling setting. */
  logprobs(topCount: number): TokenLogprobs {
    const pairs = new Float64Array(this.#copyOut(this.#native.logprobs(topCount), 8).buffer);
    const [drawn = { token: 0, logprob: 0 }, ...top] = Array.from(
      { length: pairs.length / 2 },
      (_, index) => ({
        token: pairs[2 * index] ?? 0,
        logprob: pairs[2 * index + 1] ?? 0,
      }),
    );
    return { ...drawn, top };
  }

  /** Forgets positions from `pastTokens` on; returns how many are kept: all of them, or 0 where a sliding window has passed. */
  truncate(pastTokens: number): number {
    const { status, value } = this.#native.truncate(pastTokens);
    check(status);
    return value;
  }

  /** The cache in logical order, for comparison. */
  dumpKv(): Uint8Array {
    return this.#copyOut(this.#native.dumpKv(), 1);
  }

  /** Pins more under a larger budget (-1: all). No read may be in flight. */
  raiseBudget(bytes: number): void {
    check(this.#native.raiseBudget(bytes));
  }

  /** What the next engine needs to go on where this one is. */
  exportCache(): CacheState {
    return {
      tokens: Array.from(new Int32Array(this.#copyOut(this.#native.history(), 4).buffer)),
      layers: Array.from({ length: this.blockCount }, (_, layer) =>
        this.#copyOut(this.#native.dumpKvLayer(layer), 1),
      ),
    };
  }

  /** Into an empty cache. */
  importCache({ tokens, layers }: CacheState): void {
    const count = tokens.length;
    layers.forEach((bytes, layer) =>
      this.#withBytes(bytes, (at) => check(this.#native.restoreKvLayer(layer, at, bytes.length, count))),
    );
    this.#withBytes(tokenBytes(tokens), (at) => check(this.#native.restoreHistory(at, count)));
  }

  /** No read may be in flight. */
  dispose(): void {
    if (this.#alive) {
      this.#alive = false;
      this.#native.delete();
    }
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** JSON of the plan with the smallest slices that are worth reading. */
  #smallestPlan(settings: EngineSettings): string {
    const { status, text } = this.#native.plan({
      ...nativeOptions(settings),
      budgetBytes: 0,
      unitBytes: smallestUnitBytes,
    });
    check(status);
    return text;
  }

  /** A budget that is too small is refused with what the smallest plan needs. */
  #checkBudget(status: Status, settings: EngineSettings): void {
    if (status.code !== 'budget_too_small') {
      check(status);
      return;
    }
    const { plan }: { plan: Record<string, number> } = JSON.parse(this.#smallestPlan(settings));
    throw createError(status.code, status.message, {
      details: {
        budgetBytes: settings.budgetBytes,
        neededBytes: plan.smallest_bytes,
        fixedBytes: plan.fixed_bytes,
        kvBytes: plan.kv_bytes,
        samplerBytes: plan.sampler_bytes,
        sliceBytes: plan.slot_bytes,
      },
    });
  }

  #copyOut({ status, pointer, count }: ArrayResult, bytesPerItem: number): Uint8Array<ArrayBuffer> {
    check(status);
    const copy = new Uint8Array(count * bytesPerItem);
    copy.set(this.#module.HEAPU8.subarray(pointer, pointer + copy.length));
    return copy;
  }

  #withBytes<T>(bytes: Uint8Array, use: (pointer: number) => T): T {
    const pointer = this.#native.allocate(Math.max(bytes.length, 1));
    if (pointer === 0) {
      throw createError('out_of_memory', `the engine has no memory for ${bytes.length} bytes`, {
        details: { neededBytes: bytes.length },
      });
    }
    try {
      this.#module.HEAPU8.set(bytes, pointer);
      return use(pointer);
    } finally {
      this.#native.release(pointer);
    }
  }
}

function nativeOptions(settings: EngineSettings): NativeOptions {
  return {
    nCtx: settings.contextLength,
    budgetBytes: settings.budgetBytes,
    kvBits: Number(settings.kvType.slice(1)), // f32, f16, q8
    fullAttention: settings.attention === 'full',
    nThreads: settings.threads,
    spareCore: settings.threads >= (globalThis.navigator?.hardwareConcurrency ?? Infinity),
    unitBytes: settings.unitBytes,
    preTokenizer: settings.preTokenizer,
  };
}

function tokenBytes(tokens: readonly number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(tokens).buffer);
}
