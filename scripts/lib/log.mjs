// SPDX-License-Identifier: MIT
// Progress of the doors: every line carries the time since the start; a step that takes long says so every
// 15 seconds, with the last line its program printed, so that a silent terminal never means "hangs?".
const started = performance.now();
const HEARTBEAT_MS = 15_000;

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const clock = () => `[${seconds(performance.now() - started).padStart(8)}]`;

export function log(message) {
  for (const line of String(message).split('\n')) console.log(`${clock()} ${line}`);
}

/** Runs `work(note)`; `note(line)` sets what the heartbeat shows. */
export async function step(name, work) {
  const begin = performance.now();
  let last = '';
  log(`${name} ...`);
  const heartbeat = setInterval(() => {
    log(`${name}: still running, ${seconds(performance.now() - begin)}${last ? ` - ${last}` : ''}`);
  }, HEARTBEAT_MS);
  try {
    const result = await work((line) => {
      last = line.trim().slice(0, 120);
    });
    log(`${name}: done in ${seconds(performance.now() - begin)}`);
    return result;
  } catch (error) {
    log(`${name}: FAILED after ${seconds(performance.now() - begin)}`);
    throw error;
  } finally {
    clearInterval(heartbeat);
  }
}
