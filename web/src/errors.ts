// SPDX-License-Identifier: MIT
// Every failure a caller can see. One base class, and one subclass per cause that a caller would catch.
// `engineErrorCodes` mirrors engine/base/error.h in its order (a Jest test compares it with the module);
// `hostErrorCodes` are the causes that exist only outside the engine.

export const engineErrorCodes = [
  'bad_magic',
  'unsupported_version',
  'bad_file',
  'truncated',
  'missing_key',
  'bad_value',
  'missing_tensor',
  'shape_mismatch',
  'unsupported_arch',
  'unsupported_quant',
  'unsupported_tokenizer',
  'bad_argument',
  'context_full',
  'budget_too_small',
  'out_of_memory',
  'io_failed',
  'non_finite',
  'no_candidates',
  'cancelled',
  'internal',
] as const;

export const hostErrorCodes = [
  'network_failed', // no answer, or the connection broke
  'http_status', // the server answered with an error status
  'bad_body', // the server sent something that is not a model (HTML, JSON)
  'length_mismatch', // other length than announced
  'remote_changed', // the file at the URL is not the one whose download was begun
  'hash_mismatch', // bytes have another hash than was stated or recorded
  'range_damaged', // stored bytes are damaged, and could not be fetched again
  'storage_quota', // the browser does not grant enough storage
  'storage_busy', // another tab or another loaded model holds the file
  'storage_failed', // the store could not be read or written
  'worker_crashed', // a worker ended without being asked to
  'protocol_mismatch', // page and worker are of different versions
  'disposed', // the model was disposed
  'unsupported_browser', // the browser or the page lacks something the engine needs
  'busy', // the model is answering, and the request was not to wait
  'no_chat_template', // the file has no chat template
  'template_failed', // the chat template cannot be read, or failed, or refuses the chat
  'template_limit', // the chat template takes too many steps or makes too much text
] as const;

export type EngineErrorCode = (typeof engineErrorCodes)[number];
export type HostErrorCode = (typeof hostErrorCodes)[number];
export type ErrorCode = EngineErrorCode | HostErrorCode;

/** Names and numbers behind the message: sizes in bytes, counts, URLs. Plain data. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

export interface ErrorInit {
  details?: ErrorDetails;
  cause?: unknown;
}

/**
 * Base of all errors of this package.
 *
 * @example
 * try { await loadModel(url); } catch (error) {
 *   if (error instanceof LayerstreamError) console.log(error.code, error.message, error.details);
 * }
 */
export class LayerstreamError extends Error {
  /** Of this class are also the errors of another copy of this module: an app may bundle two, a worker may load two. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === LayerstreamError
      ? value instanceof Error && 'code' in value && isErrorCode(String(value.code))
      : Function.prototype[Symbol.hasInstance].call(this, value);
  }

  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, init: ErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = new.target.name;
    this.code = code;
    this.details = init.details ?? {};
  }
}

/**
 * The file is damaged or not a GGUF file.
 *
 * @example
 * if (error instanceof BadModelError) console.log('Not a model:', error.message);
 */
export class BadModelError extends LayerstreamError {}
/**
 * The file is fine, but needs something this engine does not have.
 *
 * @example
 * if (error instanceof UnsupportedModelError) console.log('Choose another model:', error.code);
 */
export class UnsupportedModelError extends LayerstreamError {}
/**
 * The budget or the device's memory is too small; `details` has the numbers when they are known.
 *
 * @example
 * if (error instanceof OutOfMemoryError) await loadModel(url, { memoryBudget: 'min' });
 */
export class OutOfMemoryError extends LayerstreamError {}
/**
 * The prompt does not fit the context: `details.promptTokens`, `details.contextLength`.
 *
 * @example
 * if (error instanceof ContextFullError) model.chat(messages, { contextOverflow: 'shift' });
 */
export class ContextFullError extends LayerstreamError {}
/**
 * The download failed; `details.url`, `details.status`.
 *
 * @example
 * if (error instanceof NetworkError) console.log(error.details['status']);
 */
export class NetworkError extends LayerstreamError {}
/**
 * `details.neededBytes`, `details.availableBytes`.
 *
 * @example
 * if (error instanceof StorageQuotaError) console.log('Delete a model:', await listModels());
 */
export class StorageQuotaError extends LayerstreamError {}
/**
 * A worker died. Every pending call is rejected with this; the next loadModel starts a new one.
 *
 * @example
 * if (error instanceof WorkerCrashedError) model = await loadModel(url);
 */
export class WorkerCrashedError extends LayerstreamError {}

/**
 * The chat template did not work. `details.raised`: its own words, when it refused the chat (raise_exception).
 *
 * @example
 * if (error instanceof ChatTemplateError) console.log(error.details['raised'] ?? error.message);
 */
export class ChatTemplateError extends LayerstreamError {}

type ErrorClass = new (code: ErrorCode, message: string, init?: ErrorInit) => LayerstreamError;

const classOfCode: Readonly<Record<ErrorCode, ErrorClass>> = {
  bad_magic: BadModelError,
  unsupported_version: UnsupportedModelError,
  bad_file: BadModelError,
  truncated: BadModelError,
  missing_key: BadModelError,
  bad_value: BadModelError,
  missing_tensor: BadModelError,
  shape_mismatch: BadModelError,
  unsupported_arch: UnsupportedModelError,
  unsupported_quant: UnsupportedModelError,
  unsupported_tokenizer: UnsupportedModelError,
  bad_argument: LayerstreamError,
  context_full: ContextFullError,
  budget_too_small: OutOfMemoryError,
  out_of_memory: OutOfMemoryError,
  io_failed: LayerstreamError,
  non_finite: BadModelError,
  no_candidates: LayerstreamError,
  cancelled: LayerstreamError,
  internal: LayerstreamError,
  network_failed: NetworkError,
  http_status: NetworkError,
  bad_body: NetworkError,
  length_mismatch: NetworkError,
  remote_changed: NetworkError,
  hash_mismatch: BadModelError,
  range_damaged: BadModelError,
  storage_quota: StorageQuotaError,
  storage_busy: LayerstreamError,
  storage_failed: LayerstreamError,
  worker_crashed: WorkerCrashedError,
  protocol_mismatch: LayerstreamError,
  disposed: LayerstreamError,
  unsupported_browser: LayerstreamError,
  busy: LayerstreamError,
  no_chat_template: UnsupportedModelError,
  template_failed: ChatTemplateError,
  template_limit: ChatTemplateError,
};

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(classOfCode, code);
}

/** The error of the class that belongs to `code`. An unknown code (a newer engine) becomes `internal`. */
export function createError(code: string, message: string, init: ErrorInit = {}): LayerstreamError {
  if (!isErrorCode(code)) {
    return new LayerstreamError('internal', `${code}: ${message}`, init);
  }
  const Class = classOfCode[code];
  return new Class(code, message, init);
}

/** Text of anything that was thrown, whichever realm it comes from. */
export function messageOf(error: unknown): string {
  return typeof error === 'object' &&
    error !== null &&
    'message' in error &&
    typeof error.message === 'string'
    ? error.message
    : String(error);
}

/** `name` of an Error or DOMException, whichever realm it comes from; '' for anything else. */
export function errorName(error: unknown): string {
  return typeof error === 'object' && error !== null && 'name' in error && typeof error.name === 'string'
    ? error.name
    : '';
}

export function isAbortError(error: unknown): boolean {
  return errorName(error) === 'AbortError';
}
