// SPDX-License-Identifier: MIT
// The ways in which a template can fail, and what its execution may cost. Templates are programs from downloaded
// files: every loop, every piece of text and every comparison is paid for from one budget.

import { createError, LayerstreamError, messageOf } from '../errors.js';

/** Characters of a template. Real ones have up to about 20,000. */
export const maxTemplateLength = 256 * 1024;
/** Evaluated nodes and visited list items, together. Real chats need some thousands; this is less than a second. */
const maxSteps = 4_000_000;
/** Characters of one text, also of the rendered one: about a million tokens. */
export const maxTextLength = 4 * 1024 * 1024;
/** Characters of all texts that a rendering makes on its way. */
const maxCharacters = 64 * 1024 * 1024;
/** Items of one list. */
export const maxItems = 1_000_000;

/** Python would raise an exception here. */
export function failure(message: string): LayerstreamError {
  return createError('template_failed', `the chat template failed: ${message}`);
}

/** The template called raise_exception. */
export function refusal(message: string): LayerstreamError {
  return createError('template_failed', `the chat template refuses this chat: ${message}`, {
    details: { raised: message },
  });
}

export function limitError(what: string): LayerstreamError {
  return createError('template_limit', `the chat template was stopped: ${what}`);
}

/** Anything that was thrown, as one of the above. A full stack of the parser or of ours is a limit like any other. */
export function adopted(error: unknown, doing: string): LayerstreamError {
  if (error instanceof LayerstreamError) {
    return error;
  }
  if (error instanceof RangeError) {
    return limitError(`it is nested too deeply or makes too long a text (${error.message})`);
  }
  return createError('template_failed', `the chat template ${doing}: ${messageOf(error)}`, { cause: error });
}

export class Budget {
  #steps = maxSteps;
  #characters = maxCharacters;

  step(count = 1): void {
    this.#steps -= count;
    if (this.#steps < 0) {
      throw limitError(`it takes more than ${maxSteps} steps`);
    }
  }

  characters(count: number): void {
    this.#characters -= count;
    if (this.#characters < 0) {
      throw limitError(`it makes more than ${maxCharacters} characters of text`);
    }
  }
}

export function checkItems(count: number): void {
  if (count > maxItems) {
    throw limitError(`it makes a list of more than ${maxItems} items`);
  }
}
