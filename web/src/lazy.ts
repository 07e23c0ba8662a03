// SPDX-License-Identifier: MIT
// Code that most visits do not need is loaded when it is.

import { createError, messageOf } from './errors.js';

/** `code`: import() of a literal, so that bundlers see it. network_failed if it does not come. */
export async function loaded<T>(code: Promise<T>): Promise<T> {
  try {
    return await code;
  } catch (error) {
    throw createError('network_failed', `a part of the package could not be loaded: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
