// SPDX-License-Identifier: MIT
// A loaded model behind the methods of OpenAI's client.

import { createChatCompletion } from './chat.js';
import { createCompletion } from './completions.js';
import { createEmbeddings } from './embeddings.js';
import type { AnsweringModel, OpenAIClient } from './types.js';

/**
 * A client with OpenAI's methods and shapes over a loaded model, for code that was written for the `openai` package. Errors are
 * this package's; a parameter that a local model cannot mean rejects with `bad_argument` and its name.
 *
 * @example
 * const client = openAIClient(model);
 * const stream = await client.chat.completions.create({
 *   model: 'any', messages: [{ role: 'user', content: 'Hello!' }], stream: true,
 * });
 * for await (const chunk of stream) console.log(chunk.choices[0]?.delta.content ?? '');
 */
export function openAIClient(model: AnsweringModel): OpenAIClient {
  // What comes back follows from `stream` and `encoding_format`, as the overloads of OpenAIClient say.
  const chat: unknown = (...[params, options = {}]: Parameters<CreateChat>) =>
    createChatCompletion(model, params, options);
  const completions: unknown = (...[params, options = {}]: Parameters<Create>) =>
    createCompletion(model, params, options);
  const embeddings: unknown = (...[params, options = {}]: Parameters<Embed>) =>
    createEmbeddings(model, params, options);
  return {
    chat: { completions: { create: chat as CreateChat } },
    completions: { create: completions as Create },
    embeddings: { create: embeddings as Embed },
  };
}

type CreateChat = OpenAIClient['chat']['completions']['create'];
type Create = OpenAIClient['completions']['create'];
type Embed = OpenAIClient['embeddings']['create'];
