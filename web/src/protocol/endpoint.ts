// SPDX-License-Identifier: MIT
// What the protocol needs of a Worker, a DedicatedWorkerGlobalScope or a MessagePort, so that tests can join
// both ends with a MessageChannel.

export interface EndpointMessage {
  readonly data: unknown;
}

/** messageerror: something was sent that the browser cannot hand over. */
type EndpointEvent = 'message' | 'messageerror';

export interface Endpoint {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(type: EndpointEvent, listener: (event: EndpointMessage) => void): void;
  removeEventListener(type: EndpointEvent, listener: (event: EndpointMessage) => void): void;
  /** MessagePort only: deliver what is queued. */
  start?(): void;
}
