// SPDX-License-Identifier: MIT
// manifest.json of a stored model (docs/formats/store.md). Parsing believes nothing: anything odd is null, and a
// model without a manifest is not complete.

export const manifestFormat = 1;

export interface ManifestPart {
  file: string;
  url: string;
  bytes: number;
  etag: string | null;
}

export interface Manifest {
  format: number;
  url: string;
  complete: boolean;
  parts: ManifestPart[];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsePart(value: unknown): ManifestPart | null {
  if (!isObject(value)) {
    return null;
  }
  const { file, url, bytes, etag } = value;
  if (typeof file !== 'string' || typeof url !== 'string' || typeof bytes !== 'number') {
    return null;
  }
  if (!Number.isSafeInteger(bytes) || bytes < 0 || (etag !== null && typeof etag !== 'string')) {
    return null;
  }
  return { file, url, bytes, etag };
}

export function parseManifest(text: string): Manifest | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value) || value['format'] !== manifestFormat || !Array.isArray(value['parts'])) {
    return null;
  }
  const { url, complete } = value;
  if (typeof url !== 'string' || typeof complete !== 'boolean') {
    return null;
  }
  const parts: ManifestPart[] = [];
  for (const item of value['parts']) {
    const part = parsePart(item);
    if (part === null) {
      return null;
    }
    parts.push(part);
  }
  return { format: manifestFormat, url, complete: complete && parts.length > 0, parts };
}

export function formatManifest(manifest: Manifest): string {
  return JSON.stringify(manifest, null, 1);
}
