// SPDX-License-Identifier: MIT
// The special ids, out of the engine's description of what it opened.

import { at, numberAt } from './json.js';
import type { SpecialTokens } from './types.js';

export function specialTokensOf(details: unknown): SpecialTokens {
  const idOf = (name: string) => numberAt(details, 'tokenizer', `${name}_token_id`);
  const ends = at(details, 'tokenizer', 'end_of_generation');
  return {
    bos: idOf('bos'),
    eos: idOf('eos'),
    eot: idOf('eot'),
    eom: idOf('eom'),
    unk: idOf('unk'),
    pad: idOf('pad'),
    addBos: at(details, 'tokenizer', 'add_bos') === true,
    addEos: at(details, 'tokenizer', 'add_eos') === true,
    endOfGeneration: (Array.isArray(ends) ? ends : [])
      .map((end: unknown) => numberAt(end, 'id'))
      .filter((id) => id !== null),
  };
}
