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

/** The file's name without its ending, and without the count of a split model. */
export function labelOfUrl(url: string): string {
  const path = new URL(url, document.baseURI).pathname;
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/(-00001-of-\d{5})?\.gguf$/i, '');
  return decode(name) || url;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
