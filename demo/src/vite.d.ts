// SPDX-License-Identifier: MIT
// What vite replaces when it builds the page.
interface ImportMeta {
  readonly env: { readonly PROD: boolean };
}
