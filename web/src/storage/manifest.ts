// SPDX-License-Identifier: MIT
// model.json of a stored model (docs/formats/store.md). Parsing believes nothing: anything odd is null, and a model
// without a manifest is not there. What is verified of it stands in the journal.

import type { PartInfo } from './store-types.js';

export const manifestFormat = 2;

export interface Manifest {
  format: typeof manifestFormat;
  url: string;
  /** Ties the journal to this manifest: 32 random bits. */
  generation: number;
  rangeBytes: number;
  parts: PartInfo[];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';

function parsePart(value: unknown): PartInfo | null {
  if (!isObject(value)) {
    return null;
  }
  const { url, bytes, etag, lastModified = null, sha256 = null } = value;
  if (typeof url !== 'string' || !isSize(bytes) || !isTextOrNull(etag)) {
    return null;
  }
  return isTextOrNull(lastModified) && isTextOrNull(sha256)
    ? { url, bytes, etag, lastModified, sha256 }
    : null;
}

function parseObject(text: string, format: number): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && value['format'] === format ? value : null;
  } catch {
    return null;
  }
}

function parseParts(value: unknown): PartInfo[] | null {
  const parts = Array.isArray(value) ? value.map(parsePart) : [];
  const good = parts.filter((part) => part !== null);
  return good.length > 0 && good.length === parts.length ? good : null;
}

export function parseManifest(text: string): Manifest | null {
  const value = parseObject(text, manifestFormat);
  const parts = parseParts(value?.['parts']);
  const { url, generation, rangeBytes } = value ?? {};
  if (typeof url !== 'string' || parts === null || !isSize(generation) || generation > 0xffffffff) {
    return null;
  }
  if (!isSize(rangeBytes) || rangeBytes < 64 || rangeBytes % 4 !== 0) {
    return null;
  }
  return { format: manifestFormat, url, generation, rangeBytes, parts };
}

export function formatManifest(manifest: Manifest): string {
  return JSON.stringify(manifest, null, 1);
}

/** manifest.json of format 1, which knew only complete models and no ranges. null unless it is complete. */
export function parseFormat1(text: string): { url: string; parts: PartInfo[] } | null {
  const value = parseObject(text, 1);
  const parts = parseParts(value?.['parts']);
  const { url, complete } = value ?? {};
  return typeof url === 'string' && parts !== null && complete === true ? { url, parts } : null;
}
