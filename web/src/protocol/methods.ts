// SPDX-License-Identifier: MIT
// The protocol: one map per pair of ends, method name -> what goes in, what comes back, what is reported on the
// way (progress) and what is streamed (chunk). Everything else in this folder is derived from these maps: add an
// entry, and the compiler lists the handler that is missing. Described in docs/formats/protocol.md.

import type {
  CacheState,
  DeviceRates,
  EngineSettings,
  Extent,
  GenerationOutcome,
  GenerationRules,
  LoadProgress,
  MemoryReport,
  PassProgress,
  Pooling,
  Prompt,
  ReadRingMemory,
  SamplingSettings,
  StorageKind,
  StoredModel,
  StoredState,
  TokenLogprobs,
} from './data.js';

/** Compared in the handshake. Raise it with every change that an older end would misread. */
export const protocolVersion = 7;

export interface MethodSpec {
  params: object;
  result: unknown;
  progress?: unknown;
  chunk?: unknown;
}
export type MethodMap<M> = { [K in keyof M]: MethodSpec };

/** Holds a Web Lock for as long as the worker lives, so that the page notices its death. */
interface Watch {
  params: { lockName: string };
  /** false: this browser has no Web Locks. */
  result: { held: boolean };
}

/** Page -> engine worker. One worker holds one model. */
export interface EngineMethods {
  watch: Watch;
  /** Starts the module that open and plan will need, while the page finds out about the model; answers when it runs. */
  prepare: { params: Pick<EngineSettings, 'build' | 'threads'>; result: null };
  open: {
    params: {
      /** Serves ReadMethods. */
      storagePort: MessagePort;
      modelId: number;
      /** Every byte is here: nobody needs to know the order of the reads. */
      isWhole: boolean;
      /** Bytes of each part. */
      partBytes: readonly number[];
      settings: EngineSettings;
    };
    result: {
      /** The engine's description, as parsed JSON. */
      details: unknown;
      contextLength: number;
      vocabSize: number;
      blockCount: number;
    };
    progress: LoadProgress;
  };
  /** What open would find and allocate, from the headers alone; and, if asked for, how fast this device is. */
  plan: {
    params: {
      storagePort: MessagePort;
      modelId: number;
      partBytes: readonly number[];
      settings: EngineSettings;
      /** About how long the probes may take; 0: none. */
      probeMs: number;
      /** Reading says how fast the store is (not: how fast a network). */
      probeReads: boolean;
    };
    result: {
      details: unknown;
      /** null: not probed. */
      rates: DeviceRates | null;
    };
  };
  /** Pins more under a larger budget, between two passes. */
  raiseBudget: { params: { budgetBytes: number }; result: { details: unknown } };
  exportCache: { params: object; result: { cache: CacheState } };
  importCache: { params: { cache: CacheState }; result: null };
  generate: {
    params: { requestId: number; prompt: Prompt; sampling: SamplingSettings; rules: GenerationRules };
    result: GenerationOutcome;
    progress: PassProgress;
    chunk: { text: string; tokens: number[]; logprobs?: TokenLogprobs[] };
  };
  /** Ends an answer where it is; it then has a result. An unknown id is an answer that has ended already. */
  stop: { params: { requestId: number }; result: null };
  embed: {
    params: { inputs: readonly Prompt[]; pooling: Pooling; normalize: boolean };
    /** One vector of model_dim for each input. */
    result: { vectors: Float32Array<ArrayBuffer>[]; promptTokens: number };
    progress: PassProgress;
  };
  tokenize: {
    params: { text: string; addSpecial: boolean; parseSpecial: boolean };
    result: { tokens: number[] };
  };
  detokenize: { params: { tokens: readonly number[]; withControl: boolean }; result: { text: string } };
  memory: { params: object; result: MemoryReport };
  dispose: { params: object; result: null };
}

export type AcquireSource = { kind: 'url'; url: string } | { kind: 'files'; files: readonly File[] };

export interface AcquireOptions {
  headers: Readonly<Record<string, string>>;
  /** all: fetch what is missing at once; demand: only what is read (a header, for a plan). */
  fetch: 'all' | 'demand';
  verifyReads: 'always' | 'first';
  /** Of each part, in hex; empty: none is stated. */
  sha256: readonly string[];
}

/** Page -> storage worker. */
export interface StorageMethods {
  watch: Watch;
  /**
   * Opens a model as soon as the lengths of its parts are known, stored or not; reads wait for what is not there yet.
   * Each acquire needs one release, which also ends a download that nobody else waits for.
   */
  acquire: {
    params: { source: AcquireSource; options: AcquireOptions };
    result: {
      modelId: number;
      storage: StorageKind;
      /** Why the weights are not in the origin's file system although they came from a URL; null otherwise. */
      storageReason: string | null;
      /** Every byte is here: reads tell nothing of the network. */
      isWhole: boolean;
      partBytes: readonly number[];
    };
    progress: LoadProgress;
  };
  /** Settles when everything is stored (and has its SHA-256), or with why not. */
  follow: { params: { modelId: number }; result: null; progress: LoadProgress };
  release: { params: { modelId: number }; result: null };
  /** Serves ReadMethods on this port from now on. */
  attach: { params: { port: MessagePort }; result: null };
  list: { params: object; result: { models: StoredModel[] } };
  remove: { params: { url: string }; result: { removed: boolean } };
  /** Compares everything that is stored with its hashes; null: nothing is. What is damaged no longer counts. */
  verify: {
    params: { url: string };
    result: { damaged: Extent[]; state: StoredState } | null;
    progress: { loadedBytes: number; totalBytes: number };
  };
  /** Streams a part out, compared with its hashes on the way. */
  export: { params: { url: string; part: number }; result: { bytes: number }; chunk: { data: Uint8Array } };
  /** Copies files into the store under `url`. */
  import: {
    params: { url: string; files: readonly File[] };
    result: { bytes: number };
    progress: { loadedBytes: number; totalBytes: number };
  };
}

/** Engine worker -> storage worker. */
export interface ReadMethods {
  /** All extents, one behind the other, in one buffer (which may be longer than their sum). */
  read: {
    params: {
      modelId: number;
      extents: readonly Extent[];
      /** Transferred: buffers of earlier answers, to be filled again instead of making new ones. */
      recycled: readonly ArrayBuffer[];
    };
    result: { buffer: ArrayBuffer };
  };
  /** The shared memory that readInto and drain write to, and what drain serves; null: none any more. */
  share: { params: { memory: WebAssembly.Memory | null; ring: ReadRingMemory | null }; result: null };
  /** As read, straight into the shared memory: `pointers` has one address in it for each extent. */
  readInto: {
    params: { modelId: number; extents: readonly Extent[]; pointers: readonly number[] };
    result: null;
  };
  /** Serves what is asked for in the ring, until nothing is for a while. Fails with the read that fails. */
  drain: { params: { modelId: number }; result: null };
  /** The order in which a pass will read; a download follows it. */
  order: { params: { modelId: number; extents: readonly Extent[] }; result: null };
}
