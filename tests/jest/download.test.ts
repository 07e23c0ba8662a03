// SPDX-License-Identifier: MIT
// Downloads from a local server that is good, or fails in every way we know: nothing wrong is ever stored, every failure
// has its own code, what was verified stays, and the next attempt fetches only the rest.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { partUrls } from '#web/download/parts.js';
import type { DownloadProgress } from '#web/download/progress.js';
import { NetworkError, StorageQuotaError } from '#web/errors.js';
import type { ModelStore } from '#web/storage/model-store.js';
import { modelBytes } from '../conformance/store-suite.js';
import { codeOf, pause, thrownBy, within } from './support/assertions.js';
import {
  get as getFrom,
  memoryStore,
  stored as storedIn,
  testRangeBytes,
  verifiedBytes,
  type GetOptions,
} from './support/download.js';
import {
  broken,
  ModelServer,
  RangedFile,
  stalled,
  whole,
  type Answer,
  type RangedOptions,
} from './support/model-server.js';

let server: ModelServer;
let store: ModelStore;
beforeAll(async () => {
  server = await ModelServer.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  store = memoryStore();
  server.requests.length = 0;
});

const bytes = modelBytes(5_000_000);
const get = (url: string, options: GetOptions = {}): Promise<void> => getFrom(store, url, options);
const stored = (url: string): Promise<Uint8Array[] | null> => storedIn(store, url);

async function expectStored(url: string, expected: Uint8Array = bytes): Promise<void> {
  expect(Buffer.compare((await stored(url))?.[0] ?? new Uint8Array(), expected)).toBe(0);
}

/** Nothing that a later attempt could believe. */
async function expectNothingBelieved(url: string): Promise<void> {
  expect(await verifiedBytes(store, url)).toBe(0);
}

function ranged(
  path: string,
  options: RangedOptions = {},
  of: Uint8Array = bytes,
): { url: string; file: RangedFile } {
  const file = new RangedFile(of, options);
  return { url: server.on(path, file.answer), file };
}

/** Everything once, and at most one range per connection again. */
function expectFewAgain(file: RangedFile, ranges: number): void {
  expect(file.timesSent.every((times) => times >= 1)).toBe(true);
  expect(file.sentBytes - file.bytes.length).toBeLessThanOrEqual(ranges * testRangeBytes);
}

describe('a server that knows ranges', () => {
  test('sends every byte once, over several connections', async () => {
    const big = modelBytes(12_000_000);
    const { url, file } = ranged('/big.gguf', { bytesPerSecond: 60e6 }, big);
    await get(url);
    await expectStored(url, big);
    expect(file.timesSent.every((times) => times === 1)).toBe(true);
    expect(file.mostAtOnce).toBeGreaterThan(1);
  });

  test('that breaks every connection is asked for the rest, from the byte where it broke', async () => {
    const { url, file } = ranged('/breaks.gguf', { fault: () => 500_000 });
    await get(url);
    await expectStored(url);
    expect(file.requests).toBeGreaterThan(9);
    expect(file.sentBytes).toBeLessThan(bytes.length * 1.02);
  });

  test('that breaks at the k-th request costs nothing but that request, for every k', async () => {
    const big = modelBytes(2_000_000);
    for (let k = 1; k <= 4; ++k) {
      const { url, file } = ranged(
        `/k${k}.gguf`,
        { fault: (request) => (request === k ? 100_000 : null) },
        big,
      );
      await get(url);
      await expectStored(url, big);
      expect(file.sentBytes).toBeLessThan(big.length + testRangeBytes);
    }
  });

  test('that is gone in the middle: what was verified stays, and the next attempt fetches only the rest', async () => {
    let gone = true;
    const { url, file } = ranged('/gone.gguf', {
      fault: (request) =>
        !gone ? null : request === 1 ? 2_000_000 : (_, response) => void response.socket?.destroy(),
    });
    expect(await thrownBy(() => get(url))).toMatchObject({ code: 'network_failed' });
    const kept = await verifiedBytes(store, url);
    expect(kept).toBeGreaterThan(1_900_000 - testRangeBytes);
    gone = false;
    const before = file.sentBytes;
    await get(url);
    await expectStored(url);
    expect(file.sentBytes - before).toBe(bytes.length - kept);
    expectFewAgain(file, 1);
  });

  test('asks again with If-Range, and a changed file is noticed by it', async () => {
    let request = 0;
    const seen: (string | undefined)[] = [];
    const first = new RangedFile(bytes, { fault: () => 1_000_000 });
    const second = new RangedFile(modelBytes(5_000_000, 7), { etag: '"v2"' });
    const url = server.on('/changes.gguf', (incoming, response) => {
      seen.push(incoming.headers['if-range'] as string | undefined);
      request += 1;
      (request === 1 ? first : second).answer(incoming, response);
    });
    expect(await thrownBy(() => get(url))).toMatchObject({
      code: 'remote_changed',
      details: { etag: '"v2"' },
    });
    expect(seen).toEqual([undefined, '"v1"']);
  });

  const changes: Record<string, [RangedOptions, RangedOptions, Uint8Array]> = {
    'by its etag, where If-Range is ignored': [{}, { etag: '"v2"' }, modelBytes(5_000_000, 7)],
    'by its length': [{ etag: null }, { etag: null }, modelBytes(5_000_001, 7)],
    'by its date, where there are no etags': [
      { etag: null, lastModified: 'Mon, 01 Jan 2024 00:00:00 GMT' },
      { etag: null, lastModified: 'Tue, 02 Jan 2024 00:00:00 GMT' },
      modelBytes(5_000_000, 7),
    ],
  };
  for (const [what, [before, after, fresh]] of Object.entries(changes)) {
    test(`a changed file is noticed ${what}`, async () => {
      const first = new RangedFile(bytes, { ...before, fault: () => 1_000_000 });
      const second = new RangedFile(fresh, after);
      let request = 0;
      const url = server.on('/changes.gguf', (incoming, response) => {
        delete incoming.headers['if-range'];
        request += 1;
        (request === 1 ? first : second).answer(incoming, response);
      });
      expect(await codeOf(() => get(url))).toBe('remote_changed');
    });
  }

  test('a server that is busy is asked again when it says, and not before', async () => {
    const times: number[] = [];
    const { url } = ranged('/busy.gguf', {
      fault: (request) => {
        times.push(performance.now());
        return request === 2
          ? (_, response) => void response.writeHead(429, { 'retry-after': '1' }).end()
          : request === 1
            ? 1_000_000
            : null;
      },
    });
    await get(url);
    await expectStored(url);
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(950);
  });

  test('Retry-After of hours is not waited for', async () => {
    const { url } = ranged('/hours.gguf', {
      fault: () => (_, response) => void response.writeHead(503, { 'retry-after': '7200' }).end(),
    });
    expect(await thrownBy(() => get(url))).toMatchObject({
      code: 'http_status',
      details: { status: 503, retryAfterMs: 7_200_000 },
    });
  });

  test('500 and 503 in between are tried again, 404 and 416 are not', async () => {
    for (const [status, code] of [
      [500, null],
      [503, null],
      [404, 'http_status'],
      [416, 'http_status'],
    ] as const) {
      const { url, file } = ranged(`/status-${status}.gguf`, {
        fault: (request) =>
          request === 1
            ? 1_000_000
            : request === 2
              ? (_, response) => void response.writeHead(status).end()
              : null,
      });
      if (code === null) {
        await get(url);
        await expectStored(url);
      } else {
        expect(await thrownBy(() => get(url))).toMatchObject({ code, details: { status } });
        expect(file.requests).toBeLessThanOrEqual(3);
        expect(await verifiedBytes(store, url)).toBeGreaterThan(900_000 - testRangeBytes);
      }
    }
  });

  test('a connection that falls silent is given up and begun again', async () => {
    const silent: Answer = (_, response) => {
      response.writeHead(206, { 'content-range': `bytes 1000000-${bytes.length - 1}/${bytes.length}` });
      response.write(bytes.subarray(1_000_000, 1_100_000));
    };
    const { url } = ranged('/silent.gguf', {
      fault: (request) => (request === 1 ? 1_000_000 : request === 2 ? silent : null),
    });
    await get(url, { retry: { attempts: 3, firstDelayMs: 1, maxDelayMs: 1, stallMs: 300 } });
    await expectStored(url);
  });

  const wrong: Record<string, [headers: Record<string, string | number>, status: number, code: string]> = {
    'another range than was asked for': [{ 'content-range': 'bytes 0-99/5000000' }, 206, 'bad_body'],
    'a range that reaches further': [{ 'content-range': 'bytes 1000000-5999999/6000000' }, 206, 'bad_body'],
    'a range of a longer file': [{ 'content-range': 'bytes 1000000-1000099/6000000' }, 206, 'remote_changed'],
    'HTML as a range': [
      { 'content-range': 'bytes 1000000-1000099/5000000', 'content-type': 'text/html' },
      206,
      'bad_body',
    ],
    'a compressed range': [
      { 'content-range': 'bytes 1000000-1000099/5000000', 'content-encoding': 'br' },
      206,
      'bad_body',
    ],
  };
  for (const [what, [headers, status, code]] of Object.entries(wrong)) {
    test(`${what} is ${code}, and not stored`, async () => {
      const big = bytes.slice();
      const { url } = ranged(
        '/wrong.gguf',
        {
          fault: (request) =>
            request === 1
              ? 1_000_000
              : (_, response) => void response.writeHead(status, headers).end(Buffer.alloc(100, 0x3c)),
        },
        big,
      );
      expect(await codeOf(() => get(url))).toBe(code);
      server.on('/wrong.gguf', new RangedFile(bytes).answer);
      await get(url);
      await expectStored(url);
    });
  }

  test('a redirect is followed', async () => {
    const { url } = ranged('/target.gguf');
    const from = server.on(
      '/redirect.gguf',
      (_, response) => void response.writeHead(302, { location: url }).end(),
    );
    await get(from);
    await expectStored(from);
  });

  test('a range that does not say which it is is not believed: the whole is asked for', async () => {
    const url = server.on('/untold.gguf', (request, response) => {
      if (request.headers.range === undefined) {
        whole(bytes)(request, response);
      } else {
        response.writeHead(206, { 'content-length': 100 }).end(Buffer.alloc(100, 0x3c));
      }
    });
    await get(url);
    await expectStored(url);
  });

  test('reads are served in the order they are needed, long before the end', async () => {
    const { url, file } = ranged('/order.gguf', { bytesPerSecond: 8e6 }, modelBytes(16_000_000));
    let early: number | null = null;
    await get(url, {
      onLive: (live) => {
        const into = new Uint8Array(100_000);
        void live.read(0, 15_000_000, into).then(() => {
          expect(Buffer.compare(into, file.bytes.subarray(15_000_000, 15_100_000))).toBe(0);
          early = live.files.verifiedBytes;
        });
      },
    });
    expect(early).not.toBeNull();
    expect(early ?? 0).toBeLessThan(12_000_000);
    expect(file.timesSent.every((times) => times === 1)).toBe(true);
  });
});

describe('a server that knows no ranges', () => {
  test('the bytes are stored once, unchanged, with one request', async () => {
    const url = server.on('/good.gguf', whole(bytes));
    await get(url);
    await expectStored(url);
    expect(server.requests).toEqual(['GET /good.gguf']);
  });

  test('progress grows to the total and ends there', async () => {
    const url = server.on('/progress.gguf', whole(bytes));
    const seen: DownloadProgress[] = [];
    await get(url, { onProgress: (progress) => seen.push(progress) });
    expect(seen.at(-1)).toEqual({ loadedBytes: bytes.length, totalBytes: bytes.length });
    const loaded = seen.map((progress) => progress.loadedBytes);
    expect(loaded).toEqual([...loaded].sort((a, b) => a - b));
    expect(new Set(seen.map((progress) => progress.totalBytes))).toEqual(new Set([bytes.length]));
  });

  test('progress tells everything that arrived before the server fell silent', async () => {
    const url = server.on('/silence.gguf', stalled(bytes, 3_000_000));
    const abort = new AbortController();
    const all = new Promise<void>((resolve) => {
      const options = {
        signal: abort.signal,
        onProgress: ({ loadedBytes }: DownloadProgress) => loadedBytes === 3_000_000 && resolve(),
      };
      get(url, options).catch(() => undefined);
    });
    await within(5_000, all, 'the report of the last bytes');
    abort.abort();
    await pause(20);
    expect(await verifiedBytes(store, url)).toBe(Math.floor(3_000_000 / testRangeBytes) * testRangeBytes);
  });

  test('headers are sent', async () => {
    const url = server.on('/gated.gguf', whole(bytes));
    await get(url, { headers: { authorization: 'Bearer token' } });
    expect(server.lastHeaders.authorization).toBe('Bearer token');
  });

  test('sends all again when it broke: what was verified stays in between', async () => {
    let breaks = true;
    const url = server.on('/breaks.gguf', (request, response) =>
      (breaks ? broken(bytes, 3_000_000) : whole(bytes))(request, response),
    );
    expect(await codeOf(() => get(url))).toBe('network_failed');
    expect(await verifiedBytes(store, url)).toBeGreaterThan(2_900_000 - testRangeBytes);
    breaks = false;
    await get(url);
    await expectStored(url);
  });

  test('serves reads as soon as their bytes have come', async () => {
    const file = new RangedFile(bytes, { bytesPerSecond: 4e6 });
    const url = server.on('/slow.gguf', (request, response) => {
      delete request.headers.range;
      file.answer(request, response);
    });
    let early = Infinity;
    await get(url, {
      onLive: (live) =>
        void live.read(0, 100_000, new Uint8Array(1000)).then(() => (early = live.files.verifiedBytes)),
    });
    expect(early).toBeLessThan(3_000_000);
    expect(file.timesSent.every((times) => times === 1)).toBe(true);
  });

  test('a length that is not announced is accepted', async () => {
    const url = server.on('/chunked.gguf', (_, response) => {
      response.writeHead(200);
      response.write(bytes.subarray(0, 1_000_000));
      response.end(bytes.subarray(1_000_000));
    });
    await get(url);
    expect((await stored(url))?.[0]?.length).toBe(bytes.length);
  });

  test('every part of a split model is fetched, each once', async () => {
    const parts = [modelBytes(3_000_000, 1), modelBytes(100, 2), modelBytes(2_500_000, 3)];
    parts.forEach((part, index) => server.on(`/s-0000${index + 1}-of-00003.gguf`, whole(part)));
    const seen: DownloadProgress[] = [];
    const url = server.url('/s-00001-of-00003.gguf');
    await get(url, { onProgress: (progress) => seen.push(progress) });
    const got = await stored(url);
    expect(got?.map((part, index) => Buffer.compare(part, parts[index] ?? new Uint8Array()))).toEqual([
      0, 0, 0,
    ]);
    expect(server.requests.filter((line) => line.startsWith('GET'))).toEqual([
      'GET /s-00001-of-00003.gguf',
      'GET /s-00002-of-00003.gguf',
      'GET /s-00003-of-00003.gguf',
    ]);
    expect(new Set(seen.map((progress) => progress.totalBytes))).toEqual(new Set([5_500_100]));
  });
});

describe('a bad answer', () => {
  const html = Buffer.from('<!doctype html><title>Sign in</title>');
  const cases: Record<string, [Parameters<ModelServer['on']>[1], string]> = {
    'an HTML page with status 200': [whole(html, { 'content-type': 'text/html; charset=utf-8' }), 'bad_body'],
    'JSON with status 200': [
      whole(Buffer.from('{"error":"gated"}'), { 'content-type': 'application/json' }),
      'bad_body',
    ],
    'an HTML page that claims to be bytes': [whole(html), 'bad_magic'],
    'an empty body': [whole(new Uint8Array(0)), 'bad_magic'],
    'two bytes': [whole(modelBytes(2)), 'bad_magic'],
    'status 500': [(_, response) => void response.writeHead(500).end(bytes.subarray(0, 100)), 'http_status'],
    'status 401': [(_, response) => void response.writeHead(401).end(), 'http_status'],
    'status 204': [(_, response) => void response.writeHead(204).end(), 'bad_body'],
    'status 206 without a range': [
      (_, response) => void response.writeHead(206, { 'content-length': 100 }).end(bytes.subarray(0, 100)),
      'bad_body',
    ],
    'a connection that breaks before the first byte': [
      (request) => void request.socket.destroy(),
      'network_failed',
    ],
  };
  for (const [what, [answer, code]] of Object.entries(cases)) {
    test(`${what} is ${code} and nothing of it counts`, async () => {
      const url = server.on('/bad.gguf', answer);
      const error = await thrownBy(() => get(url));
      expect(error).toMatchObject({ code, details: { url } });
      if (code !== 'bad_magic') {
        expect(error).toBeInstanceOf(NetworkError);
      }
      await expectNothingBelieved(url);
      // The next attempt is not harmed by this one.
      server.on('/bad.gguf', whole(bytes));
      await get(url);
      expect((await stored(url))?.[0]?.length).toBe(bytes.length);
    });
  }

  test('status 404 names the status', async () => {
    expect(await thrownBy(() => get(server.url('/nowhere.gguf')))).toMatchObject({
      code: 'http_status',
      details: { status: 404 },
    });
    expect(await store.list()).toEqual([]);
  });

  test('a server that is not there is network_failed', async () => {
    const error = await thrownBy(() => get('http://127.0.0.1:9/m.gguf'));
    expect(error).toMatchObject({ code: 'network_failed' });
  });

  test('a length that contradicts the body is length_mismatch in both directions', async () => {
    for (const announced of [bytes.length - 10, bytes.length + 10]) {
      // Browsers and node cut such bodies themselves; a service worker or a custom fetch may not.
      const fetch = async (): Promise<Response> =>
        new Response(new Uint8Array(bytes), { headers: { 'content-length': String(announced) } });
      expect(await codeOf(() => get('https://models.example/m.gguf', { fetch }))).toBe('length_mismatch');
      expect(await stored('https://models.example/m.gguf')).toBeNull();
      await store.remove('https://models.example/m.gguf');
    }
  });

  test('a length that is no number is length_mismatch', async () => {
    const fetch = async (): Promise<Response> =>
      new Response(new Uint8Array(bytes), { headers: { 'content-length': '12, 12' } });
    expect(await codeOf(() => get('https://models.example/m.gguf', { fetch }))).toBe('length_mismatch');
  });

  test('with a content encoding, the announced length is not compared', async () => {
    const fetch = async (): Promise<Response> =>
      new Response(new Uint8Array(bytes), {
        headers: { 'content-length': '100', 'content-encoding': 'gzip' },
      });
    await get('https://models.example/m.gguf', { fetch });
  });

  test('one missing part is an error', async () => {
    server.on('/half-00001-of-00002.gguf', whole(bytes));
    expect(await codeOf(() => get(server.url('/half-00001-of-00002.gguf')))).toBe('http_status');
    expect(await stored(server.url('/half-00001-of-00002.gguf'))).toBeNull();
  });
});

describe('aborting', () => {
  test("in the middle rejects with the signal's reason and keeps what was verified", async () => {
    const url = server.on('/stalls.gguf', stalled(bytes, 3_000_000));
    const abort = new AbortController();
    const reason = new Error('changed my mind');
    const download = get(url, { signal: abort.signal });
    download.catch(() => undefined);
    await pause(100);
    abort.abort(reason);
    expect(await thrownBy(() => within(1_000, download))).toBe(reason);
    expect(await verifiedBytes(store, url)).toBeGreaterThan(0);
    server.on('/stalls.gguf', whole(bytes));
    await get(url);
  });

  test('before the answer, and before the request', async () => {
    const url = server.on('/silent.gguf', () => undefined);
    const abort = new AbortController();
    const download = get(url, { signal: abort.signal });
    download.catch(() => undefined);
    await pause(50);
    abort.abort();
    expect(await thrownBy(() => within(1_000, download))).toMatchObject({ name: 'AbortError' });
    server.requests.length = 0;
    await expect(get(url, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.requests).toEqual([]);
  });
});

describe('storage', () => {
  // Only the file system has a quota.
  beforeEach(() => void Object.defineProperty(store, 'kind', { value: 'opfs' }));

  test('too little of it is known before anything is written, with the numbers', async () => {
    const url = server.on('/big.gguf', whole(bytes));
    const error = await thrownBy(() =>
      get(url, { estimate: async () => ({ quota: 6_000_000, usage: 2_000_000 }) }),
    );
    expect(error).toBeInstanceOf(StorageQuotaError);
    expect(error).toMatchObject({
      code: 'storage_quota',
      details: {
        neededBytes: 5_000_000,
        availableBytes: 4_000_000,
        quotaBytes: 6_000_000,
        usageBytes: 2_000_000,
      },
    });
    expect(await store.list()).toEqual([]);
  });

  test('enough of it, or no estimate, goes on', async () => {
    const url = server.on('/big.gguf', whole(bytes));
    await get(url, { estimate: async () => ({ quota: 7_000_000, usage: 2_000_000 }) });
    await get(url, { estimate: async () => ({}) });
    await get(url, { estimate: () => Promise.reject(new Error('no estimate')) });
  });
});

describe('part names', () => {
  test('only the first part of a split model stands for all', () => {
    expect(partUrls('https://h/a-00001-of-00003.gguf?x=1')).toEqual([
      'https://h/a-00001-of-00003.gguf?x=1',
      'https://h/a-00002-of-00003.gguf?x=1',
      'https://h/a-00003-of-00003.gguf?x=1',
    ]);
    for (const single of [
      'https://h/a.gguf',
      'https://h/a-00002-of-00003.gguf',
      'https://h/a-00001-of-00001.gguf',
      'https://h/a-00001-of-00000.gguf',
      'https://h/a-00001-of-99999.gguf',
      'https://h/a-1-of-3.gguf',
    ]) {
      expect(partUrls(single)).toEqual([single]);
    }
  });
});
