// SPDX-License-Identifier: MIT
// What went wrong, as a sentence with a next step. The package's errors carry a `code`; this file is the only place
// that turns codes into words; the compiler sees that none is missing. An error that is not the package's still gets a
// sentence, and its own message as the detail.

import { LayerstreamError } from 'layerstream';
import type { ErrorCode } from 'layerstream';

/** Problems that arise in the page itself. */
type PageCode = 'load_cancelled' | 'bad_url' | 'no_repository' | 'list_failed' | 'no_gguf';

export interface Problem {
  code: ErrorCode | PageCode | 'unknown';
  /** What happened. */
  sentence: string;
  /** What to do now. */
  nextStep: string;
  /** The package's own message, with names and numbers. */
  detail: string;
  /** The way out that a button offers. */
  action?: 'retry' | 'new-chat' | 'smallest-budget';
}

type Words = Pick<Problem, 'sentence' | 'nextStep' | 'action'>;

const pickAnother = 'Choose another .gguf file.';
const downloadAgain = 'It may be incomplete. Download it again, or choose another file.';

const WORDS: Record<ErrorCode | PageCode, Words> = {
  bad_magic: {
    sentence: 'This is not a GGUF model.',
    nextStep:
      'Choose a file that ends in .gguf. From Hugging Face, use the link behind “download”, not the page about the file.',
  },
  unsupported_version: {
    sentence: 'This GGUF file is of a version that cannot be read.',
    nextStep: 'Look for a newer conversion of the model (GGUF version 2 or 3).',
  },
  bad_file: { sentence: 'This model file is damaged.', nextStep: downloadAgain },
  truncated: { sentence: 'This model file ends too early.', nextStep: downloadAgain },
  missing_key: {
    sentence: 'This model file lacks information that is needed to run it.',
    nextStep: pickAnother,
  },
  bad_value: { sentence: 'This model file has settings that make no sense.', nextStep: pickAnother },
  missing_tensor: {
    sentence: 'Some of the weights are missing from this model file.',
    nextStep: pickAnother,
  },
  shape_mismatch: { sentence: 'The weights in this model file do not fit together.', nextStep: pickAnother },
  unsupported_arch: { sentence: 'Models of this kind do not run here yet.', nextStep: pickAnother },
  unsupported_quant: {
    sentence: 'This model is packed in a format that does not run here yet.',
    nextStep: 'Look for the same model as Q8_0, Q4_0 or F16.',
  },
  unsupported_tokenizer: {
    sentence: 'This model splits text in a way that is not supported yet.',
    nextStep: pickAnother,
  },
  template_failed: {
    sentence: 'The chat template in this model file could not be used.',
    nextStep: 'Some models refuse a system prompt: clear it in the answer settings, or choose another model.',
  },
  template_limit: {
    sentence: 'The chat template in this model file takes too long or writes too much.',
    nextStep: 'Start a new chat, or choose another model.',
    action: 'new-chat',
  },
  no_chat_template: {
    sentence: 'This model was not made for chat: it has no chat template.',
    nextStep: pickAnother,
  },
  bad_argument: {
    sentence: 'One of the settings is out of range.',
    nextStep: 'Reset the answer settings and try again.',
  },
  no_candidates: {
    sentence: 'The settings leave no word to choose from.',
    nextStep: 'Ban fewer tokens, or reset the answer settings.',
  },
  context_full: {
    sentence: 'This conversation is longer than the model can read.',
    nextStep: 'Start a new chat to go on.',
    action: 'new-chat',
  },
  budget_too_small: {
    sentence: 'The memory budget is too small for this model.',
    nextStep: 'Give it more memory, or choose “Smallest”.',
    action: 'smallest-budget',
  },
  out_of_memory: {
    sentence: 'The browser has no more memory for this model.',
    nextStep: 'Close other tabs, or choose the smallest memory budget.',
    action: 'smallest-budget',
  },
  io_failed: {
    sentence: 'The model’s weights could not be read.',
    nextStep: 'Load the model again.',
    action: 'retry',
  },
  non_finite: {
    sentence: 'The model produced numbers that are not numbers.',
    nextStep: 'The file is probably damaged. Download it again, or choose another one.',
  },
  network_failed: {
    sentence: 'The model could not be downloaded.',
    nextStep:
      'Check the connection and the address, then try again. Some servers do not allow other pages to read their files.',
    action: 'retry',
  },
  http_status: {
    sentence: 'The server did not hand out the model.',
    nextStep: 'Check the address. If the model is gated, it needs a licence click and a token first.',
    action: 'retry',
  },
  length_mismatch: {
    sentence: 'The download ended at another size than announced.',
    nextStep: 'Nothing of it is used. Try again.',
    action: 'retry',
  },
  remote_changed: {
    sentence: 'The model at this address changed while it was being downloaded.',
    nextStep: 'Load it again: the new one is downloaded.',
    action: 'retry',
  },
  hash_mismatch: {
    sentence: 'What was downloaded is not the file that was promised.',
    nextStep: 'Delete the model and load it again, or use another address.',
    action: 'retry',
  },
  range_damaged: {
    sentence: 'A part of the stored model is damaged, and cannot be downloaded again right now.',
    nextStep: 'Check the connection, then try again: only that part is downloaded.',
    action: 'retry',
  },
  bad_body: {
    sentence: 'The server answered with something that is not a model.',
    nextStep: 'Use the direct link to a .gguf file. Nothing of the answer was kept.',
  },
  storage_quota: {
    sentence: 'There is not enough room on this device for the model.',
    nextStep: 'Delete a stored model below “On this device”, or choose a smaller one.',
  },
  storage_busy: {
    sentence: 'This model is in use, here or in another tab.',
    nextStep: 'Open another model here, close the other tab, then try again.',
    action: 'retry',
  },
  storage_failed: {
    sentence: 'The browser’s storage did not work.',
    nextStep: 'Try again. Private windows and full disks can cause this.',
    action: 'retry',
  },
  worker_crashed: {
    sentence: 'The engine stopped unexpectedly.',
    nextStep: 'Load the model again. If it happens often, choose a smaller memory budget.',
    action: 'retry',
  },
  protocol_mismatch: {
    sentence: 'This page is older than the engine it started.',
    nextStep: 'Reload the page.',
  },
  cancelled: { sentence: 'This was stopped.', nextStep: 'Try again when you are ready.', action: 'retry' },
  internal: {
    sentence: 'The engine made a mistake of its own.',
    nextStep: 'Please report the details. Loading the model again usually helps.',
    action: 'retry',
  },
  load_cancelled: {
    sentence: 'Loading is paused.',
    nextStep: 'What has arrived is kept on this device. Go on when you are ready, or choose another model.',
    action: 'retry',
  },
  unsupported_browser: {
    sentence: 'This browser cannot run the engine.',
    nextStep: 'Use a current version of Chrome, Edge, Firefox or Safari.',
  },
  busy: { sentence: 'The model is still answering.', nextStep: 'Wait for the answer to end, or stop it.' },
  disposed: { sentence: 'The model was closed while it was at work.', nextStep: 'Ask again.' },
  bad_url: {
    sentence: 'This is neither a web address nor a Hugging Face repository.',
    nextStep: 'Write owner/repository, or paste the whole link to a .gguf file, beginning with https://',
  },
  no_repository: {
    sentence: 'Hugging Face has no such repository, or it is not public.',
    nextStep: 'Check the name: it is owner/repository, as in the address of its page.',
  },
  list_failed: {
    sentence: 'Hugging Face could not be asked for its files.',
    nextStep: 'Check the connection and try again, or paste the link to the .gguf file itself.',
  },
  no_gguf: {
    sentence: 'This repository has no .gguf file.',
    nextStep: 'Look for one whose name ends in -GGUF: most models have such a conversion.',
  },
};

const UNKNOWN: Words = {
  sentence: 'Something went wrong.',
  nextStep: 'Try again. If it keeps happening, reload the page.',
  action: 'retry',
};

export function problemOf(error: unknown): Problem {
  const detail = error instanceof Error ? error.message : String(error);
  return error instanceof LayerstreamError
    ? { code: error.code, detail, ...WORDS[error.code] }
    : { code: 'unknown', detail, ...UNKNOWN };
}

/** What the page itself finds; `detail` has its names and numbers. */
export function problemFor(code: PageCode, detail = ''): Problem {
  return { code, detail, ...WORDS[code] };
}
