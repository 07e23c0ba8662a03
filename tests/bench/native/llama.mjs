// SPDX-License-Identifier: MIT
// One trial of llama.cpp on this machine's processor, in a process of its own:
//   node llama.mjs '{"model": FILE, "threads": 1, "ctx": 1024, "runs": [{"prompt": [ids], "n": 64}, ...]}'
// Prints { load: { ms }, runs: [{ ttftMs, decodeMs }] }. Greedy; the first run is not warm: give one to throw away.
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';

const { model: modelPath, threads, ctx, runs } = JSON.parse(process.argv[2] ?? '{}');

const llama = await getLlama({
  gpu: false,
  build: 'never',
  skipDownload: true,
  progressLogs: false,
  logLevel: LlamaLogLevel.error,
  maxThreads: 0,
});
const began = performance.now();
const model = await llama.loadModel({ modelPath, gpuLayers: 0, useMmap: true });
const loadMs = performance.now() - began;
const context = await model.createContext({
  contextSize: ctx,
  batchSize: 512,
  threads: { ideal: threads, min: threads },
  flashAttention: true,
});
const sequence = context.getSequence();

async function measure({ prompt, n }) {
  await sequence.clearHistory();
  const start = performance.now();
  let [first, last, count] = [0, 0, 0];
  for await (const _ of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
    last = performance.now();
    first ||= last;
    count += 1;
    if (count === n) break;
  }
  if (count !== n) throw new Error(`${count} of ${n} tokens came`);
  return { ttftMs: first - start, decodeMs: last - first };
}

const results = [];
for (const run of runs) results.push(await measure(run));
console.log(JSON.stringify({ load: { ms: loadMs }, runs: results }));
await llama.dispose();
process.exit(0); // it leaves timers behind
