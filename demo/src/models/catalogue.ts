// SPDX-License-Identifier: MIT
// A few models worth trying first, small ones before large ones. Sizes are those of the files, to the byte, as public
// manifests that pin them by hash state them; licences are those that the models' makers give them.

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
    144_811_360,
    'Apache 2.0',
    'Tiny and quick. English, simple things.',
  ),
  offer(
    'SmolLM2 360M',
    'HuggingFaceTB/SmolLM2-360M-Instruct-GGUF',
    'smollm2-360m-instruct-q8_0.gguf',
    386_404_992,
    'Apache 2.0',
    'Small. English, everyday questions.',
  ),
  offer(
    'Qwen3 0.6B',
    'Qwen/Qwen3-0.6B-GGUF',
    'Qwen3-0.6B-Q8_0.gguf',
    639_446_688,
    'Apache 2.0',
    'Many languages. Thinks before it answers.',
  ),
  offer(
    'Llama 3.2 1B',
    'bartowski/Llama-3.2-1B-Instruct-GGUF',
    'Llama-3.2-1B-Instruct-Q4_K_M.gguf',
    807_694_464,
    'Llama 3.2 Community',
    'A good all-rounder for its size.',
  ),
  offer(
    'Qwen2.5 1.5B',
    'Qwen/Qwen2.5-1.5B-Instruct-GGUF',
    'qwen2.5-1.5b-instruct-q4_k_m.gguf',
    1_117_320_736,
    'Apache 2.0',
    'Many languages, some code.',
  ),
  offer(
    'Llama 3.2 3B',
    'bartowski/Llama-3.2-3B-Instruct-GGUF',
    'Llama-3.2-3B-Instruct-Q4_K_M.gguf',
    2_019_377_696,
    'Llama 3.2 Community',
    'Noticeably better answers, slower.',
  ),
  offer(
    'Llama 3.1 8B',
    'bartowski/Meta-Llama-3.1-8B-Instruct-GGUF',
    'Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf',
    4_920_739_232,
    'Llama 3.1 Community',
    'Larger than a tab: streams from disk, block by block.',
  ),
];
