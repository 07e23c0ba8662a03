// SPDX-License-Identifier: MIT
// A slow line: all answers together get `bytesPerSecond`, whatever their number.
import { openSync, closeSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseRange } from '../../../scripts/lib/byte-range.mjs';

const CHUNK = 64 << 10;

/** An `intercept` of the static server: files of `folder` under `prefix`, with ranges. */
export function throttled(prefix, folder, bytesPerSecond) {
  let free = 0; // when the line is free again
  const send = async (response, chunk) => {
    free = Math.max(free, performance.now()) + (chunk.length / bytesPerSecond) * 1000;
    const wait = free - performance.now();
    if (wait > 4) await new Promise((resolve) => setTimeout(resolve, wait));
    if (!response.write(chunk))
      await new Promise((resolve) => {
        const goOn = () => resolve(response.off('drain', goOn).off('close', goOn));
        response.on('drain', goOn).on('close', goOn);
      });
  };
  return async (request, response) => {
    if (!request.url.startsWith(prefix)) return false;
    const name = path.join(folder, path.basename(request.url));
    const { size } = statSync(name);
    const range = parseRange(request.headers.range, size);
    const { start, end } = range ?? { start: 0, end: size - 1 };
    response.writeHead(range ? 206 : 200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': end - start + 1,
      'Accept-Ranges': 'bytes',
      ETag: `"${size}"`,
      ...(range ? { 'Content-Range': `bytes ${start}-${end}/${size}` } : {}),
    });
    const file = openSync(name, 'r');
    try {
      for (let at = start; at <= end && !response.destroyed && request.method === 'GET';) {
        const chunk = Buffer.alloc(Math.min(CHUNK, end + 1 - at));
        at += readSync(file, chunk, 0, chunk.length, at);
        await send(response, chunk);
      }
    } finally {
      closeSync(file);
      response.end();
    }
    return true;
  };
}
