// SPDX-License-Identifier: MIT
// Where a model can come from, as people write it: a web address, or a repository of Hugging Face, with the file or
// without.

import type { Source } from '../state.js';

export type Address = { kind: 'source'; source: Source } | { kind: 'repository'; repository: string };

const HOST = 'https://huggingface.co/';
const REPOSITORY = /^(?:https:\/\/(?:www\.)?(?:huggingface\.co|hf\.co)\/)?([\w.-]+\/[\w.-]+)\/?$/;
/** owner/repository/path.gguf, with what the site's own addresses have between. */
const FILE =
  /^(?:https:\/\/(?:www\.)?(?:huggingface\.co|hf\.co)\/)?([\w.-]+\/[\w.-]+)\/(?:(?:blob|resolve)\/([^/\s]+)\/)?(\S+\.gguf)(?:\?\S*)?$/i;

export function fileAddress(repository: string, file: string, revision = 'main'): string {
  const path = file.split('/').map(encodeURIComponent).join('/');
  return `${HOST}${repository}/resolve/${encodeURIComponent(revision)}/${path}`;
}

/** Null if the text is none of these. Paths that begin with a slash or a dot are addresses of this site. */
export function readAddress(text: string): Address | null {
  if (text === '' || /\s/.test(text)) return null;
  const isPath = /^\.{0,2}\//.test(text);
  const [, fileRepository, revision, file] = (isPath ? null : FILE.exec(text)) ?? [];
  const isOurs = text.startsWith('https://') || !/^[\w-]+(\.[\w-]+)+\//.test(text);
  if (fileRepository !== undefined && file !== undefined && isOurs) {
    return sourceOf(fileAddress(fileRepository, decode(file), revision));
  }
  const [, repository] = (isPath ? null : REPOSITORY.exec(text)) ?? [];
  if (repository !== undefined && isOurs) return { kind: 'repository', repository };
  try {
    const url =
      /^https?:/i.test(text) || isPath ? new URL(text, document.baseURI) : new URL(`https://${text}`);
    return sourceOf(url.href);
  } catch {
    return null;
  }
}

function sourceOf(url: string): Address {
  return { kind: 'source', source: { kind: 'url', url, label: labelOfUrl(url) } };
}

/** Whether a model of the store was copied from a file: then nothing of it can be downloaded. */
export function isImported(url: string): boolean {
  return url.startsWith('import:');
}

const fileName = (url: string): string => {
  const { pathname } = new URL(url, document.baseURI);
  return decode(pathname.slice(pathname.lastIndexOf('/') + 1));
};

/** What its files are called: one, or the parts of a split model, which the name of the first one counts. */
export function partNames(url: string): string[] {
  const name = fileName(url) || 'model.gguf';
  const [, stem = '', count = ''] = /^(.+)-00001-of-(\d{5})\.gguf$/i.exec(name) ?? [];
  if (count === '') return [name];
  return Array.from({ length: Number(count) }, (_, part) => {
    return `${stem}-${String(part + 1).padStart(5, '0')}-of-${count}.gguf`;
  });
}

/** The file's name without its ending, and without the count of a split model. */
export function labelOfUrl(url: string): string {
  return fileName(url).replace(/(-00001-of-\d{5})?\.gguf$/i, '') || url;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
