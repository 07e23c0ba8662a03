// SPDX-License-Identifier: MIT
// Loads the part of the storage worker that most visits do not need: their model is stored.

import { loaded } from '../lazy.js';

export const extras = (): Promise<typeof import('./storage-extras.js')> =>
  loaded(import('./storage-extras.js'));
