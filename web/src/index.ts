// SPDX-License-Identifier: MIT
// The only door into the package.

export { setAssetBase } from './api/assets.js';
export { capabilities } from './api/capabilities.js';
export { persistStorage, storageEstimate } from './api/browser-storage.js';
export {
  deleteModel,
  exportModel,
  importFile,
  listModels,
  loadModel,
  planModel,
  verifyModel,
} from './api/default-api.js';
export { isolatePage } from './api/isolate-page.js';
export { openAIClient } from './api/openai/client.js';
export type {
  AnsweringModel,
  Base64EmbeddingList,
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionParams,
  ChatLogprobs,
  Completion,
  CompletionChunk,
  CompletionLogprobs,
  CompletionParams,
  CompletionStream,
  CompletionUsage,
  EmbeddingList,
  EmbeddingParams,
  OpenAIClient,
  OpenAITokenLogprob,
  RequestOptions,
} from './api/openai/types.js';
export { renderChat } from './api/render-chat.js';
export { samplerNames, samplingDefaults } from './api/sampling.js';
export type { SamplingNumber } from './api/sampling.js';
export type {
  Capabilities,
  ChatMessage,
  ChatOptions,
  CompleteOptions,
  EmbedOptions,
  EmbedResult,
  ContentPart,
  EngineBuild,
  FinishReason,
  GenerateOptions,
  Generation,
  GenerationChunk,
  GenerationStats,
  ImportOptions,
  KvType,
  LoadOptions,
  LoadProgress,
  MemoryReport,
  Model,
  ModelCheck,
  ModelInfo,
  ModelPlan,
  SpecialTokens,
  ModelSource,
  PassProgress,
  PlanOptions,
  Pooling,
  RenderChatOptions,
  SamplerName,
  SamplingOptions,
  StorageKind,
  StorageUse,
  StoredModel,
  StoredModelOptions,
  StoredState,
  TokenLogprob,
  TokenLogprobs,
} from './api/types.js';
export {
  BadModelError,
  ChatTemplateError,
  ContextFullError,
  LayerstreamError,
  NetworkError,
  OutOfMemoryError,
  StorageQuotaError,
  UnsupportedModelError,
  WorkerCrashedError,
} from './errors.js';
export type { EngineErrorCode, ErrorCode, ErrorDetails, ErrorInit, HostErrorCode } from './errors.js';
