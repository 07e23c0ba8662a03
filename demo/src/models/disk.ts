// SPDX-License-Identifier: MIT
// What this site may keep on this device, and what it keeps.

export interface Disk {
  usedBytes: number;
  freeBytes: number;
}

/** Null if the browser does not say. */
export async function readDisk(): Promise<Disk | null> {
  const storage: StorageManager | undefined = navigator.storage;
  if (!storage) return null;
  try {
    const { usage = 0, quota = 0 } = await storage.estimate();
    return { usedBytes: usage, freeBytes: Math.max(0, quota - usage) };
  } catch {
    return null;
  }
}
