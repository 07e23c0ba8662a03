// SPDX-License-Identifier: MIT
// loadModel, planModel, listModels and deleteModel over a host. One storage worker serves all models of a page; it is started
// when first needed, and anew after it died.

import { abortable } from '../async.js';
import { createError } from '../errors.js';
import { loaded } from '../lazy.js';
import type { EngineSettings } from '../protocol/data.js';
import type { AcquireOptions, AcquireSource, EngineMethods, StorageMethods } from '../protocol/methods.js';
import { budgetBytesOf } from './budget.js';
import { chooseEngine } from './choose-engine.js';
import { EngineStart } from './engine-start.js';
import { Connection, watchByLock, type Host } from './host.js';
import { stringAt } from './json.js';
import { LoadedModel, type OpenedEngine } from './model.js';
import { specialTokensOf } from './special-tokens.js';
import type { Storage } from './stored-models.js';
import type {
  LoadOptions,
  Model,
  ModelInfo,
  ModelPlan,
  ModelSource,
  PlanOptions,
  StoredModel,
} from './types.js';

export interface PackageApi extends Storage {
  loadModel(source: ModelSource, options?: LoadOptions): Promise<Model>;
  planModel(source: ModelSource, options?: PlanOptions): Promise<ModelPlan>;
  listModels(): Promise<StoredModel[]>;
  deleteModel(url: string | URL): Promise<boolean>;
}

type Acquired = StorageMethods['acquire']['result'];
type Opened = EngineMethods['open']['result'];

const defaultBudgetBytes = 2 * 2 ** 30;
const defaultProbeMs = 2000;

async function settingsOf(options: LoadOptions, host: Host): Promise<EngineSettings> {
  const {
    memoryBudget = defaultBudgetBytes,
    contextLength = 0,
    kvType = 'f16',
    attention = 'trained',
    preTokenizer = '',
  } = options;
  const { unitBytes = 0, threads = 0 } = options;
  const budgetBytes = budgetBytesOf(memoryBudget);
  for (const [name, value] of Object.entries({ contextLength, unitBytes, threads })) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw createError('bad_argument', `${name} is ${value}`, { details: { [name]: value } });
    }
  }
  if (!['f16', 'f32', 'q8'].includes(kvType)) {
    throw createError('bad_argument', `kvType is ${kvType}, expected f16, f32 or q8`, {
      details: { kvType },
    });
  }
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

  /** Starts an engine, which gets ready while `use` finds out about the weights. If `use` fails, the engine is ended. */
  async function withEngine<T>(
    weights: Connection<StorageMethods>,
    settings: EngineSettings,
    use: (start: EngineStart) => Promise<T>,
  ): Promise<T> {
    // Without its weights a model is lost.
    const start = new EngineStart(host, settings, (engine) =>
      weights.onCrash((error) => engine.crash(error.message, error), engine.ended),
    );
    try {
      return await use(start);
    } catch (error) {
      start.end(createError('disposed', 'the model could not be opened'));
      throw error;
    }
  }

  /** The engine's end of a port to the weights. */
  async function portTo(weights: Connection<StorageMethods>): Promise<MessagePort> {
    const { port1, port2 } = new MessageChannel();
    await weights.client.call('attach', { port: port1 }, { transfer: [port1] });
    return port2;
  }

  async function open(
    start: EngineStart,
    weights: Connection<StorageMethods>,
    { modelId, isWhole, partBytes }: Acquired,
    settings: EngineSettings,
    { signal, onProgress }: Pick<LoadOptions, 'signal' | 'onProgress'>,
  ): Promise<OpenedEngine> {
    const engine = await abortable(start.ready(), signal);
    const storagePort = await portTo(weights);
    const call = { storagePort, modelId, isWhole, partBytes, settings };
    const opened = await engine.client.call('open', call, { transfer: [storagePort], signal, onProgress });
    return { engine, opened };
  }

  /** Another engine for the same weights. */
  function reopen(
    weights: Connection<StorageMethods>,
    acquired: Acquired,
    settings: EngineSettings,
  ): Promise<OpenedEngine> {
    return withEngine(weights, settings, (start) => open(start, weights, acquired, settings, {}));
  }

  /** `give` gives the weights back. */
  async function acquire(
    weights: Connection<StorageMethods>,
    what: { source: AcquireSource; options: AcquireOptions },
    { signal, onProgress }: Pick<LoadOptions, 'signal' | 'onProgress'>,
  ): Promise<{ acquired: Acquired; give: () => Promise<void> }> {
    if (what.source.kind === 'url') {
      host.persist();
    }
    const release = async ({ modelId }: Acquired): Promise<void> => {
      await weights.client.call('release', { modelId }).catch(() => undefined);
    };
    const acquired = await weights.client.call('acquire', what, {
      signal,
      onProgress,
      onOrphan: (late) => void release(late),
    });
    return { acquired, give: () => release(acquired) };
  }

  async function loadModel(source: ModelSource, options: LoadOptions = {}): Promise<Model> {
    const { signal, onProgress, waitFor = 'header', chatTemplate } = options;
    signal?.throwIfAborted();
    const settings = await settingsOf(options, host);
    const what = { source: acquireSource(source), options: acquireOptions(options, 'all') };
    const weights = storageConnection();
    return withEngine(weights, settings, async (start) => {
      const { acquired, give } = await acquire(weights, what, options);
      const following = new AbortController();
      const stored = weights.client
        .call('follow', { modelId: acquired.modelId }, { signal: following.signal, onProgress })
        .then(() => undefined);
      stored.catch(() => undefined); // whoever asks for it hears of it
      const giveBack = async (): Promise<void> => {
        following.abort(createError('disposed', 'the model was disposed before all of it was stored'));
        await give();
      };
      try {
        if (waitFor === 'stored') {
          await abortable(stored, signal);
        }
        const { engine, opened } = await open(start, weights, acquired, settings, options);
        const fileBytes = sum(acquired.partBytes);
        onProgress?.({ phase: 'ready', loadedBytes: fileBytes, totalBytes: fileBytes });
        return new LoadedModel(infoOf(what.source, acquired, settings, opened), engine, {
          stored,
          giveBack,
          reopen: (budgetBytes) => reopen(weights, acquired, { ...settings, budgetBytes }),
          ...(chatTemplate === undefined ? {} : { chatTemplate }),
        });
      } catch (error) {
        await giveBack();
        throw error;
      }
    });
  }

  async function planModel(source: ModelSource, options: PlanOptions = {}): Promise<ModelPlan> {
    const { signal, probeMs = defaultProbeMs } = options;
    signal?.throwIfAborted();
    const settings = await settingsOf(options, host);
    const what = { source: acquireSource(source), options: acquireOptions(options, 'demand') };
    const weights = storageConnection();
    return withEngine(weights, settings, async (start) => {
      const { acquired, give } = await acquire(weights, what, options);
      try {
        const { modelId, isWhole, partBytes } = acquired;
        const engine = await abortable(start.ready(), signal);
        const storagePort = await portTo(weights);
        const call = { storagePort, modelId, partBytes, settings, probeMs, probeReads: isWhole };
        const { details, rates } = await engine.client.call('plan', call, {
          transfer: [storagePort],
          signal,
        });
        engine.close(createError('disposed', 'the plan is made'));
        const name = stringAt(details, 'name') || nameOf(what.source);
        const { modelPlan } = await loaded(import('./model-plan.js'));
        return modelPlan(details, rates, { name, fileBytes: sum(partBytes) });
      } finally {
        await give();
      }
    });
  }

  return {
    loadModel,
    planModel,
    storageClient: () => storageConnection().client,
    absolute,
    listModels: async () => (await storageConnection().client.call('list', {})).models,
    deleteModel: async (url) =>
      (await storageConnection().client.call('remove', { url: absolute(url) })).removed,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function infoOf(
  source: AcquireSource,
  { partBytes, storage, storageReason }: Acquired,
  { build, threads }: EngineSettings,
  { details, contextLength, vocabSize, blockCount }: Opened,
): ModelInfo {
  return {
    name: stringAt(details, 'name') || nameOf(source),
    architecture: stringAt(details, 'architecture'),
    fileBytes: sum(partBytes),
    contextLength,
    vocabSize,
    specialTokens: specialTokensOf(details),
    blockCount,
    storage,
    storageReason,
    engineBuild: build,
    threads,
    details,
  };
}

function acquireOptions(
  { headers, verifyReads = 'first', sha256 = [] }: LoadOptions,
  fetch: AcquireOptions['fetch'],
): AcquireOptions {
  const hashes = typeof sha256 === 'string' ? [sha256] : [...sha256];
  const wrong = hashes.find((hash) => !/^[0-9a-f]{64}$/i.test(hash));
  if (wrong !== undefined) {
    throw createError('bad_argument', `"${wrong}" is no SHA-256 in hexadecimal`, {
      details: { sha256: wrong },
    });
  }
  return { headers: { ...headers }, fetch, verifyReads, sha256: hashes };
}

/** The file's name, where the model has none of its own. */
function nameOf(source: AcquireSource): string {
  const path = source.kind === 'url' ? new URL(source.url).pathname : (source.files[0]?.name ?? '');
  return decodeURIComponent(path.slice(path.lastIndexOf('/') + 1)).replace(/\.gguf$/, '');
}
