// SPDX-License-Identifier: MIT
// Data that crosses the borders between page and workers. Plain, structured-clonable. Sizes are bytes, times
// milliseconds. Those that callers see are re-exported by api/types.ts.

export interface LoadProgress {
  /** download: bytes of the file(s) arriving; open: header being read; ready. */
  phase: 'download' | 'open' | 'ready';
  loadedBytes: number;
  /** 0 while unknown. */
  totalBytes: number;
}

export interface PassProgress {
  phase: 'prefill' | 'decode';
  /** Blocks done in this pass, and in all. */
  block: number;
  blockCount: number;
  /** Prompt tokens whose passes are finished, and in all. */
  promptTokensDone: number;
  promptTokens: number;
}

/**
 * stop: the model ended its answer, or a stop string or token came; length: maxTokens; context: no position is left;
 * abort: answer.stop(). (An answer whose signal aborts has no finish reason: it rejects with the signal's.)
 */
export type FinishReason = 'stop' | 'length' | 'context' | 'abort';

export interface GenerationStats {
  promptTokens: number;
  /** Prompt tokens whose keys and values were still there from the request before. */
  reusedTokens: number;
  completionTokens: number;
  /** Tokens of prompt and answer that the context had to let go (contextOverflow 'shift'). */
  shiftedTokens: number;
  prefillMs: number;
  decodeMs: number;
  /** Weight bytes read from the store during this answer. */
  bytesRead: number;
}

/** How the hidden states of a text become one vector: their mean, that of the last token, or that of the first. */
export type Pooling = 'mean' | 'last' | 'cls';

/** When an answer ends. */
export interface GenerationRules {
  /** null: no limit. */
  maxTokens: number | null;
  stop: readonly string[];
  stopTokens: readonly number[];
  /** Go on past the tokens with which the model ends an answer. */
  ignoreEos: boolean;
  overflow: 'stop' | 'shift';
  /** Tokens at the beginning that a shift leaves alone. */
  keepTokens: number;
  /** Most probable tokens to report with each token; null: report nothing. */
  logprobs: number | null;
}

export interface GenerationOutcome {
  finishReason: FinishReason;
  /** The stop string or stop token that ended the answer; null for anything else. */
  stopReason: string | number | null;
  stats: GenerationStats;
}

export interface MemoryReport {
  fixedBytes: number;
  pinnedBytes: number;
  slotBytes: number;
  kvBytes: number;
  activationBytes: number;
  samplerBytes: number;
  /** Sum of the above. */
  totalBytes: number;
  /** What the plan counts: never less than the size of the wasm memory. */
  plannedBytes: number;
  residentWeightBytes: number;
  peakResidentWeightBytes: number;
  totalWeightBytes: number;
  /** Size of the wasm memory; it never shrinks. */
  wasmBytes: number;
  bytesRead: number;
  sweeps: number;
}

/** Where the weights are read from. */
export type StorageKind = 'opfs' | 'file' | 'memory' | 'network';

/**
 * partial: an interrupted download, which the next loadModel goes on with; damaged: bytes were found to be wrong, and
 * are fetched again when they are needed.
 */
export type StoredState = 'partial' | 'complete' | 'damaged';

export interface StoredModel {
  /** Key for loadModel and deleteModel: the URL it came from. */
  url: string;
  state: StoredState;
  /** Bytes that are there and verified, and in all. */
  bytes: number;
  totalBytes: number;
  /** `state` is 'complete'. */
  complete: boolean;
  /** Milliseconds since 1970; 0 if unknown. */
  lastUsed: number;
}

/** A stretch of one part of a model. */
export interface Extent {
  part: number;
  offset: number;
  bytes: number;
}

/** Reads that are served in turn, in memory that engine worker and storage worker share. */
export interface ReadRingMemory {
  /** Counts reads, and wraps; written by who asks. */
  asked: Int32Array<SharedArrayBuffer>;
  /** The same, by who serves. */
  done: Int32Array<SharedArrayBuffer>;
  /** 1: nobody looks; whoever asks next sets 0 and calls `drain`. */
  asleep: Int32Array<SharedArrayBuffer>;
  /** Part, offset, bytes and address of read n, at 4 n modulo the length. */
  reads: Float64Array<SharedArrayBuffer>;
}

/**
 * Steps of the sampling chain, in their usual order; the field's names (engine/sampler/config.h).
 *
 * @example
 * const withoutXtc = samplerNames.filter((name) => name !== 'xtc'); // for the option `samplers`
 */
export const samplerNames = [
  'penalties',
  'dry',
  'top_n_sigma',
  'top_k',
  'typ_p',
  'top_p',
  'min_p',
  'xtc',
  'temperature',
] as const;

export type SamplerName = (typeof samplerNames)[number];

/** What api/types.ts says of SamplingOptions, with nothing left open. */
export interface SamplingSettings {
  temperature: number;
  dynatempRange: number;
  dynatempExponent: number;
  topK: number;
  topP: number;
  minP: number;
  typicalP: number;
  topNSigma: number;
  xtcProbability: number;
  xtcThreshold: number;
  dryMultiplier: number;
  dryBase: number;
  dryAllowedLength: number;
  dryLastN: number;
  repeatPenalty: number;
  frequencyPenalty: number;
  presencePenalty: number;
  repeatLastN: number;
  mirostat: number;
  mirostatTau: number;
  mirostatEta: number;
  seed: number;
  drySequenceBreakers: readonly string[];
  /** Pairs of token and addend. */
  logitBias: readonly (readonly [number, number])[];
  bannedTokens: readonly number[];
  samplers: readonly SamplerName[];
}

export interface TokenLogprob {
  token: number;
  /** Natural logarithm of the probability. */
  logprob: number;
}

/** Of a token of the answer, and the most probable ones in its place, most probable first. */
export interface TokenLogprobs extends TokenLogprob {
  top: TokenLogprob[];
}

/** The wasm modules of the package: with a thread pool or without, with the relaxed integer dot product or without. */
export type EngineBuild = 'single-simd' | 'single-relaxed' | 'threads-simd' | 'threads-relaxed';

/** How keys and values are kept: halves, floats, or int8 with a scale per 32 values (9/16 of the memory of halves). */
export type KvType = 'f16' | 'f32' | 'q8';

export interface EngineSettings {
  build: EngineBuild;
  /** Threads that compute; 1 for the single builds. */
  threads: number;
  /** Positions; 0: the model's own, at most 4096. */
  contextLength: number;
  /** Bytes; 0: smallest plan; -1: unlimited. */
  budgetBytes: number;
  kvType: KvType;
  attention: 'trained' | 'full';
  unitBytes: number;
  /** Instead of the file's; empty: the file's. */
  preTokenizer: string;
}

/** A key-value cache on its way from one engine to the next. */
export interface CacheState {
  /** The tokens at positions 0, 1, … */
  tokens: readonly number[];
  /** Of each block, in logical order. */
  layers: readonly Uint8Array[];
}

/** What a device does, as a probe found it. */
export interface DeviceRates {
  /** Bytes of weights per second that a decode step computes with, by tensor type. */
  kernelBytesPerSecond: Readonly<Record<string, number>>;
  /** From the store; null where the weights are not stored yet. */
  readBytesPerSecond: number | null;
}

/** Half-open range of UTF-16 units. */
export interface TextRange {
  start: number;
  end: number;
}

/** Text to continue. `untrusted` are the ranges that came from messages: control tokens spelled there stay text. */
export interface TextPrompt {
  text: string;
  addSpecial: boolean;
  parseSpecial: boolean;
  untrusted: readonly TextRange[];
}

/** Ids as they are: nothing is added to them. */
export interface TokenPrompt {
  ids: readonly number[];
}

export type Prompt = TextPrompt | TokenPrompt;
