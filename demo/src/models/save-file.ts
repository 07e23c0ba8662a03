// SPDX-License-Identifier: MIT
// A file on the person's disk to write a stream to: where they choose, if the browser can ask, else among the downloads.

import { downloadBlob } from '../ui/download.js';

interface SavePicker {
  showSaveFilePicker(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
}

const hasPicker = (scope: object): scope is SavePicker => 'showSaveFilePicker' in scope;

/** null: the person thought better of it. */
export async function openFileToSave(name: string): Promise<WritableStream<Uint8Array> | null> {
  if (!hasPicker(window)) return downloadStream(name);
  try {
    const handle = await window.showSaveFilePicker({ suggestedName: name });
    return await handle.createWritable();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    throw error;
  }
}

/** Gathers a Blob, which browsers keep on disk when it is large, and hands it over when the stream has ended. */
function downloadStream(name: string): WritableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => controller.enqueue(new Uint8Array(chunk)),
  });
  new Response(readable).blob().then(
    (blob) => downloadBlob(name, blob),
    () => undefined, // whoever writes hears of it
  );
  return writable;
}
