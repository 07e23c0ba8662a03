// SPDX-License-Identifier: MIT
// The rooms and the arrows between them: a room may include or import itself and the rooms listed here, and
// nothing else (docs/architecture.md). This table is the one place to change when a new arrow is agreed.

/** C++: folders below engine/, and wasm_bindings/. */
export const ENGINE_ARROWS = {
  base: [],
  simd: ['base'],
  gguf: ['base'],
  stream: ['base'],
  runtime: ['base'],
  sampler: ['base'],
  quant: ['simd', 'base'],
  tokenizer: ['gguf', 'base'],
  kernels: ['quant', 'simd', 'base'],
  model: ['kernels', 'quant', 'gguf', 'runtime', 'stream', 'base'],
  session: ['model', 'runtime', 'stream', 'gguf', 'tokenizer', 'sampler', 'base'],
  // Hosts:
  cli: ['session', 'tokenizer', 'gguf', 'base'], // tokenize works on vocabulary-only files, which no session opens
  wasm_bindings: ['session', 'base'],
};

/** System headers that belong to one place: a pattern, and the rooms that may include it. */
export const ENGINE_HEADERS = [
  {
    pattern: /^(wasm_simd128\.h|arm_neon\.h|x86intrin\.h|[a-z]*mmintrin\.h|simde\/.*)$/,
    rooms: ['simd'],
    rule: 'SIMD headers only in engine/simd',
  },
  {
    pattern: /^emscripten([./].*)?$/,
    rooms: ['wasm_bindings'],
    rule: 'Emscripten headers only in wasm_bindings',
  },
  { pattern: /^(iostream|print)$/, rooms: ['cli'], rule: 'the engine never prints' },
];

/** Single files of small tools that know no room. */
const WEB_LEAVES = ['errors', 'async', 'lazy'];

/** TypeScript: folders (or single files) below web/src. `types`: arrows for `import type` only. */
export const WEB_ARROWS = {
  errors: { rooms: [] },
  async: { rooms: ['errors'] },
  lazy: { rooms: ['errors'] },
  chat: { rooms: WEB_LEAVES, packages: ['@huggingface/jinja'] },
  storage: { rooms: WEB_LEAVES },
  download: { rooms: ['storage', ...WEB_LEAVES] },
  protocol: { rooms: WEB_LEAVES },
  wasm: { rooms: [], types: ['engine'] }, // the declaration of the module; the module itself is a build product
  engine: { rooms: ['wasm', ...WEB_LEAVES], types: ['protocol'] },
  worker: { rooms: ['protocol', 'engine', 'storage', 'download', ...WEB_LEAVES] },
  api: { rooms: ['protocol', 'chat', ...WEB_LEAVES] },
  'isolation-service-worker': { rooms: [] },
  'ai-sdk': { rooms: WEB_LEAVES, types: ['index'], packages: ['@ai-sdk/provider'] }, // its types
  node: {
    rooms: ['index', 'api', 'protocol', 'worker', 'engine', 'storage', ...WEB_LEAVES],
    packages: ['fs/promises', 'os', 'path', 'url', 'worker_threads'].map((name) => `node:${name}`),
  },
  index: { rooms: ['api', 'chat', ...WEB_LEAVES] },
};

/** The demo sees the package as its users do; the others are its own (docs/decisions/0003). */
export const DEMO_PACKAGES = ['layerstream', 'idb', 'marked', 'dompurify'];
