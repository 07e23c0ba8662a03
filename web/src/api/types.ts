// SPDX-License-Identifier: MIT
// The public types of the package (see docs/api.md). Sizes are bytes, times milliseconds.

import type {
  EngineBuild,
  FinishReason,
  GenerationStats,
  KvType,
  LoadProgress,
  MemoryReport,
  PassProgress,
  Pooling,
  SamplerName,
  StorageKind,
  StoredModel,
  StoredState,
  TokenLogprob,
  TokenLogprobs,
} from '../protocol/data.js';

export type {
  EngineBuild,
  FinishReason,
  GenerationStats,
  KvType,
  LoadProgress,
  MemoryReport,
  PassProgress,
  Pooling,
  SamplerName,
  StorageKind,
  StoredModel,
  StoredState,
  TokenLogprob,
  TokenLogprobs,
};

/**
 * Where a model comes from. A string is an URL (relative to the page); the first part of a split model
 * ("-00001-of-0000N.gguf") stands for all. A File is used in place, not copied; a split model is an array of Files.
 */
export type ModelSource = string | URL | File | readonly File[];

export interface LoadOptions {
  /** Memory the engine may use, in bytes, or 'min' for the smallest plan. Default: 2 GiB, of which as much is used
   *  as the model needs to be fully resident. */
  memoryBudget?: number | 'min';
  /** Positions of context to allocate. Default: the model's own, at most 4096. */
  contextLength?: number;
  /** How keys and values are kept. 'q8' takes 9/16 of the memory of 'f16', the default; answers can differ a little. */
  kvType?: KvType;
  /** 'full' ignores sliding windows. */
  attention?: 'trained' | 'full';
  /**
   * Threads that compute. Default: about as many as the device has cores; 1 where the page is not cross-origin isolated,
   * which is also the most that is possible there.
   */
  threads?: number;
  /** Another build of the engine than the fastest that works here. For tests: the answers are the same. */
  engineBuild?: EngineBuild;
  /** Instead of the file's `tokenizer.ggml.pre`, for files that name none, a wrong one or an unknown one. */
  preTokenizer?: string;
  /** Request headers for the download (gated models). */
  headers?: Record<string, string>;
  /**
   * When loadModel resolves: as soon as the header is there ('header', default), so that an answer can be computed while
   * the weights arrive, or when everything is stored. See `model.stored`.
   */
  waitFor?: 'header' | 'stored';
  /** Compare stored weights with their hashes at every read, or at the first one of a session ('first', default). */
  verifyReads?: 'always' | 'first';
  /** SHA-256 of the file in hexadecimal, or of each part: compared in the background when everything is stored. */
  sha256?: string | readonly string[];
  signal?: AbortSignal;
  onProgress?: (progress: LoadProgress) => void;
  /** Chat template in place of the file's own: Jinja text, or a name (see ChatOptions.template). */
  chatTemplate?: string;
  /** Size a slice of weights aims at, bytes. For tests and experiments. */
  unitBytes?: number;
}

export interface StoredModelOptions {
  signal?: AbortSignal;
  onProgress?: (progress: { loadedBytes: number; totalBytes: number }) => void;
}

export interface ImportOptions extends StoredModelOptions {
  /** Store it as what this URL has, so that damage can be fetched from there. Default: a key made of the file's name. */
  url?: string | URL;
}

export interface ModelCheck {
  state: StoredState;
  /** Bytes that are not what was stored. They are fetched again when they are needed. */
  damaged: { part: number; offset: number; bytes: number }[];
}

/** Of this site, with everything else it stores. */
export interface StorageUse {
  usageBytes: number | null;
  quotaBytes: number | null;
  /** The browser will not remove it when space is short. */
  persisted: boolean;
}

export interface ContentPart {
  type: 'text' | (string & {});
  text?: string;
}

/** As templates read them; fields that are not named here are passed on to the template as well. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool' | (string & {});
  /** null or left out where a message has only tool calls. */
  content?: string | readonly ContentPart[] | null;
  /** Calls an assistant message makes; their `arguments` as the template wants them: an object, or JSON text. */
  tool_calls?: readonly unknown[];
  tool_call_id?: string;
  name?: string;
  /** What the model thought before this answer, for templates that ask for it apart. */
  reasoning_content?: string;
}

/**
 * How tokens are drawn. Everything is off and greedy by default. Settings out of range reject with `bad_argument`.
 * Tokens "so far" are those of the prompt and of the answer.
 */
export interface SamplingOptions {
  /** 0 (default) is greedy. */
  temperature?: number;
  /** Above 0: the temperature goes from `temperature - dynatempRange` to `temperature + dynatempRange` with the entropy. */
  dynatempRange?: number;
  /** Of the entropy's share of its maximum. Default 1. */
  dynatempExponent?: number;
  /** Keeps the k most probable tokens; 0 (default): all. */
  topK?: number;
  /** Keeps the most probable tokens that together reach this probability; 1 (default): all. */
  topP?: number;
  /** Keeps tokens at least this share as probable as the most probable one; 0 (default): all. */
  minP?: number;
  /** Locally typical sampling; 1 (default): off. */
  typicalP?: number;
  /** Keeps logits within so many standard deviations of the highest; -1 (default): off. */
  topNSigma?: number;
  /** Exclude top choices: how often (0, the default, is never) … */
  xtcProbability?: number;
  /** … all but the least probable of the tokens at least this probable are dropped. Default 0.1; above 0.5: off. */
  xtcThreshold?: number;
  /** DRY punishes tokens that continue a repeat by `multiplier * base ** (length - allowedLength)`. 0 (default): off. */
  dryMultiplier?: number;
  /** Default 1.75. */
  dryBase?: number;
  /** Default 2. */
  dryAllowedLength?: number;
  /** Tokens so far that DRY looks at; -1 (default): all. */
  dryLastN?: number;
  /** Texts no repeat reaches across. Default: line end, colon, double quote, asterisk. */
  drySequenceBreakers?: readonly string[];
  /** Divides (above 0) or multiplies (below) the logits of tokens that were there. 1 (default): off. */
  repeatPenalty?: number;
  /** Taken off a logit for every time its token was there. */
  frequencyPenalty?: number;
  /** Taken off the logit of a token that was there. */
  presencePenalty?: number;
  /** Tokens so far that the three penalties look at. Default 64; -1: all. */
  repeatLastN?: number;
  /** 2: Mirostat version 2, in place of the steps that drop tokens. Default 0. */
  mirostat?: 0 | 2;
  /** Surprise aimed at, bits. Default 5. */
  mirostatTau?: number;
  /** Learning rate. Default 0.1. */
  mirostatEta?: number;
  /** Added to the logit of each token id; -Infinity bans it. */
  logitBias?: Readonly<Record<number, number>>;
  /** Token ids that are never drawn. */
  bannedTokens?: readonly number[];
  /** Steps to run, in this order; a step that is not named does not run. Default: the order of the type. */
  samplers?: readonly SamplerName[];
  /** Same seed, same file, same prompt: same text on every device. Default: drawn anew for every answer. */
  seed?: number;
}

export interface GenerateOptions extends SamplingOptions {
  /** Default: until the model ends its answer or the context is full. */
  maxTokens?: number;
  /** Texts that end the answer; they are not part of it. They are found across token borders. */
  stop?: string | readonly string[];
  /** Tokens that end the answer, besides those with which the model ends one. */
  stopTokens?: readonly number[];
  /** Go on past the tokens with which the model ends an answer. For measurements. Default false. */
  ignoreEos?: boolean;
  /**
   * When the context is full. 'stop' (default): a prompt that is too long is refused before anything is computed, an answer
   * that fills the context ends with finishReason 'context'. 'shift': the oldest half of what follows the first
   * `keepTokens` is forgotten and the rest computed anew, so that an answer can go on for ever.
   */
  contextOverflow?: 'stop' | 'shift';
  /** Default 4: models lean on the very first tokens. */
  keepTokens?: number;
  /** Report each token's log-probability and those of so many most probable tokens, before any sampling setting. */
  logprobs?: number;
  /** When an answer of this model is being computed: wait for it (default), or reject with code `busy`. */
  whenBusy?: 'wait' | 'reject';
  /** Ends the answer: the iteration rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called while a pass runs: block k of n, of the prompt or of a step. */
  onProgress?: (progress: PassProgress) => void;
}

export interface ChatOptions extends GenerateOptions {
  /**
   * Template to use: Jinja text, the name of one of the file's named templates ('tool_use', 'rag', …), or of a
   * built-in one ('chatml', 'llama3', …). Default: that of loadModel, else the file's own (with `tools`: its
   * 'tool_use', if it has one), else one that fits the family (docs/api.md).
   */
  template?: string;
  /** JSON schemas of tools, for templates that know them. */
  tools?: readonly unknown[];
  /** More variables of the template: enable_thinking, date_string, documents, … */
  variables?: Readonly<Record<string, unknown>>;
  /** End the prompt with the beginning of an assistant message. Default true. */
  addGenerationPrompt?: boolean;
  /**
   * Let text of messages, tools and variables become control tokens where it spells them. Default false: it stays
   * text. Only for messages you wrote yourself.
   */
  allowControlTokens?: boolean;
}

export interface CompleteOptions extends GenerateOptions {
  /** Recognise the text of control tokens in the prompt. Only for prompts you wrote yourself. Default false. */
  parseSpecial?: boolean;
}

export interface EmbedOptions {
  /** Default 'mean'. Models that are trained for embeddings say which they want. */
  pooling?: Pooling;
  /** Scale each vector to length 1, so that the dot product of two is their cosine. Default true. */
  normalize?: boolean;
  signal?: AbortSignal;
  /** Called while a pass runs; tokens are those of all texts together. */
  onProgress?: (progress: PassProgress) => void;
}

export interface EmbedResult {
  /** One vector for each text, in their order. */
  embeddings: Float32Array[];
  usage: { promptTokens: number };
}

/** One event of an answer. The last event has `finishReason`, `stopReason` and `stats`. */
export interface GenerationChunk {
  text: string;
  tokens: number[];
  /** One for each token, if asked for. */
  logprobs?: TokenLogprobs[];
  finishReason?: FinishReason;
  /** The stop string or token that ended the answer; null for anything else. */
  stopReason?: string | number | null;
  stats?: GenerationStats;
}

/**
 * An answer: iterate for chunks as they come; leaving the loop cancels. It begins when iteration begins or text()
 * is called, and can be iterated once.
 */
export interface Generation extends AsyncIterable<GenerationChunk> {
  /** The whole text, when done. */
  text(): Promise<string>;
  /** Ends the answer where it is, with finishReason 'abort' and its stats. */
  stop(): void;
}

export interface SpecialTokens {
  /** Ids; null where the file has none. */
  bos: number | null;
  eos: number | null;
  eot: number | null;
  eom: number | null;
  unk: number | null;
  pad: number | null;
  /** Whether a text gets BOS in front, EOS behind. */
  addBos: boolean;
  addEos: boolean;
  /** All ids that end an answer, ascending. */
  endOfGeneration: number[];
}

export interface ModelInfo {
  name: string;
  architecture: string;
  fileBytes: number;
  contextLength: number;
  vocabSize: number;
  specialTokens: SpecialTokens;
  blockCount: number;
  /** Where the weights are read from. */
  storage: StorageKind;
  /** Why the weights are in memory or on their server and not in the browser's file system; null if they are not. */
  storageReason: string | null;
  engineBuild: EngineBuild;
  threads: number;
  /** The engine's own description (docs/formats/inspect.md). */
  details: unknown;
}

export interface PlanOptions extends LoadOptions {
  /** About how long the probes of this device may take. Default 2000; 0: no estimate. */
  probeMs?: number;
}

/** How a memory budget would be spent on a model. Bytes, unless said otherwise. */
export interface ModelPlan {
  name: string;
  architecture: string;
  blockCount: number;
  contextLength: number;
  /** Disk: what the model takes in the browser's storage. */
  fileBytes: number;
  /** All weights. */
  weightBytes: number;
  memory: {
    /** The program, header, tokenizer, norms, small things. */
    fixedBytes: number;
    /** Keys and values of the whole context. */
    kvBytes: number;
    /** Of one pass: residual stream, scratch, logits. */
    activationBytes: number;
    samplerBytes: number;
    /** Weights that stay. */
    pinnedBytes: number;
    /** Where the others take turns. */
    slotBytes: number;
    /** Sum; the wasm memory never grows beyond it. */
    totalBytes: number;
  };
  /** null: unlimited. */
  budgetBytes: number | null;
  slots: number;
  /** The largest slice of a matrix that is read at a time. */
  sliceBytes: number;
  /** All weights are pinned: nothing is read after the first pass. */
  resident: boolean;
  /** Read from the store for every token of an answer. */
  readBytesPerToken: number;
  /** Prompt tokens that one sweep over the weights takes, and the sweeps that a prompt of the whole context takes. */
  tokensPerSweep: number;
  sweeps: number;
  /** null: not asked for. Speeds of this device now; other programs and heat change them. */
  estimate: {
    /** Decoding at the beginning of a context. */
    tokensPerSecond: number;
    /** If reading cost nothing. */
    computeTokensPerSecond: number;
    /** null: the model is not stored here, so there is nothing to read; the estimate leaves reading out. */
    readBytesPerSecond: number | null;
  } | null;
  /** The engine's own description (docs/formats/inspect.md). */
  details: unknown;
}

export interface Model {
  readonly info: ModelInfo;
  /**
   * Settles when all weights are stored (and have the SHA-256 that was stated); at once where they stay on their server. Rejects when the download cannot go on;
   * an answer that needs what is missing then rejects as well, and the next one tries again.
   */
  readonly stored: Promise<void>;
  /** Renders the chat template and answers. */
  chat(messages: readonly ChatMessage[], options?: ChatOptions): Generation;
  /** Continues a text, or token ids, to which nothing is added. */
  complete(prompt: string | readonly number[], options?: CompleteOptions): Generation;
  /** Vectors of texts (or of token ids, to which nothing is added), from the final hidden states. */
  embed(
    texts: string | readonly (string | readonly number[])[],
    options?: EmbedOptions,
  ): Promise<EmbedResult>;
  tokenize(text: string, options?: { addSpecial?: boolean; parseSpecial?: boolean }): Promise<number[]>;
  /** How many tokens `tokenize` makes of it. */
  countTokens(text: string, options?: { addSpecial?: boolean; parseSpecial?: boolean }): Promise<number>;
  detokenize(tokens: readonly number[], options?: { withControl?: boolean }): Promise<string>;
  memory(): Promise<MemoryReport>;
  /**
   * Changes the memory the engine may use. More acts at once, also in the middle of an answer: more weights stay. Less starts
   * a new engine and moves the conversation into it (wasm memory never shrinks); rejects with `busy` while an answer is
   * being computed, with `budget_too_small` if the smallest plan needs more; the model then goes on as it is.
   */
  setBudget(memoryBudget: number | 'min'): Promise<MemoryReport>;
  /** Ends the worker and frees its memory. Pending answers are rejected with code `disposed`. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface RenderChatOptions {
  messages: readonly ChatMessage[];
  /** End with the beginning of an assistant message. Default true. */
  addGenerationPrompt?: boolean;
  /** The same, as templates and transformers spell it; so are the two below. */
  add_generation_prompt?: boolean;
  bosToken?: string;
  bos_token?: string;
  eosToken?: string;
  eos_token?: string;
  /** JSON schemas of tools, for templates that know them. */
  tools?: readonly unknown[];
  /** More variables of the template. */
  variables?: Readonly<Record<string, unknown>>;
  /** The clock of strftime_now. Default: now. */
  now?: Date;
}

export interface Capabilities {
  /** Needed: without it nothing runs. */
  simd: boolean;
  relaxedSimd: boolean;
  /** Shared memory can be used (the page is cross-origin isolated). */
  threads: boolean;
  /** Models can be stored in the browser's file system. */
  opfs: boolean;
  crossOriginIsolated: boolean;
  /** Tensor types that run without SIMD kernels: none, every type that loads has one. */
  slowFormats: string[];
}
