// SPDX-License-Identifier: MIT
// What is used of node. (Its own types would take the place of the browser's in every other file.)

declare module 'node:fs/promises' {
  interface FileHandle {
    read(into: Uint8Array, offset: number, bytes: number, position: number): Promise<{ bytesRead: number }>;
    close(): Promise<void>;
  }
  export function open(path: string): Promise<FileHandle>;
  export function readFile(path: URL): Promise<Uint8Array>;
  export function stat(path: string): Promise<{ size: number }>;
}
declare module 'node:os' {
  export function availableParallelism(): number;
}
declare module 'node:path' {
  export function basename(path: string): string;
}
declare module 'node:url' {
  export function fileURLToPath(url: URL): string;
}
declare module 'node:worker_threads' {
  export class Worker {
    constructor(url: URL);
    postMessage(message: unknown, transfer: readonly Transferable[]): void;
    on(event: 'message' | 'messageerror', listener: (data: unknown) => void): void;
    on(event: 'error', listener: (error: unknown) => void): void;
    on(event: 'exit', listener: (code: number) => void): void;
    off(event: 'message' | 'messageerror', listener: (data: unknown) => void): void;
    terminate(): Promise<number>;
  }
  export const parentPort: MessagePort | null;
}
