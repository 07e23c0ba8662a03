// SPDX-License-Identifier: MIT
// The Embind surface of the wasm module (wasm_bindings/bindings.cpp), written out once for readers; a test
// checks that the .d.ts Emscripten emits is assignable to it. Nothing outside web/src/engine/ uses these.

/** code '' means ok; otherwise an ErrorCode name of engine/base/error.h. */
export interface Status {
  code: string;
  message: string;
}
export interface NumberResult {
  status: Status;
  value: number;
}
export interface TextResult {
  status: Status;
  text: string;
}
/** Memory of the engine: valid until the next call. Copy out at once. */
export interface ArrayResult {
  status: Status;
  pointer: number;
  count: number;
}
export interface NativeOptions {
  /** Positions to allocate; 0: the file's context length, at most 4096. */
  nCtx: number;
  /** Bytes; 0: the smallest plan that works; -1: unlimited. */
  budgetBytes: number;
  /** Of a cached value: 32, 16 or 8. */
  kvBits: number;
  fullAttention: boolean;
  nThreads: number;
  /** Weights are read by another thread, for which `nThreads` leave no core. */
  spareCore: boolean;
  /** 0: what the engine takes by itself. */
  unitBytes: number;
  preTokenizer: string;
}
export interface NativeSampler {
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
  /** Names with ';' between them. */
  samplers: string;
  /** Texts with a NUL after each. */
  dryBreakers: string;
  /** float64 in the heap: nBiases pairs (id, addend), then nBanned ids. */
  idsPointer: number;
  nBiases: number;
  nBanned: number;
}
export interface NativeRead {
  /** false: there is nothing to read now. */
  valid: boolean;
  id: number;
  part: number;
  offset: number;
  bytes: number;
  /** Where the bytes go in the wasm memory; stays valid until completeRead or failRead. */
  pointer: number;
  stage: number;
  urgent: boolean;
}
export interface NativeRun {
  status: Status;
  /** 0 done, 1 needs reads, 2 paused. */
  state: number;
  stage: number;
}
export interface NativeMemory {
  fixedBytes: number;
  pinnedBytes: number;
  slotBytes: number;
  kvBytes: number;
  activationBytes: number;
  samplerBytes: number;
  /** All that the plan counts. */
  plannedBytes: number;
  residentWeightBytes: number;
  peakResidentWeightBytes: number;
  totalWeightBytes: number;
  bytesRead: number;
  sweeps: number;
}
/** One model. Call order: addPart… → open → everything else. */
export interface NativeEngine {
  /** Heap memory for passing bytes in; 0 when there is none. */
  allocate(bytes: number): number;
  release(pointer: number): void;
  /** Header of part `index` from a prefix of its file. value: 0 complete, else the prefix length to call again with. */
  addPart(index: number, pointer: number, bytes: number, fileBytes: number): NumberResult;
  /** Parts that the header of part 0 announces (1: not split). */
  partCount(): NumberResult;
  /** JSON as describe would give it after open, without opening; may be called again and again before open. */
  plan(options: NativeOptions): TextResult;
  /** One product of a vector with about `bytes` of weights of a type ("Q4_K"). */
  probe(type: string, bytes: number, nThreads: number): Status;
  /** A refusal leaves the parts there. */
  open(options: NativeOptions): Status;
  /** JSON of Session::describe_json. */
  describe(withTensors: boolean): TextResult;
  memory(): NativeMemory;
  nCtx(): number;
  nLayers(): number;
  vocabSize(): number;
  maxEntries(): number;
  nPast(): number;
  /** int32 ids. */
  tokenize(text: string, addSpecial: boolean, parseSpecial: boolean): ArrayResult;
  /** int32 ids in the heap → text. */
  detokenize(pointer: number, count: number, withControl: boolean): TextResult;
  isEndOfGeneration(token: number): boolean;
  /** Text that became complete with this token (may be ''); never half a UTF-8 sequence. */
  acceptToken(token: number): TextResult;
  /** What was still pending at the end of an answer; also resets the stream. */
  finishText(): TextResult;
  /** int32 ids at nPast(), nPast() + 1, …; wants: 0 nothing, logits of the last entry (1) or of all (2), hidden states likewise (3, 4). */
  beginPass(pointer: number, count: number, wants: number): Status;
  run(maxWork: number): NativeRun;
  cancelPass(): void;
  takeRead(): NativeRead;
  completeRead(id: number): Status;
  failRead(id: number): Status;
  /** float32 logits of an entry of the last pass. */
  logits(entry: number): ArrayResult;
  /** float32 final hidden state of an entry of the last pass. */
  hidden(entry: number): ArrayResult;
  setSampler(options: NativeSampler): Status;
  sample(): NumberResult;
  /** float64 pairs (id, logprob): the token drawn last, then the nTop most probable ones. */
  logprobs(nTop: number): ArrayResult;
  /** value: positions kept, nPast or (windowed layers) 0. */
  truncate(nPast: number): NumberResult;
  /** Pins more; refused while reads are in flight. */
  raiseBudget(bytes: number): Status;
  /** int32 ids of the tokens in the cache. */
  history(): ArrayResult;
  /** Of the cache of one layer, in logical order; count is in bytes. */
  dumpKvLayer(layer: number): ArrayResult;
  restoreKvLayer(layer: number, pointer: number, bytes: number, nPast: number): Status;
  /** int32 ids; the restored layers count from here on. */
  restoreHistory(pointer: number, count: number): Status;
  /** Bytes of Session::dump_kv; count is in bytes. */
  dumpKv(): ArrayResult;
  delete(): void;
}
export interface LayerstreamModule {
  HEAPU8: Uint8Array;
  /** Of builds with threads: the shared memory that the module was given. */
  wasmMemory?: WebAssembly.Memory;
  Engine: { new (): NativeEngine };
  /** Engines that are alive (leak tests). */
  liveEngines(): number;
  /** Comma-separated ErrorCode names, in order. */
  errorCodes(): string;
  /** e.g. "simd", "relaxed". */
  buildInfo(): string;
}
