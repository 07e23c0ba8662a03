// SPDX-License-Identifier: MIT
// Starts other programs. Output is either captured (shown only when the program fails) or passed through.
import { spawn, spawnSync } from 'node:child_process';
import { root } from './paths.mjs';
import { Failure } from './failure.mjs';

const TAIL_LINES = 150;
const MAX_LINE = 2000;
const LEFTOVER_MS = 3000;
const children = new Set();

/** Each child leads its own process group, so that what it started ends with it. */
function signalGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has just ended by itself.
  }
}

export function stopChildren() {
  for (const child of children) signalGroup(child, 'SIGTERM');
}

/** Passes on whole lines, cut to a readable length: a crash in minified code prints all of it as one line. */
function lineWriter(stream) {
  let rest = '';
  const cut = (line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)} [...]` : line);
  return {
    write(chunk) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      if (lines.length > 0) stream.write(`${lines.map(cut).join('\n')}\n`);
    },
    end() {
      if (rest) stream.write(`${cut(rest)}\n`);
    },
  };
}

function exitReason({ timedOut, timeoutMs, signal, code }) {
  if (timedOut) return `took longer than ${timeoutMs / 1000} s`;
  return signal ? `ended by ${signal}` : `exit status ${code}`;
}

const lastLines = (text, count) => text.trimEnd().split('\n').slice(-count).join('\n');

/** Starts a program and resolves to { code, signal, timedOut, output, error } when it and its output ended. */
function finish(command, args, { cwd, env, timeoutMs, receive }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    children.add(child);
    const result = { code: 0, signal: null, timedOut: false, output: '', error: null };
    const done = (changes) => {
      clearTimeout(limit);
      clearTimeout(leftover);
      children.delete(child);
      resolve(Object.assign(result, changes));
    };
    const stop = () => {
      signalGroup(child, 'SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
    };
    let leftover;
    const onLimit = () => {
      result.timedOut = true;
      stop();
    };
    const limit = timeoutMs ? setTimeout(onLimit, timeoutMs) : undefined;
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (chunk) => {
        result.output += chunk;
        receive(name, chunk);
      });
    }
    child.on('error', (error) => done({ code: 127, error }));
    // A program left behind in the background would keep the pipes open, and us waiting, for ever.
    child.on('exit', () => {
      leftover = setTimeout(stop, LEFTOVER_MS);
    });
    child.on('close', (code, signal) => done({ code: result.timedOut ? 124 : (code ?? 128), signal }));
  });
}

/**
 * Runs a program to its end and returns { code, output }.
 * show: pass the output through as it comes ('stderr': only that stream); note: called with each line (for the
 * heartbeat; a line that arrives in pieces is several); allowFailure: return a non-zero code instead of throwing; timeoutMs: end it then (code 124).
 */
export async function run(command, args, options = {}) {
  const {
    show = false,
    note = () => {},
    allowFailure = false,
    timeoutMs = 0,
    env = process.env,
    cwd = root,
  } = options;
  const writers = {};
  if (show === true) writers.stdout = lineWriter(process.stdout);
  if (show) writers.stderr = lineWriter(process.stderr);
  const receive = (name, chunk) => {
    writers[name]?.write(chunk);
    chunk.trimEnd().split('\n').forEach(note);
  };
  const result = await finish(command, args, { cwd, env, timeoutMs, receive });
  for (const writer of Object.values(writers)) writer.end();

  const { code, output, error } = result;
  if (code === 0 || allowFailure) return { code, output };
  if (error) {
    const reason = error.code === 'ENOENT' ? 'program not found' : error.message;
    throw new Failure(`cannot start '${command}': ${reason}`);
  }
  const tail = show ? '' : `\n${lastLines(output, TAIL_LINES)}`;
  throw new Failure(`${[command, ...args].join(' ')}: ${exitReason({ ...result, timeoutMs })}${tail}`);
}

/** Output of a short command, or null if it cannot be run or fails. */
export function ask(command, args = [], env = process.env) {
  const result = spawnSync(command, args, { encoding: 'utf8', env, timeout: 30_000 });
  return result.status === 0 ? result.stdout.trim() : null;
}
