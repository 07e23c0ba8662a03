// SPDX-License-Identifier: MIT
// Templates for files that have none, or only the name of one that llama.cpp has built in. Which one fits is told by the
// special tokens in the vocabulary: a model was trained on the format whose markers it has.

const roles = (begin: string, end: string): string =>
  `{% for message in messages %}${begin}${end}{% endfor %}`;

const chatml =
  roles("{{ '<|im_start|>' ~ message.role ~ '\\n' ~ message.content", " ~ '<|im_end|>\\n' }}") +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

const phi4 =
  roles("{{ '<|im_start|>' ~ message.role ~ '<|im_sep|>' ~ message.content", " ~ '<|im_end|>' }}") +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}";

const llama3 =
  '{{ bos_token }}' +
  roles(
    "{{ '<|start_header_id|>' ~ message.role ~ '<|end_header_id|>\\n\\n' ~ message.content | trim",
    " ~ '<|eot_id|>' }}",
  ) +
  "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}";

const phi3 =
  roles("{{ '<|' ~ message.role ~ '|>\\n' ~ message.content", " ~ '<|end|>\\n' }}") +
  "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}";

const zephyr =
  roles("{{ '<|' ~ message.role ~ '|>\\n' ~ message.content", " ~ eos_token ~ '\\n' }}") +
  "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}";

/** No system role: what it says goes before the first user message. */
const systemBeforeUser = (turn: string): string =>
  "{% set system = messages[0].content | trim if messages and messages[0].role == 'system' else '' %}" +
  "{% for message in (messages[1:] if system else messages) if message.role != 'system' %}" +
  `${turn}{% endfor %}`;

const gemma =
  '{{ bos_token }}' +
  systemBeforeUser(
    "{{ '<start_of_turn>' ~ ('model' if message.role == 'assistant' else message.role) ~ '\\n' }}" +
      "{% if loop.first and system %}{{ system ~ '\\n\\n' }}{% endif %}" +
      "{{ message.content | trim ~ '<end_of_turn>\\n' }}",
  ) +
  "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}";

/** `before` and `after`: what stands around the user's words; `answered`: before the assistant's. */
const instruct = (before: string, after: string, answered: string): string =>
  '{{ bos_token }}' +
  systemBeforeUser(
    "{% if message.role == 'assistant' %}" +
      `{{ '${answered}' ~ message.content | trim ~ eos_token }}` +
      `{% else %}{{ '${before}' }}` +
      "{% if loop.first and system %}{{ system ~ '\\n\\n' }}{% endif %}" +
      `{{ message.content ~ '${after}' }}{% endif %}`,
  );

const llama2 = systemBeforeUser(
  "{% if message.role == 'assistant' %}{{ ' ' ~ message.content | trim ~ ' ' ~ eos_token }}" +
    "{% else %}{{ bos_token ~ '[INST] ' }}" +
    "{% if loop.first and system %}{{ '<<SYS>>\\n' ~ system ~ '\\n<</SYS>>\\n\\n' }}{% endif %}" +
    "{{ message.content | trim ~ ' [/INST]' }}{% endif %}",
);

const mistralV7 = (space: string): string =>
  '{{ bos_token }}{% for message in messages %}' +
  `{% if message.role == 'system' %}{{ '[SYSTEM_PROMPT]${space}' ~ message.content ~ '[/SYSTEM_PROMPT]' }}` +
  `{% elif message.role == 'assistant' %}{{ '${space}' ~ message.content ~ eos_token }}` +
  `{% else %}{{ '[INST]${space}' ~ message.content ~ '[/INST]' }}{% endif %}{% endfor %}`;

const mistralV1 = instruct(' [INST] ', ' [/INST]', ' ');
const mistralV3 = instruct('[INST] ', '[/INST]', ' ');
const mistralTekken = instruct('[INST]', '[/INST]', '');

/** By the names of llama.cpp. */
const builtIn: ReadonlyMap<string, string> = new Map([
  ['chatml', chatml],
  ['gemma', gemma],
  ['llama2', llama2],
  ['llama2-sys', llama2],
  ['llama2-sys-bos', llama2],
  ['llama2-sys-strip', llama2],
  ['llama3', llama3],
  ['mistral-v1', mistralV1],
  ['mistral-v3', mistralV3],
  ['mistral-v3-tekken', mistralTekken],
  ['mistral-v7', mistralV7(' ')],
  ['mistral-v7-tekken', mistralV7('')],
  ['phi3', phi3],
  ['phi4', phi4],
  ['zephyr', zephyr],
]);

export function builtInTemplate(name: string): string | null {
  return builtIn.get(name) ?? null;
}

/** Markers and the format they belong to; the first line all of whose markers are special tokens decides. */
const byMarkers: readonly (readonly [markers: readonly string[], name: string])[] = [
  [['<|im_start|>', '<|im_sep|>'], 'phi4'],
  [['<|im_start|>', '<|im_end|>'], 'chatml'],
  [['<|start_header_id|>', '<|eot_id|>'], 'llama3'],
  [['<start_of_turn>', '<end_of_turn>'], 'gemma'],
  [['<|assistant|>', '<|end|>'], 'phi3'],
  [['[SYSTEM_PROMPT]', '[INST]'], 'mistral-v7-tekken'],
  [['[INST]', '[/INST]'], 'mistral-v3'],
];

/** The format of a vocabulary; null for one without markers: a base model, or Llama 2, which has none. */
export async function familyOf(
  hasToken: (text: string) => Promise<boolean>,
  tokenizerPre: string,
): Promise<string | null> {
  for (const [markers, name] of byMarkers) {
    if ((await Promise.all(markers.map(hasToken))).every(Boolean)) {
      return name === 'mistral-v3' && tokenizerPre === 'tekken' ? 'mistral-v3-tekken' : name;
    }
  }
  return null;
}
