// SPDX-License-Identifier: MIT
// loadModel, listModels and deleteModel over a host. One storage worker serves all models of a page; it is started
// when first needed, and anew after it died.

import { createError } from '../errors.js';
import type { EngineSettings } from '../protocol/data.js';
import type { AcquireSource, EngineMethods, StorageMethods } from '../protocol/methods.js';
import { chooseEngine } from './choose-engine.js';
import { Connection, watchByLock, type Host } from './host.js';
import { stringAt } from './json.js';
import { LoadedModel } from './model.js';
import { specialTokensOf } from './special-tokens.js';
import type { LoadOptions, Model, ModelSource, StoredModel } from './types.js';

export interface PackageApi {
  loadModel(source: ModelSource, options?: LoadOptions): Promise<Model>;
  listModels(): Promise<StoredModel[]>;
  deleteModel(url: string | URL): Promise<boolean>;
}

type Acquired = StorageMethods['acquire']['result'];

const defaultBudgetBytes = 2 * 2 ** 30;

async function settingsOf(options: LoadOptions, host: Host): Promise<EngineSettings> {
  const {
    memoryBudget = defaultBudgetBytes,
    contextLength = 0,
    kvType = 'f16',
    attention = 'trained',
    preTokenizer = '',
  } = options;
  const { unitBytes = 0, threads = 0 } = options;
  if (memoryBudget !== 'min' && !(memoryBudget > 0)) {
    throw createError('bad_argument', `memoryBudget is ${memoryBudget}: a number of bytes, or 'min'`);
  }
  for (const [name, value] of Object.entries({ contextLength, unitBytes, threads })) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw createError('bad_argument', `${name} is ${value}`, { details: { [name]: value } });
    }
  }
  const budgetBytes = memoryBudget === 'min' ? 0 : memoryBudget === Infinity ? -1 : Math.floor(memoryBudget);
  const build = await chooseEngine(options, host);
  return { ...build, contextLength, budgetBytes, kvType, attention, unitBytes, preTokenizer };
}

export function createApi(host: Host): PackageApi {
  let storage: Connection<StorageMethods> | null = null;

  function storageConnection(): Connection<StorageMethods> {
    if (storage === null || storage.crashed) {
      storage = new Connection<StorageMethods>(host.startStorage(), 'storage');
      void watchByLock(storage, host.locks, 'storage');
    }
    return storage;
  }

  function absolute(url: string | URL): string {
    let parsed: URL;
    try {
      parsed = new URL(url, host.baseUrl);
    } catch (error) {
      throw createError('bad_argument', `"${String(url)}" is not an URL`, { cause: error });
    }
    parsed.hash = '';
    return parsed.href;
  }

  function acquireSource(source: ModelSource): AcquireSource {
    if (typeof source === 'string' || source instanceof URL) {
      return { kind: 'url', url: absolute(source) };
    }
    return { kind: 'files', files: source instanceof Blob ? [source] : source };
  }

  async function openEngine(
    weights: Connection<StorageMethods>,
    acquired: Acquired,
    settings: EngineSettings,
    options: LoadOptions,
  ): Promise<{ engine: Connection<EngineMethods>; opened: EngineMethods['open']['result'] }> {
    const engine = new Connection<EngineMethods>(host.startEngine(), 'engine');
    // Without its weights a model is lost.
    weights.onCrash((error) => engine.crash(error.message, error), engine.ended);
    void watchByLock(engine, host.locks, 'engine');
    const { port1, port2 } = new MessageChannel();
    try {
      await weights.client.call('attach', { port: port1 }, { transfer: [port1] });
      const opened = await engine.client.call(
        'open',
        { storagePort: port2, modelId: acquired.modelId, partBytes: acquired.partBytes, settings },
        { transfer: [port2], signal: options.signal, onProgress: options.onProgress },
      );
      return { engine, opened };
    } catch (error) {
      engine.close(createError('disposed', 'the model could not be opened'));
      throw error;
    }
  }

  async function loadModel(source: ModelSource, options: LoadOptions = {}): Promise<Model> {
    const { signal, onProgress } = options;
    signal?.throwIfAborted();
    const settings = await settingsOf(options, host);
    const from = acquireSource(source);
    const weights = storageConnection();
    if (from.kind === 'url') {
      host.persist();
    }
    const give = (acquired: Acquired): Promise<unknown> =>
      weights.client.call('release', { modelId: acquired.modelId }).catch(() => undefined);
    const acquired = await weights.client.call(
      'acquire',
      { source: from, headers: { ...options.headers } },
      { signal, onProgress, onOrphan: (late) => void give(late) },
    );
    try {
      const { engine, opened } = await openEngine(weights, acquired, settings, options);
      const fileBytes = acquired.partBytes.reduce((sum, bytes) => sum + bytes, 0);
      onProgress?.({ phase: 'ready', loadedBytes: fileBytes, totalBytes: fileBytes });
      const info = {
        name: stringAt(opened.details, 'name') || nameOf(from),
        architecture: stringAt(opened.details, 'architecture'),
        fileBytes,
        contextLength: opened.contextLength,
        vocabSize: opened.vocabSize,
        specialTokens: specialTokensOf(opened.details),
        blockCount: opened.blockCount,
        storage: acquired.storage,
        storageReason: acquired.storageReason,
        engineBuild: settings.build,
        threads: settings.threads,
        details: opened.details,
      };
      return new LoadedModel(info, engine, async () => void (await give(acquired)), options.chatTemplate);
    } catch (error) {
      await give(acquired);
      throw error;
    }
  }

  return {
    loadModel,
    listModels: async () => (await storageConnection().client.call('list', {})).models,
    deleteModel: async (url) =>
      (await storageConnection().client.call('remove', { url: absolute(url) })).removed,
  };
}

/** The file's name, where the model has none of its own. */
function nameOf(source: AcquireSource): string {
  const path = source.kind === 'url' ? new URL(source.url).pathname : (source.files[0]?.name ?? '');
  return decodeURIComponent(path.slice(path.lastIndexOf('/') + 1)).replace(/\.gguf$/, '');
}
