// SPDX-License-Identifier: MIT
// A few models worth trying first, small ones before large ones. Sizes are of the files as they were published.

import { fileAddress } from './addresses.js';

export interface Offer {
  name: string;
  note: string;
  url: string;
  bytes: number;
  licence: string;
}

const offer = (
  name: string,
  repository: string,
  file: string,
  bytes: number,
  licence: string,
  note: string,
): Offer => ({
  name,
  note,
  url: fileAddress(repository, file),
  bytes,
  licence,
});

export const OFFERS: readonly Offer[] = [
  offer(
    'SmolLM2 135M',
    'bartowski/SmolLM2-135M-Instruct-GGUF',
    'SmolLM2-135M-Instruct-Q8_0.gguf',
    145e6,
    'Apache 2.0',
    'Tiny and quick. English, simple things.',
  ),
  offer(
    'SmolLM2 360M',
    'HuggingFaceTB/SmolLM2-360M-Instruct-GGUF',
    'smollm2-360m-instruct-q8_0.gguf',
    386e6,
    'Apache 2.0',
    'Small. English, everyday questions.',
  ),
  offer(
    'Qwen3 0.6B',
    'Qwen/Qwen3-0.6B-GGUF',
    'Qwen3-0.6B-Q8_0.gguf',
    639e6,
    'Apache 2.0',
    'Many languages. Thinks before it answers.',
  ),
  offer(
    'Llama 3.2 1B',
    'bartowski/Llama-3.2-1B-Instruct-GGUF',
    'Llama-3.2-1B-Instruct-Q4_K_M.gguf',
    808e6,
    'Llama 3.2 Community',
    'A good all-rounder for its size.',
  ),
  offer(
    'Qwen2.5 1.5B',
    'Qwen/Qwen2.5-1.5B-Instruct-GGUF',
    'qwen2.5-1.5b-instruct-q4_k_m.gguf',
    1.12e9,
    'Apache 2.0',
    'Many languages, some code.',
  ),
  offer(
    'Llama 3.2 3B',
    'bartowski/Llama-3.2-3B-Instruct-GGUF',
    'Llama-3.2-3B-Instruct-Q4_K_M.gguf',
    2.02e9,
    'Llama 3.2 Community',
    'Noticeably better answers, slower.',
  ),
  offer(
    'Llama 3.1 8B',
    'bartowski/Meta-Llama-3.1-8B-Instruct-GGUF',
    'Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf',
    4.92e9,
    'Llama 3.1 Community',
    'Larger than a tab: streams from disk, block by block.',
  ),
];
