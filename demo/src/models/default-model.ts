// SPDX-License-Identifier: MIT
// The model that comes with the page, and things to ask. The prompts for the toy are phrasings it was trained on and
// answers well (its README and chats.json, beside the file, say what it can do).

import type { Source } from '../state.js';

export interface Suggestion {
  title: string;
  prompt: string;
}

const url = new URL('models/tinychat/tinychat-q8_0.gguf', document.baseURI).href;

export const DEFAULT_MODEL: { source: Source; note: string } = {
  source: { kind: 'url', url, label: 'Tiny Chat' },
  note: 'A toy of 5.2 million parameters, made by this project. It knows a narrow set of simple things and is often wrong outside them.',
};

export function isDefaultModel(source: Source): boolean {
  return source.kind === 'url' && source.url === url;
}

export const TOY_SUGGESTIONS: readonly Suggestion[] = [
  { title: 'Introduce itself', prompt: 'Who are you?' },
  { title: 'Explain the idea', prompt: 'How does Layerstream work?' },
  { title: 'Do a sum', prompt: 'What is 7 plus 8?' },
  { title: 'Name a capital', prompt: 'What is the capital of Norway?' },
  { title: 'Find an opposite', prompt: 'opposite of cold?' },
  { title: 'Spell a word', prompt: 'How do you spell rabbit?' },
  { title: 'Tell a story', prompt: 'Tell me a story about a brave fox.' },
  { title: 'Tell a joke', prompt: 'Tell me a joke.' },
];

export const GENERAL_SUGGESTIONS: readonly Suggestion[] = [
  { title: 'Explain', prompt: 'Explain in three sentences why the sky is blue.' },
  { title: 'Write', prompt: 'Write a short poem about rain on a tin roof.' },
  { title: 'Rephrase', prompt: 'Make this friendlier: "Your report is late again."' },
  { title: 'Plan', prompt: 'Suggest a simple dinner with eggs, rice and spinach.' },
];
