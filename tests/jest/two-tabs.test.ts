// SPDX-License-Identifier: MIT
// Two tabs want the same model: one downloads, the other hears how far it is and goes on when the first one ends,
// however it ends.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { deferred } from '#web/async.js';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { modelBytes } from '../conformance/store-suite.js';
import { codeOf, pause, thrownBy, within } from './support/assertions.js';
import { testRangeBytes } from './support/download.js';
import { FakeOpfs } from './support/fake-opfs.js';
import { FakeOrigin, type FakeTab } from './support/fake-tabs.js';
import { ModelServer, RangedFile } from './support/model-server.js';
import { StorageTab, type Acquired } from './support/storage-tab.js';

/** Of one download. */
const connections = 3;
const bytes = modelBytes(2_000_000);

for (const [variant, readOnlyMode] of [
  ['where handles for reading are shared (Chromium)', true],
  ['where every handle is exclusive (Firefox)', false],
] as const) {
  describe(variant, () => {
    let folder: string;
    let opfs: FakeOpfs;
    let origin: FakeOrigin;
    let server: ModelServer;
    let file: RangedFile;
    let url: string;
    let open: StorageTab[];

    beforeEach(async () => {
      folder = mkdtempSync(path.join(os.tmpdir(), 'layerstream-test-'));
      opfs = new FakeOpfs(folder, { readOnlyMode });
      origin = new FakeOrigin();
      server = await ModelServer.start();
      file = new RangedFile(bytes, { bytesPerSecond: 2e6 });
      url = server.on('/m.gguf', file.answer);
      open = [];
    });
    afterEach(async () => {
      open.forEach((tab) => tab.close());
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    function newTab(): { storage: StorageTab; shared: FakeTab; die(): void } {
      const [shared, files] = [origin.tab(), opfs.beside()];
      const storage = new StorageTab(files, { tabs: shared });
      open.push(storage);
      const die = (): void => {
        shared.kill();
        setTimeout(() => storage.kill(), 60); // browsers free handles a moment later than locks
      };
      return { storage, shared, die };
    }

    /** The second tab's load, and when it has heard of half of the bytes. */
    function following(tab: StorageTab): { loading: Promise<Acquired>; half: Promise<void>; seen: number[] } {
      const [half, seen]: [ReturnType<typeof deferred<void>>, number[]] = [deferred<void>(), []];
      const loading = tab.acquire(url, {}, undefined, ({ loadedBytes, totalBytes }) => {
        expect(totalBytes).toBe(bytes.length);
        seen.push(loadedBytes);
        if (loadedBytes > bytes.length / 2) {
          half.resolve();
        }
      });
      loading.catch(() => undefined);
      return { loading, half: within(10_000, half.promise, 'half of the download'), seen };
    }

    async function expectWhole(tab: StorageTab, { modelId }: Acquired): Promise<void> {
      await tab.follow(modelId);
      expect(Buffer.compare(await tab.read(modelId, 0, bytes.length), bytes)).toBe(0);
      expect(await tab.page.call('list', {})).toMatchObject({ models: [{ state: 'complete' }] });
    }

    function expectFewAgain(): void {
      expect(file.timesSent.every((times) => times >= 1)).toBe(true);
      expect(file.sentBytes - bytes.length).toBeLessThanOrEqual(connections * 2 * testRangeBytes);
    }

    test('one tab downloads, the other follows: every byte once, both read the same', async () => {
      const [first, second] = [newTab(), newTab()];
      const downloaded = await first.storage.acquire(url);
      const { loading, half, seen } = following(second.storage);
      await half;
      const followed = await loading;
      await expectWhole(second.storage, followed);
      await expectWhole(first.storage, downloaded);
      expect(followed).toMatchObject({ storage: 'opfs', isWhole: true });
      expect(file.timesSent.every((times) => times === 1)).toBe(true);
      expect(seen).toEqual([...seen].sort((a, b) => a - b));
      expect(new Set(seen).size).toBeGreaterThan(3);
    });

    test('the first tab lets the model go half way: the other goes on', async () => {
      const [first, second] = [newTab(), newTab()];
      const { modelId } = await first.storage.acquire(url);
      const { loading, half } = following(second.storage);
      await half;
      await first.storage.release(modelId);
      await expectWhole(second.storage, await loading);
      expectFewAgain();
    });

    test('the first tab dies half way: the other goes on', async () => {
      const [first, second] = [newTab(), newTab()];
      await first.storage.acquire(url);
      const { loading, half } = following(second.storage);
      await half;
      first.die();
      await expectWhole(second.storage, await loading);
      expectFewAgain();
    });

    test('the first tab fails: the other hears why, and has it try again', async () => {
      let gone = false;
      server.on('/m.gguf', (request, response) =>
        gone ? void response.socket?.destroy() : file.answer(request, response),
      );
      const [first, second] = [newTab(), newTab()];
      const downloaded = await first.storage.acquire(url);
      const { loading, half } = following(second.storage);
      await half;
      gone = true;
      server.breakConnections();
      expect(await codeOf(() => within(10_000, loading))).toBe('network_failed');
      expect(await codeOf(() => second.storage.acquire(url))).toBe('network_failed');
      gone = false;
      await expectWhole(second.storage, await second.storage.acquire(url));
      await expectWhole(first.storage, downloaded);
      expectFewAgain();
    });

    test('whoever stops waiting rejects with the reason; the first tab goes on', async () => {
      const [first, second] = [newTab(), newTab()];
      const downloaded = await first.storage.acquire(url);
      const abort = new AbortController();
      const loading = second.storage.acquire(url, {}, abort.signal);
      loading.catch(() => undefined);
      await pause(50);
      expect(origin.waiting).toBe(1);
      abort.abort(new Error('enough'));
      expect(await thrownBy(() => within(1_000, loading))).toMatchObject({ message: 'enough' });
      await pause(20);
      expect(origin.waiting).toBe(0);
      await expectWhole(first.storage, downloaded);
    });

    test('a plan does not wait for a download elsewhere, and leaves nothing', async () => {
      server.on('/m.gguf', new RangedFile(bytes, { bytesPerSecond: 8e5 }).answer);
      const [first, second] = [newTab(), newTab()];
      const downloaded = await first.storage.acquire(url);
      const planned = await second.storage.acquire(url, { fetch: 'demand' });
      expect(planned.isWhole).toBe(false);
      const head = await second.storage.read(planned.modelId, 0, 1000);
      expect(Buffer.compare(head, bytes.subarray(0, 1000))).toBe(0);
      await second.storage.release(planned.modelId);
      await expectWhole(first.storage, downloaded);
      await expectWhole(second.storage, await second.storage.acquire(url));
    });

    test('tabs that open a whole model at the same time need neither each other nor a network', async () => {
      const first = newTab();
      await expectWhole(first.storage, await first.storage.acquire(url));
      const requests = file.requests;
      const others = [newTab(), newTab(), newTab()];
      const opened = await Promise.all(
        others.map(({ storage }, index) => storage.acquire(url, { fetch: index === 0 ? 'demand' : 'all' })),
      );
      expect(opened.map(({ isWhole }) => isWhole)).toEqual([true, true, true]);
      expect(file.requests).toBe(requests);
    });
  });
}
