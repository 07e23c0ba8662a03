// SPDX-License-Identifier: MIT
// Downloads from a local server that fails in every way we know: nothing wrong is ever stored as a model, every
// failure has its own code, and the next attempt works.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { downloadModel, type DownloadOptions, type DownloadProgress } from '#web/download/download-model.js';
import { partUrls } from '#web/download/parts.js';
import { NetworkError, StorageQuotaError } from '#web/errors.js';
import { MemoryStore } from '#web/storage/memory-store.js';
import { modelBytes } from '../conformance/store-suite.js';
import { codeOf, never, pause, thrownBy, within } from './support/assertions.js';
import { broken, ModelServer, stalled, whole } from './support/model-server.js';

let server: ModelServer;
let store: MemoryStore;
beforeAll(async () => {
  server = await ModelServer.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  store = new MemoryStore();
  server.requests.length = 0;
});

const bytes = modelBytes(5_000_000);

function get(url: string, options: Partial<DownloadOptions> = {}): Promise<void> {
  return within(20_000, downloadModel(store, url, { signal: never(), ...options }), 'the download');
}

async function stored(url: string): Promise<Uint8Array[] | null> {
  const reader = await store.open(url);
  if (reader === null) {
    return null;
  }
  const parts: Uint8Array[] = [];
  for (const [index, length] of reader.partBytes.entries()) {
    const part = new Uint8Array(length);
    await reader.read(index, 0, part);
    parts.push(part);
  }
  await reader.close();
  return parts;
}

async function expectNothingStored(): Promise<void> {
  expect(await store.list()).toEqual([]);
}

describe('a good server', () => {
  test('the bytes are stored once, unchanged, with one request', async () => {
    const url = server.on('/good.gguf', whole(bytes));
    await get(url);
    expect(Buffer.compare((await stored(url))?.[0] ?? new Uint8Array(), bytes)).toBe(0);
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
    await expectNothingStored();
  });

  test('headers are sent', async () => {
    const url = server.on('/gated.gguf', whole(bytes));
    await get(url, { headers: { authorization: 'Bearer token' } });
    expect(server.lastHeaders.authorization).toBe('Bearer token');
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
    'status 206 that nobody asked for': [
      (_, response) => void response.writeHead(206, { 'content-length': 100 }).end(bytes.subarray(0, 100)),
      'http_status',
    ],
    'a connection that breaks in the middle': [broken(bytes, 3_000_000), 'network_failed'],
    'a connection that breaks before the first byte': [
      (request) => void request.socket.destroy(),
      'network_failed',
    ],
    'a body shorter than announced': [broken(bytes, bytes.length - 1), 'network_failed'],
  };
  for (const [what, [answer, code]] of Object.entries(cases)) {
    test(`${what} is ${code} and stores nothing`, async () => {
      const url = server.on('/bad.gguf', answer);
      const error = await thrownBy(() => get(url));
      expect(error).toMatchObject({ code, details: { url } });
      if (code !== 'bad_magic') {
        expect(error).toBeInstanceOf(NetworkError);
      }
      await expectNothingStored();
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
    await expectNothingStored();
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
      await expectNothingStored();
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

  test('one missing part discards the parts before it', async () => {
    server.on('/half-00001-of-00002.gguf', whole(bytes));
    expect(await codeOf(() => get(server.url('/half-00001-of-00002.gguf')))).toBe('http_status');
    await expectNothingStored();
  });
});

describe('aborting', () => {
  test("in the middle rejects with the signal's reason and stores nothing", async () => {
    const url = server.on('/stalls.gguf', stalled(bytes, 3_000_000));
    const abort = new AbortController();
    const reason = new Error('changed my mind');
    const download = get(url, { signal: abort.signal });
    download.catch(() => undefined);
    await pause(100);
    abort.abort(reason);
    expect(await thrownBy(() => within(1_000, download))).toBe(reason);
    await expectNothingStored();
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
    await expectNothingStored();
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
