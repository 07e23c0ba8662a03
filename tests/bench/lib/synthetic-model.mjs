// SPDX-License-Identifier: MIT
// Synthetic GGUF files: the tensor shapes and block layouts of real models, random weights of a sane size, a tokenizer that
// knows single bytes. For measuring speed and memory; the text they write means nothing.
import { closeSync, ftruncateSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { BLOCKS, randomBlocks, Random } from './random-blocks.mjs';
import { GgufHeader, padding } from './gguf-header.mjs';

/** Of the models they are named after (the vocabularies of the first four cut to 32,000 where that is said). */
export const SHAPES = {
  tiny: {
    arch: 'llama',
    layers: 2,
    dim: 256,
    ffn: 512,
    heads: 4,
    kvHeads: 2,
    headDim: 64,
    vocab: 1000,
    context: 512,
    base: 10000,
  },
  smol135m: {
    arch: 'llama',
    layers: 30,
    dim: 576,
    ffn: 1536,
    heads: 9,
    kvHeads: 3,
    headDim: 64,
    vocab: 49152,
    context: 2048,
    base: 100000,
  },
  qwen05b: {
    arch: 'qwen2',
    layers: 24,
    dim: 896,
    ffn: 4864,
    heads: 14,
    kvHeads: 2,
    headDim: 64,
    vocab: 32000,
    context: 4096,
    base: 1e6,
  },
  llama1b: {
    arch: 'llama',
    layers: 16,
    dim: 2048,
    ffn: 8192,
    heads: 32,
    kvHeads: 8,
    headDim: 64,
    vocab: 32000,
    context: 8192,
    base: 500000,
  },
  llama3b: {
    arch: 'llama',
    layers: 28,
    dim: 3072,
    ffn: 8192,
    heads: 24,
    kvHeads: 8,
    headDim: 128,
    vocab: 32000,
    context: 8192,
    base: 500000,
  },
  llama8b: {
    arch: 'llama',
    layers: 32,
    dim: 4096,
    ffn: 14336,
    heads: 32,
    kvHeads: 8,
    headDim: 128,
    vocab: 128256,
    context: 8192,
    base: 500000,
    untied: true,
  },
};

/** Names of llama.cpp's mixes; Q4_K stands for Q4_K_M. */
export const QUANTS = ['F32', 'F16', 'Q4_0', 'Q8_0', 'Q4_K', 'Q6_K'];
const FILE_TYPE = { F32: 0, F16: 1, Q4_0: 2, Q8_0: 7, Q4_K: 15, Q6_K: 18 };

/** Which blocks of a Q4_K_M file have v and down as Q6_K. */
function hasMoreBits(layer, layers) {
  const eighth = Math.floor(layers / 8);
  return layer < eighth || layer >= Math.floor((7 * layers) / 8) || (layer - eighth) % 3 === 2;
}

function typeOf(quant, role, layer, layers, columns) {
  if (role === 'norm') return 'F32';
  let type = quant;
  if (
    quant === 'Q4_K' &&
    (role === 'output' || ((role === 'v' || role === 'down') && hasMoreBits(layer, layers)))
  )
    type = 'Q6_K';
  if (quant === 'Q4_0' && role === 'output') type = 'Q6_K';
  // Rows that are no multiple of 256 fall back, as llama.cpp's quantiser does it.
  if (columns % 256 !== 0 && type === 'Q4_K') type = 'Q5_0';
  if (columns % 256 !== 0 && type === 'Q6_K') type = 'Q8_0';
  return type;
}

/** [{ name, dims, type, isNorm }] in the order of the file. */
function tensorsOf(shape, quant) {
  const { layers, dim, ffn, heads, kvHeads, headDim, vocab } = shape;
  const tensors = [];
  const add = (name, dims, role, layer = 0) =>
    tensors.push({
      name,
      dims,
      type: typeOf(quant, role, layer, layers, dims[0]),
      isNorm: role === 'norm' && !name.endsWith('.bias'),
    });
  add('token_embd.weight', [dim, vocab], shape.untied ? 'weight' : 'output');
  for (let layer = 0; layer < layers; ++layer) {
    const block = (name, dims, role) => add(`blk.${layer}.${name}`, dims, role, layer);
    block('attn_norm.weight', [dim], 'norm');
    block('attn_q.weight', [dim, heads * headDim], 'weight');
    block('attn_k.weight', [dim, kvHeads * headDim], 'weight');
    block('attn_v.weight', [dim, kvHeads * headDim], 'v');
    if (shape.arch === 'qwen2') {
      for (const [name, count] of Object.entries({ q: heads, k: kvHeads, v: kvHeads }))
        block(`attn_${name}.bias`, [count * headDim], 'norm');
    }
    block('attn_output.weight', [heads * headDim, dim], 'weight');
    block('ffn_norm.weight', [dim], 'norm');
    block('ffn_gate.weight', [dim, ffn], 'weight');
    block('ffn_up.weight', [dim, ffn], 'weight');
    block('ffn_down.weight', [ffn, dim], 'down');
  }
  add('output_norm.weight', [dim], 'norm');
  if (shape.untied) add('output.weight', [dim, vocab], 'output');
  return tensors;
}

/** Three specials, 256 bytes, a lone word border, then words that prompts of the bench never form. */
function addTokenizer(header, vocab) {
  const tokens = ['<unk>', '<s>', '</s>'];
  const scores = [0, 0, 0];
  const types = [2, 3, 3];
  const add = (token, score, type) => {
    tokens.push(token);
    scores.push(score);
    types.push(type);
  };
  for (let byte = 0; byte < 256; ++byte) add(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, 0, 6);
  add('\u2581', -1, 1);
  for (let i = 0; tokens.length < vocab; ++i) add(`\u2581w${i.toString(36)}`, -10 - i, 1);
  header.string('tokenizer.ggml.model', 'llama');
  header.string('tokenizer.ggml.pre', 'default');
  header.strings('tokenizer.ggml.tokens', tokens.slice(0, vocab));
  header.floats('tokenizer.ggml.scores', scores.slice(0, vocab));
  header.ints('tokenizer.ggml.token_type', types.slice(0, vocab));
  header.uint('tokenizer.ggml.bos_token_id', 1);
  header.uint('tokenizer.ggml.eos_token_id', 2);
  header.uint('tokenizer.ggml.unknown_token_id', 0);
  header.bool('tokenizer.ggml.add_bos_token', false);
  header.bool('tokenizer.ggml.add_eos_token', false);
}

function headerOf(name, shape, quant, tensors) {
  const header = new GgufHeader();
  const { arch } = shape;
  header.string('general.architecture', arch);
  header.string('general.name', `synthetic ${name}`);
  header.uint('general.alignment', 32);
  header.uint('general.file_type', FILE_TYPE[quant]);
  header.uint('general.quantization_version', 2);
  const numbers = {
    block_count: shape.layers,
    context_length: shape.context,
    embedding_length: shape.dim,
    feed_forward_length: shape.ffn,
    'attention.head_count': shape.heads,
    'attention.head_count_kv': shape.kvHeads,
    'rope.dimension_count': shape.headDim,
    vocab_size: shape.vocab,
  };
  for (const [key, value] of Object.entries(numbers)) header.uint(`${arch}.${key}`, value);
  header.float(`${arch}.attention.layer_norm_rms_epsilon`, 1e-5);
  header.float(`${arch}.rope.freq_base`, shape.base);
  addTokenizer(header, shape.vocab);
  for (const tensor of tensors) header.tensor(tensor.name, tensor.dims, BLOCKS[tensor.type].id, tensor.bytes);
  return header.bytes();
}

/** Returns where the next bytes go. */
function writeAll(file, bytes, position) {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at, position + at);
  return position + bytes.length;
}

/** A stretch of a pool of random blocks that begins somewhere: tensors differ, and making gigabytes is quick. */
function writeTensor(file, tensor, random, position) {
  if (tensor.isNorm) {
    writeAll(file, Buffer.from(new Float32Array(tensor.bytes / 4).fill(1).buffer), position);
    return;
  }
  const pool = randomBlocks(tensor.type, tensor.dims[0]);
  const blockBytes = BLOCKS[tensor.type].bytes;
  let at = random.below(pool.length / blockBytes) * blockBytes;
  for (let left = tensor.bytes; left > 0; at = 0) {
    const take = Math.min(left, pool.length - at);
    position = writeAll(file, pool.subarray(at, at + take), position);
    left -= take;
  }
}

/**
 * Writes FOLDER/shape-quant.gguf and returns its path. `sparse`: weights are a hole in the file, which takes no disk and reads
 * as zeros, for tests of offsets beyond 4 GiB: all of them (true), or those of the blocks ('blocks'), which then add nothing
 * to the residual stream, so that the logits are the same for any number of blocks.
 */
export function writeModel(folder, name, { layers, vocab, sparse = false, suffix = '' } = {}) {
  const [shapeName, quant] = name.split('-');
  if (!(shapeName in SHAPES) || !QUANTS.includes(quant)) throw new Error(`no such model: ${name}`);
  const shape = { ...SHAPES[shapeName], ...(layers ? { layers } : {}), ...(vocab ? { vocab } : {}) };
  const tensors = tensorsOf(shape, quant);
  for (const tensor of tensors) {
    const { values, bytes } = BLOCKS[tensor.type];
    tensor.bytes = (tensor.dims.reduce((product, dim) => product * dim, 1) / values) * bytes;
  }
  const header = headerOf(name, shape, quant, tensors);
  mkdirSync(folder, { recursive: true });
  const target = path.join(folder, `${name}${suffix}.gguf`);
  const file = openSync(target, 'w');
  let position = writeAll(file, header, 0);
  const random = new Random(42);
  for (const tensor of tensors) {
    const isHole = sparse === true || (sparse === 'blocks' && tensor.name.startsWith('blk.'));
    if (!isHole) writeTensor(file, tensor, random, position);
    position += tensor.bytes + padding(tensor.bytes);
  }
  ftruncateSync(file, position);
  closeSync(file);
  if (statSync(target).size !== position) throw new Error(`${target} has a wrong size`);
  return target;
}
