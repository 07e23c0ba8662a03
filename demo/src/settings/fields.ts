// SPDX-License-Identifier: MIT
// Every setting a person can change, with the words that explain it, in groups. Ranges are those of the engine
// (engine/sampler/config.cpp), narrowed where a slider would be useless otherwise.

import type { NumberSetting, TextSetting } from './settings.js';
import { parseBiases, parseIds, parseSamplers, parseTexts, SAMPLER_NAMES } from './settings-text.js';

export interface NumberField {
  key: NumberSetting | 'seed';
  label: string;
  note: string;
  kind: 'range' | 'number';
  min: number;
  max: number;
  step: number;
}

export interface TextField {
  key: TextSetting;
  label: string;
  note: string;
  placeholder: string;
  /** Throws an Error with a sentence when the text cannot be read. */
  parse: (text: string) => unknown;
}

const range = (
  key: NumberSetting,
  label: string,
  note: string,
  [min, max, step]: [number, number, number],
): NumberField => ({ key, label, note, kind: 'range', min, max, step });

const whole = (
  key: NumberSetting | 'seed',
  label: string,
  note: string,
  [min, max]: [number, number],
): NumberField => ({ key, label, note, kind: 'number', min, max, step: 1 });

export const TEMPERATURE = range('temperature', 'Temperature', '0: the likeliest word', [0, 2, 0.05]);
export const MAX_TOKENS = whole('maxTokens', 'Longest answer', 'in tokens', [1, 1_000_000]);
export const SEED = whole(
  'seed',
  'Seed',
  'same seed, same answer; empty: a new one each time',
  [0, 4294967295],
);

export interface Group {
  title: string;
  fields: readonly NumberField[];
  texts?: readonly TextField[];
}

const STOP: TextField = {
  key: 'stop',
  label: 'Stop at',
  note: 'One text a line; \\n is a line break.',
  placeholder: 'THE END',
  parse: parseTexts,
};

const BREAKERS: TextField = {
  key: 'drySequenceBreakers',
  label: 'Breakers',
  note: 'Texts no repeat reaches across, one a line. Empty: line break, colon, quote, asterisk.',
  placeholder: '\\n',
  parse: parseTexts,
};

const TOKEN_TEXTS: readonly TextField[] = [
  {
    key: 'logitBias',
    label: 'Token bias',
    note: 'A token number and what is added to its score, one pair a line; -inf bans it.',
    placeholder: '42 -1.5',
    parse: parseBiases,
  },
  {
    key: 'bannedTokens',
    label: 'Banned tokens',
    note: 'Token numbers that are never drawn.',
    placeholder: '17, 42',
    parse: parseIds,
  },
  {
    key: 'samplers',
    label: 'Steps and their order',
    note: `Empty: ${SAMPLER_NAMES}. A step that is not named does not run.`,
    placeholder: 'top_k, min_p, temperature',
    parse: parseSamplers,
  },
];

export const GROUPS: readonly Group[] = [
  {
    title: 'Which words stay in play',
    fields: [
      range('topP', 'Top-p', '1 keeps all', [0.05, 1, 0.05]),
      range('minP', 'Min-p', '0 keeps all', [0, 0.5, 0.01]),
      whole('topK', 'Top-k', '0 keeps all', [0, 1000]),
      range('typicalP', 'Typical-p', '1 keeps all', [0.05, 1, 0.05]),
      range('topNSigma', 'Top-n-sigma', '-1 keeps all', [-1, 5, 0.1]),
      range('xtcProbability', 'Exclude top choices', 'how often; 0: never', [0, 1, 0.05]),
      range('xtcThreshold', 'Exclude above', 'this probability', [0.01, 0.5, 0.01]),
    ],
  },
  {
    title: 'Repetition',
    fields: [
      range('repeatPenalty', 'Repeat penalty', '1: off', [1, 2, 0.05]),
      range('frequencyPenalty', 'Frequency penalty', '0: off', [-2, 2, 0.1]),
      range('presencePenalty', 'Presence penalty', '0: off', [-2, 2, 0.1]),
      whole('repeatLastN', 'Looks back', 'tokens; -1: all', [-1, 1_000_000]),
      range('dryMultiplier', 'DRY', 'against repeated phrases; 0: off', [0, 3, 0.1]),
      range('dryBase', 'DRY base', 'growth with length', [1, 4, 0.05]),
      whole('dryAllowedLength', 'DRY allows', 'tokens of repeat', [0, 1000]),
      whole('dryLastN', 'DRY looks back', 'tokens; -1: all', [-1, 1_000_000]),
    ],
    texts: [BREAKERS],
  },
  {
    title: 'Adaptive temperature',
    fields: [
      range('dynatempRange', 'Range', 'around the temperature; 0: off', [0, 2, 0.05]),
      range('dynatempExponent', 'Exponent', 'of the entropy', [0.1, 4, 0.1]),
      { ...whole('mirostat', 'Mirostat', '2: on, 0: off', [0, 2]), step: 2 },
      range('mirostatTau', 'Mirostat: surprise', 'bits aimed at', [0, 10, 0.1]),
      range('mirostatEta', 'Mirostat: rate', 'of learning', [0, 1, 0.01]),
    ],
  },
  {
    title: 'Length and ends',
    fields: [whole('keepTokens', 'Always keep', 'tokens, when forgetting', [0, 1_000_000])],
    texts: [STOP],
  },
  { title: 'Tokens and steps', fields: [], texts: TOKEN_TEXTS },
];
