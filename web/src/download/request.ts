// SPDX-License-Identifier: MIT
// One request for a part of a model, or a range of it, and what may be believed of the answer: status, kind of body,
// range, length, validators. Nothing is read of the body here.

import { createError, isAbortError, LayerstreamError, messageOf } from '../errors.js';
import type { PartInfo } from '../storage/store-types.js';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface RequestOptions {
  headers?: Readonly<Record<string, string>>;
  fetch?: Fetch;
  /**
   * Of the page. Requests to others carry no If-Range: it would need the server's permission first (a CORS preflight).
   * Changes of the file are noticed by the answer's validators as well.
   */
  origin?: string;
}

export interface ByteRange {
  first: number;
  /** Inclusive, as in the header. */
  last: number;
}

export interface PartAnswer {
  response: Response;
  /** The range was understood (206). If not, the body is the whole part. */
  ranged: boolean;
  /** Bytes of the body; null: the server does not say. */
  bodyBytes: number | null;
  /** Bytes of the whole part; null: the server does not say. */
  totalBytes: number | null;
  etag: string | null;
  lastModified: string | null;
}

function networkError(
  code: 'network_failed' | 'http_status' | 'bad_body' | 'length_mismatch' | 'remote_changed',
) {
  return (message: string, details: Record<string, unknown>, cause?: unknown): LayerstreamError =>
    createError(code, message, { details, cause });
}
export const failed = networkError('network_failed');
export const badLength = networkError('length_mismatch');
const badStatus = networkError('http_status');
const badBody = networkError('bad_body');
const changed = networkError('remote_changed');

export async function request(
  url: string,
  init: RequestInit & { headers?: Record<string, string> },
  options: RequestOptions,
): Promise<Response> {
  const send: Fetch = options.fetch ?? ((target, how) => fetch(target, how));
  try {
    return await send(url, { ...init, headers: { ...options.headers, ...init.headers } });
  } catch (error) {
    init.signal?.throwIfAborted();
    throw isAbortError(error)
      ? error
      : failed(`${url} cannot be reached: ${messageOf(error)}`, { url }, error);
  }
}

function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) {
    return null;
  }
  const seconds = Number(text);
  const until = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(until) ? Math.max(0, until) : null;
}

/** Throws unless the response can be (a range of) a model. */
function checkKind(response: Response, url: string): void {
  const { status, headers } = response;
  if (status !== 200 && status !== 206) {
    const retryMs = retryAfterMs(headers);
    const details = { url, status, ...(retryMs === null ? {} : { retryAfterMs: retryMs }) };
    throw status >= 200 && status < 300
      ? badBody(`${url} was answered with status ${status}, without a model`, details)
      : badStatus(`${url} was answered with status ${status}`, details);
  }
  const contentType = headers.get('content-type') ?? '';
  if (/^\s*(text\/html|application\/(xhtml\+xml|json))\b/i.test(contentType)) {
    throw badBody(`${url} is not a model: the server sent ${contentType}`, { url, status, contentType });
  }
}

const isEncoded = (headers: Headers): boolean =>
  (headers.get('content-encoding') ?? 'identity') !== 'identity';

/** With a content encoding the length is that of the compressed bytes. */
function contentLength(headers: Headers, url: string): number | null {
  const text = headers.get('content-length');
  const bytes = isEncoded(headers) || text === null ? null : Number(text);
  if (bytes !== null && !Number.isSafeInteger(bytes)) {
    throw badLength(`${url}: the announced length is "${text}"`, { url, announced: text });
  }
  return bytes;
}

/** null: the answer does not say which range it is, or to us (cross-origin, not exposed). */
function contentRange(headers: Headers): (ByteRange & { total: number | null }) | null {
  const match = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headers.get('content-range') ?? '');
  return match === null
    ? null
    : { first: Number(match[1]), last: Number(match[2]), total: match[3] === '*' ? null : Number(match[3]) };
}

function readAnswer(response: Response, url: string, wanted: ByteRange | null): PartAnswer {
  checkKind(response, url);
  const { status, headers } = response;
  const validators = { etag: headers.get('etag'), lastModified: headers.get('last-modified') };
  if (status === 200) {
    const bytes = contentLength(headers, url);
    return { response, ranged: false, bodyBytes: bytes, totalBytes: bytes, ...validators };
  }
  const got = contentRange(headers);
  const details = { url, status, contentRange: headers.get('content-range') };
  if (wanted === null || got === null || isEncoded(headers)) {
    throw badBody(`${url} was answered with a range that cannot be told`, details);
  }
  if (got.first !== wanted.first || got.last > wanted.last || got.last < got.first) {
    throw badBody(
      `${url}: bytes ${wanted.first}-${wanted.last} were asked for, ${got.first}-${got.last} came`,
      { ...details, firstByte: wanted.first, lastByte: wanted.last },
    );
  }
  return {
    response,
    ranged: true,
    bodyBytes: got.last - got.first + 1,
    totalBytes: got.total,
    ...validators,
  };
}

/** Weak and strong validators of the same bytes compare equal. */
const opaque = (etag: string): string => etag.replace(/^W\//, '');

/** Throws remote_changed unless the answer is of the part that is being stored. */
export function checkSamePart(answer: PartAnswer, part: PartInfo): void {
  const { totalBytes, etag, lastModified } = answer;
  const otherLength = totalBytes !== null && totalBytes !== part.bytes;
  const otherTag = etag !== null && part.etag !== null && opaque(etag) !== opaque(part.etag);
  // Dates have only seconds and differ between mirrors: they count where there is no etag.
  const noTags = etag === null || part.etag === null;
  const otherDate =
    noTags && lastModified !== null && part.lastModified !== null && lastModified !== part.lastModified;
  if (otherLength || otherTag || otherDate) {
    throw changed(`${part.url} is another file than the one that was begun`, {
      url: part.url,
      bytes: totalBytes,
      expectedBytes: part.bytes,
      etag,
      expectedEtag: part.etag,
    });
  }
}

function ifRange(part: PartInfo | null, url: string, origin: string | undefined): Record<string, string> {
  const isStrong = part?.etag != null && !part.etag.startsWith('W/');
  const validator = isStrong ? part.etag : (part?.lastModified ?? null);
  const mayAsk = origin === undefined || new URL(url).origin === origin;
  return validator !== null && mayAsk ? { 'if-range': validator } : {};
}

/** Of `part`, if it is known already. A server that does not say which range it sends is asked for the whole. */
export async function requestPart(
  url: string,
  range: ByteRange | null,
  part: PartInfo | null,
  options: RequestOptions,
  signal: AbortSignal,
): Promise<PartAnswer> {
  const headers =
    range === null
      ? {}
      : { range: `bytes=${range.first}-${range.last}`, ...ifRange(part, url, options.origin) };
  const response = await request(url, { method: 'GET', headers, signal }, options);
  try {
    if (response.status === 206 && range !== null && response.headers.get('content-range') === null) {
      await response.body?.cancel();
      return await requestPart(url, null, part, options, signal);
    }
    const answer = readAnswer(response, url, range);
    if (part !== null) {
      checkSamePart(answer, part);
    }
    return answer;
  } catch (error) {
    await response.body?.cancel().catch(() => undefined);
    throw error;
  }
}

/** Size of a part without its bytes; null if the server does not tell. */
export async function sizeOf(
  url: string,
  options: RequestOptions,
  signal: AbortSignal,
): Promise<number | null> {
  const response = await request(url, { method: 'HEAD', signal }, options);
  // Some servers refuse HEAD.
  return response.ok ? readAnswer(response, url, null).totalBytes : null;
}
