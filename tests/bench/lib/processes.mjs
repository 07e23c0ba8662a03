// SPDX-License-Identifier: MIT
// Memory and processor time of a browser's process tree (Linux: /proc).
import { readdirSync, readFileSync } from 'node:fs';

function processes() {
  const all = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').split(/[\0 ]/);
      all.push({
        pid: Number(name),
        parent: Number(fields[1]),
        jiffies: Number(fields[11]) + Number(fields[12]),
        command,
      });
    } catch {
      // It ended meanwhile.
    }
  }
  return all;
}

/** The browser's first process, by its profile folder. */
export function findBrowser(profile) {
  const own = processes().filter(
    ({ command }) =>
      command.includes(`--user-data-dir=${profile}`) && !command.some((word) => word.startsWith('--type=')),
  );
  const pids = new Set(own.map(({ pid }) => pid));
  return (own.find(({ parent }) => !pids.has(parent)) ?? own[0])?.pid ?? null;
}

function tree(root) {
  const all = processes();
  const members = new Set([root]);
  for (let grew = true; grew;) {
    grew = false;
    for (const { pid, parent } of all) {
      if (members.has(parent) && !members.has(pid)) {
        members.add(pid);
        grew = true;
      }
    }
  }
  return all.filter(({ pid }) => members.has(pid));
}

const kilobytes = (text, key) => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);

/** Bytes of the tree's renderers: proportional share now, peak resident size since they began. */
export function rendererMemory(root) {
  let [pss, peak] = [0, 0];
  for (const { pid, command } of tree(root)) {
    if (!command.includes('--type=renderer')) continue;
    try {
      pss += kilobytes(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss') * 1024;
      peak = Math.max(peak, kilobytes(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmHWM') * 1024);
    } catch {
      // It ended meanwhile.
    }
  }
  return { pss, peak };
}

/** Processor time so far, in jiffies: of the machine, the part that was busy, and the tree's own. */
export function processorTime(root = null) {
  const fields = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]
    .trim()
    .split(/\s+/)
    .slice(1, 9)
    .map(Number);
  const all = fields.reduce((sum, value) => sum + value, 0);
  const own = root === null ? 0 : tree(root).reduce((sum, { jiffies }) => sum + jiffies, 0);
  return { all, busy: all - fields[3] - fields[4], own };
}

/** Waits until the machine is nearly idle, at most `seconds`; returns the busy share seen last. */
export async function calm(seconds) {
  let share = 0;
  for (let i = 0; i < Math.max(1, seconds); ++i) {
    const before = processorTime();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const after = processorTime();
    share = (after.busy - before.busy) / Math.max(1, after.all - before.all);
    if (share < 0.12) break;
  }
  return share;
}
