// SPDX-License-Identifier: MIT
// Between messages and values. The only file with type assertions: what arrives on a port is unknown to the
// compiler; the handshake has checked that both ends were built from the same method maps, and the outer shape is
// checked here, so params, results, progress and chunks are taken at their declared types.

import { createError, errorName, isAbortError, LayerstreamError, messageOf } from '../errors.js';
import type { ToClient, ToDispatcher, WireError } from './messages.js';
import type { MethodMap } from './methods.js';

const toDispatcherTypes: ReadonlySet<string> = new Set(['hello', 'request', 'pull', 'cancel']);
const toClientTypes: ReadonlySet<string> = new Set(['hello', 'result', 'error', 'progress', 'chunk']);

function hasShape(data: unknown, types: ReadonlySet<string>): boolean {
  if (typeof data !== 'object' || data === null || !('type' in data) || typeof data.type !== 'string') {
    return false;
  }
  if (!types.has(data.type)) {
    return false;
  }
  const number = data.type === 'hello' ? 'version' : 'id';
  return number in data && typeof (data as Record<string, unknown>)[number] === 'number';
}

/** null: not a message of this protocol (other libraries may share a worker's port). */
export function decodeToDispatcher<M extends MethodMap<M>>(data: unknown): ToDispatcher<M> | null {
  return hasShape(data, toDispatcherTypes) ? (data as ToDispatcher<M>) : null;
}

export function decodeToClient<M extends MethodMap<M>>(data: unknown): ToClient<M> | null {
  return hasShape(data, toClientTypes) ? (data as ToClient<M>) : null;
}

/** A value of the other end at the type its method declares. */
export function trusted<T>(value: unknown): T {
  return value as T;
}

/** Keeps what survives a structured clone. */
function plainDetails(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(details)) {
    const kind = typeof value;
    if (value === null || kind === 'string' || kind === 'number' || kind === 'boolean' || kind === 'bigint') {
      plain[key] = value;
    } else if (kind === 'object') {
      plain[key] = JSON.stringify(value);
    }
  }
  return plain;
}

export function encodeError(error: unknown): WireError {
  if (error instanceof LayerstreamError) {
    const details = plainDetails(error.details);
    if (error.cause !== undefined) {
      details['cause'] = messageOf(error.cause);
    }
    return { code: error.code, message: error.message, details };
  }
  if (isAbortError(error)) {
    return { code: 'AbortError', message: messageOf(error), details: {} };
  }
  return { code: 'internal', message: messageOf(error), details: { name: errorName(error) } };
}

export function decodeError(wire: WireError): Error {
  if (wire.code === 'AbortError') {
    return new DOMException(wire.message, 'AbortError');
  }
  const { cause, ...details } = wire.details;
  return createError(wire.code, wire.message, cause === undefined ? { details } : { details, cause });
}
