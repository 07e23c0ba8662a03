// SPDX-License-Identifier: MIT
// How fast this tab reads its disk at best: a synchronous handle, large reads, the file in the page cache.
const NAME = 'bench-raw-read';

self.onmessage = async ({ data: { bytes, blockBytes, seconds } }) => {
  const root = await navigator.storage.getDirectory();
  const handle = await (await root.getFileHandle(NAME, { create: true })).createSyncAccessHandle();
  const block = new Uint8Array(blockBytes);
  for (let at = 0; at < blockBytes; at += 4096) block[at] = at; // no page of zeros
  for (let at = 0; at < bytes; at += blockBytes) handle.write(block, { at });
  const passes = [];
  for (const ends = performance.now() + seconds * 1000; performance.now() < ends || passes.length < 2;) {
    const began = performance.now();
    for (let at = 0; at < bytes; at += blockBytes) handle.read(block, { at });
    passes.push(bytes / ((performance.now() - began) / 1000));
  }
  handle.close();
  await root.removeEntry(NAME);
  passes.sort((a, b) => a - b);
  self.postMessage({ bytesPerSecond: passes[Math.floor(passes.length / 2)] });
};
