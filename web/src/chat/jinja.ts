// SPDX-License-Identifier: MIT
// What is used of @huggingface/jinja. The build puts the library itself into this file's output (scripts/lib/build-web.mjs),
// so that the package needs no other one and a page can import it without a bundler.

export { parse, tokenize } from '@huggingface/jinja';
