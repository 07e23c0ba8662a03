// SPDX-License-Identifier: MIT
// The messages, derived from a method map. `id` numbers the calls of one client.
//
//   client                         dispatcher
//   hello ───────────────────────> hello            (versions are compared at both ends)
//   request(id, credits) ────────> progress* chunk* then result | error
//   pull(id, credits) ───────────>                  (as many more chunks may be sent)
//   cancel(id) ──────────────────>                  (the handler's signal aborts)

import type { MethodMap } from './methods.js';

export interface WireError {
  code: string;
  message: string;
  details: Readonly<Record<string, unknown>>;
}

type Names<M> = keyof M & string;

export interface HelloMessage {
  type: 'hello';
  version: number;
}
export type RequestMessage<M extends MethodMap<M>> = {
  [K in Names<M>]: { type: 'request'; id: number; method: K; params: M[K]['params']; credits: number };
}[Names<M>];
export interface PullMessage {
  type: 'pull';
  id: number;
  credits: number;
}
export interface CancelMessage {
  type: 'cancel';
  id: number;
}
export type ResultMessage<M extends MethodMap<M>> = {
  [K in Names<M>]: { type: 'result'; id: number; result: M[K]['result'] };
}[Names<M>];
export interface ErrorMessage {
  type: 'error';
  id: number;
  error: WireError;
}
export type ProgressMessage<M extends MethodMap<M>> = {
  [K in Names<M>]: { type: 'progress'; id: number; progress: M[K]['progress'] };
}[Names<M>];
export type ChunkMessage<M extends MethodMap<M>> = {
  [K in Names<M>]: { type: 'chunk'; id: number; chunk: M[K]['chunk'] };
}[Names<M>];

export type ToDispatcher<M extends MethodMap<M>> =
  HelloMessage | RequestMessage<M> | PullMessage | CancelMessage;
export type ToClient<M extends MethodMap<M>> =
  HelloMessage | ResultMessage<M> | ErrorMessage | ProgressMessage<M> | ChunkMessage<M>;
