// SPDX-License-Identifier: MIT
// A small server for static files, with byte ranges and the headers that make a page cross-origin isolated.
// Used by `npm start` and by the tests, which watch its `requests` and may play faults through `intercept`.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { parseRange } from './byte-range.mjs';
import { contentType } from './mime.mjs';

export const ISOLATION_HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

export const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "style-src 'self' 'unsafe-inline'",
  'connect-src *',
  "img-src 'self' data: blob:",
].join('; ');

export const DEFAULT_HEADERS = {
  ...ISOLATION_HEADERS,
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
};

const READ_BYTES = 1 << 20; // models are gigabytes: fewer, larger reads

/** Path inside a root as clean parts, or null for anything that could leave it or names a hidden file. */
function cleanPath(pathname) {
  let decoded;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    return null;
  }
  if (decoded.includes('\0') || decoded.includes('\\')) return null;
  const parts = decoded.split('/').filter((part) => part !== '');
  return parts.some((part) => part.startsWith('.')) ? null : parts;
}

function plain(res, status, text, headers = {}) {
  res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', ...headers });
  res.end(res.req.method === 'HEAD' ? undefined : `${text}\n`);
}

/** A condition on the file's version: `*`, a list of entity tags (weak ones compare equal), or a date. */
const tagMatches = (header, etag) =>
  header.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));

async function sendFile(req, res, file, info) {
  const { size, mtimeMs } = info;
  const etag = `"${size.toString(16)}-${Math.floor(mtimeMs).toString(16)}"`;
  const lastModified = new Date(mtimeMs).toUTCString();
  const headers = {
    ETag: etag,
    'Last-Modified': lastModified,
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'no-cache',
  };

  const ifNoneMatch = req.headers['if-none-match'];
  if (ifNoneMatch !== undefined && tagMatches(ifNoneMatch, etag)) return res.writeHead(304, headers).end();

  const ifRange = req.headers['if-range'];
  const sameVersion = ifRange === undefined || ifRange === etag || ifRange === lastModified;
  const range = req.method === 'GET' && sameVersion ? parseRange(req.headers.range, size) : undefined;
  if (range === null)
    return plain(res, 416, 'range not satisfiable', { ...headers, 'Content-Range': `bytes */${size}` });

  const { start, end } = range ?? { start: 0, end: size - 1 };
  headers['Content-Type'] = contentType(file);
  headers['Content-Length'] = end - start + 1;
  if (range) headers['Content-Range'] = `bytes ${start}-${end}/${size}`;
  res.writeHead(range ? 206 : 200, headers);
  if (req.method === 'HEAD' || size === 0) return res.end();
  pipeline(createReadStream(file, { start, end, highWaterMark: READ_BYTES }), res, () => {}); // a reader that leaves is no error
}

/**
 * root: folder served at `/`; extraRoots: { '/models/': folder }; headers: added to every answer (replacing the
 * defaults of the same name; undefined removes one); intercept(req, res): return true to take over a request.
 * Links inside a root are followed: whoever may place one there owns the folder.
 * Result: { server, requests, listen(port, host), close() }; requests lists { method, url, range } in order.
 */
export function createStaticServer({ root, headers = {}, extraRoots = {}, intercept }) {
  const requests = [];
  const allHeaders = Object.entries({ ...DEFAULT_HEADERS, ...headers }).filter(
    ([, value]) => value !== undefined,
  );
  const roots = [...Object.entries(extraRoots), ['/', root]];

  async function answer(req, res) {
    const { pathname, search } = new URL(req.url, 'http://localhost');
    for (const [name, value] of allHeaders) res.setHeader(name, value);
    if (intercept && (await intercept(req, res))) return;
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return plain(res, 405, 'method not allowed', { Allow: 'GET, HEAD' });

    const [prefix, folder] = roots.find(([start]) => pathname.startsWith(start));
    const parts = cleanPath(pathname.slice(prefix.length));
    if (!parts) return plain(res, 404, 'not found');
    let file = path.join(folder, ...parts);
    let info = await stat(file).catch(() => null);
    if (info?.isDirectory()) {
      if (!pathname.endsWith('/')) return plain(res, 301, 'moved', { Location: `${pathname}/${search}` });
      file = path.join(file, 'index.html');
      info = await stat(file).catch(() => null);
    }
    if (!info?.isFile()) return plain(res, 404, 'not found');
    await sendFile(req, res, file, info);
  }

  const server = http.createServer((req, res) => {
    requests.push({ method: req.method, url: req.url, range: req.headers.range });
    answer(req, res).catch((error) => {
      if (!res.headersSent) plain(res, 400, `bad request: ${error.message}`);
      else res.destroy();
    });
  });

  return {
    server,
    requests,
    /** Resolves to { port, url }; port 0 picks a free one. Rejects with the system's error (code EADDRINUSE). */
    listen: (port = 0, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          const actual = server.address().port;
          resolve({ port: actual, url: `http://localhost:${actual}/` });
        });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
