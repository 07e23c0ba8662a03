// SPDX-License-Identifier: MIT
// What the browser says of this site's storage as a whole.

import type { StorageUse } from './types.js';

/**
 * Numbers are null, and `persisted` false, where the browser does not tell.
 *
 * @example
 * const { usageBytes, quotaBytes } = await storageEstimate();
 */
export async function storageEstimate(): Promise<StorageUse> {
  const storage: StorageManager | undefined = globalThis.navigator?.storage;
  const { usage = null, quota = null } = (await storage?.estimate?.().catch(() => undefined)) ?? {};
  const persisted = (await storage?.persisted?.().catch(() => false)) ?? false;
  return { usageBytes: usage, quotaBytes: quota, persisted };
}

/**
 * Asks the browser not to remove models when space is short (Firefox asks the user). false: it may remove them.
 *
 * @example
 * if (!(await persistStorage())) console.log('the browser may remove models when space is short');
 */
export async function persistStorage(): Promise<boolean> {
  const storage: StorageManager | undefined = globalThis.navigator?.storage;
  return (await storage?.persist?.().catch(() => false)) ?? false;
}
