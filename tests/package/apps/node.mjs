// SPDX-License-Identifier: MIT
// The package in node: importing the browser's entry does no harm, and the node entry answers from a local file. Prints what
// happened as JSON, and has to end by itself.
import { capabilities, renderChat } from 'layerstream';
import { LayerstreamError, loadModel } from 'layerstream/node';

const [file, question] = process.argv.slice(2);
const messages = [{ role: 'user', content: question }];
const { simd } = await capabilities();
const rendered = await renderChat('{{ messages[0].content }}', { messages });

const model = await loadModel(file, { memoryBudget: 'min', unitBytes: 1 << 16 });
const answer = await model.chat(messages).text();
const { embeddings, usage } = await model.embed([question]);
const { storage, threads } = model.info;
const { peakResidentWeightBytes, totalWeightBytes } = await model.memory();
await model.dispose();

const failure = await loadModel('no/such/file.gguf').catch((error) => error);
const refusal = { known: failure instanceof LayerstreamError, code: failure.code };
const numbers = { storage, threads, dimensions: embeddings[0].length, promptTokens: usage.promptTokens };
const streamed = peakResidentWeightBytes < totalWeightBytes;
console.log(JSON.stringify({ simd, rendered, answer, streamed, refusal, ...numbers }));
