// SPDX-License-Identifier: MIT
// Runs before the first paint, so that a chosen theme does not flash in. The rest is in src/theme.ts.
try {
  const theme = localStorage.getItem('layerstream-theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch {
  // No storage: the system's preference decides.
}
