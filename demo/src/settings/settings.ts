// SPDX-License-Identifier: MIT
// How answers are drawn: everything the package can be asked for, presets, and what is kept in localStorage. Lists are
// kept as the text the person typed; settings-text.ts reads them.

import { samplingDefaults } from 'layerstream';
import type { GenerateOptions, SamplingNumber } from 'layerstream';
import { parseBiases, parseIds, parseSamplers, parseTexts } from './settings-text.js';

/** Names of the package's options that are plain numbers. */
export type NumberSetting = SamplingNumber | 'maxTokens' | 'keepTokens';

export type TextSetting = 'stop' | 'drySequenceBreakers' | 'logitBias' | 'bannedTokens' | 'samplers';

export interface Settings extends Record<NumberSetting, number>, Record<TextSetting, string> {
  /** null: drawn anew for every answer. */
  seed: number | null;
  contextOverflow: 'stop' | 'shift';
}

/** Greedy, nothing cut off: the same answer on every device. */
export const DEFAULT_SETTINGS: Readonly<Settings> = {
  ...samplingDefaults,
  maxTokens: 1024,
  keepTokens: 4,
  stop: '',
  drySequenceBreakers: '',
  logitBias: '',
  bannedTokens: '',
  samplers: '',
  seed: null,
  contextOverflow: 'stop',
};

/** What a preset sets; the lengths, the seed and the texts stay as they are. */
type PresetSettings = Readonly<Record<SamplingNumber, number>>;

export interface Preset {
  id: string;
  label: string;
  note: string;
  settings: PresetSettings;
}

export const PRESETS: readonly Preset[] = [
  {
    id: 'precise',
    label: 'Precise',
    note: 'Always the likeliest word: the same answer every time.',
    settings: samplingDefaults,
  },
  {
    id: 'balanced',
    label: 'Balanced',
    note: 'Some variety, nothing far-fetched. Good for most chats.',
    settings: { ...samplingDefaults, temperature: 0.7, topP: 0.95, minP: 0.05 },
  },
  {
    id: 'creative',
    label: 'Creative',
    note: 'Surprising words, and repeats are discouraged. Good for stories.',
    settings: { ...samplingDefaults, temperature: 1.1, minP: 0.05, xtcProbability: 0.3, dryMultiplier: 0.8 },
  },
];

/** The preset that these settings are, or null. */
export function presetOf(settings: Readonly<Settings>): Preset | null {
  const isSame = ([key, value]: [string, unknown]): boolean => Reflect.get(settings, key) === value;
  return PRESETS.find((preset) => Object.entries(preset.settings).every(isSame)) ?? null;
}

export function generateOptions(settings: Readonly<Settings>): GenerateOptions {
  const { seed, stop, drySequenceBreakers, logitBias, bannedTokens, samplers, ...numbers } = settings;
  const { mirostat, ...rest } = numbers;
  const options: GenerateOptions = { ...rest, mirostat: mirostat === 2 ? 2 : 0 };
  if (seed !== null) options.seed = seed;
  if (stop.trim() !== '') options.stop = parseTexts(stop);
  if (drySequenceBreakers.trim() !== '') options.drySequenceBreakers = parseTexts(drySequenceBreakers);
  if (logitBias.trim() !== '') options.logitBias = parseBiases(logitBias);
  if (bannedTokens.trim() !== '') options.bannedTokens = parseIds(bannedTokens);
  if (samplers.trim() !== '') options.samplers = parseSamplers(samplers);
  return options;
}

const KEY = 'layerstream-settings';

/** What was kept, as far as it is still of the right type. */
export function loadSettings(): Settings {
  const settings: Settings = { ...DEFAULT_SETTINGS };
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    if (typeof kept !== 'object' || kept === null) return settings;
    for (const [key, value] of Object.entries(DEFAULT_SETTINGS)) {
      const found: unknown = Reflect.get(kept, key);
      const isSeed = key === 'seed' && (found === null || Number.isInteger(found));
      if (isSeed || typeof found === typeof value) Reflect.set(settings, key, found);
    }
  } catch {
    // No storage, or not ours: the defaults.
  }
  return settings;
}

export function saveSettings(settings: Readonly<Settings>): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // Storage is off: the settings last as long as the page.
  }
}
