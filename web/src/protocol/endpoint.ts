// SPDX-License-Identifier: MIT
// What the protocol needs of a Worker, a DedicatedWorkerGlobalScope or a MessagePort, so that tests can join
// both ends with a MessageChannel.

export interface EndpointMessage {
  readonly data: unknown;
}

export interface Endpoint {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(type: 'message', listener: (event: EndpointMessage) => void): void;
  removeEventListener(type: 'message', listener: (event: EndpointMessage) => void): void;
  /** MessagePort only: deliver what is queued. */
  start?(): void;
}
