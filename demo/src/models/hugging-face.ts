// SPDX-License-Identifier: MIT
// The GGUF files of a Hugging Face repository. Asked for only when a person names one.

import { problemFor } from '../ui/errors.js';
import type { Problem } from '../ui/errors.js';

export interface RepositoryFile {
  path: string;
  bytes: number;
}

/** Parts of split models after the first are left out: the first stands for all, with its own size only. */
export async function listFiles(repository: string): Promise<RepositoryFile[] | Problem> {
  const url = `https://huggingface.co/api/models/${repository}/tree/main?recursive=true`;
  let answer: unknown;
  try {
    const response = await fetch(url, { credentials: 'omit' });
    if (response.status === 401 || response.status === 404) {
      return problemFor('no_repository', `${repository}: status ${response.status}`);
    }
    if (!response.ok) return problemFor('list_failed', `${url}: status ${response.status}`);
    answer = await response.json();
  } catch (error) {
    return problemFor('list_failed', `${url}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const files = Array.isArray(answer) ? answer.flatMap((entry: unknown) => readEntry(entry) ?? []) : [];
  return files.length > 0 ? files : problemFor('no_gguf', repository);
}

function readEntry(entry: unknown): RepositoryFile | null {
  if (typeof entry !== 'object' || entry === null) return null;
  const path: unknown = Reflect.get(entry, 'path');
  const size: unknown = Reflect.get(entry, 'size');
  if (typeof path !== 'string' || !/\.gguf$/i.test(path)) return null;
  if (/-(?!00001)\d{5}-of-\d{5}\.gguf$/i.test(path)) return null;
  return { path, bytes: typeof size === 'number' ? size : 0 };
}
