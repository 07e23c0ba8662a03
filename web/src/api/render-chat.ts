// SPDX-License-Identifier: MIT
// Chat templates: Jinja text from the model file, rendered by @huggingface/jinja as transformers renders it. The
// library is only loaded when a chat needs it.

import { createError, LayerstreamError, messageOf } from '../errors.js';
import type { TextPrompt, TextRange } from '../protocol/data.js';
import type { ChatMessage, RenderChatOptions } from './types.js';
import { strftime } from './strftime.js';

type Render = (messages: readonly ChatMessage[]) => string;

/** What is used of @huggingface/jinja. Its Template.render() brings a clock of its own that cannot be replaced. */
interface Jinja {
  Template: new (text: string) => { readonly parsed: unknown };
  Environment: new () => { set(name: string, value: unknown): unknown };
  Interpreter: new (environment: object) => { run(program: unknown): { value: unknown } };
}

function range(first: number, end?: number, step = 1): number[] {
  const [from, to] = end === undefined ? [0, first] : [first, end];
  const count = Math.max(0, Math.ceil((to - from) / step));
  return Array.from({ length: count }, (_, index) => from + index * step);
}

/** Names that transformers gives every template. */
function globals(options: RenderChatOptions): Record<string, unknown> {
  const now = options.now ?? new Date();
  return {
    true: true,
    True: true,
    false: false,
    False: false,
    none: null,
    None: null,
    range,
    strftime_now: (format: string) => strftime(now, format),
    raise_exception: (message: unknown) => {
      throw createError('template_failed', `the chat template refuses this chat: ${String(message)}`);
    },
    tools: options.tools ?? null,
    documents: null,
    ...options.variables,
    add_generation_prompt: options.addGenerationPrompt ?? true,
    bos_token: options.bosToken ?? '',
    eos_token: options.eosToken ?? '',
  };
}

async function compile(template: string, options: RenderChatOptions): Promise<Render> {
  const { Template, Environment, Interpreter }: Jinja = await import('@huggingface/jinja');
  try {
    const program = new Template(template).parsed; // with trim_blocks and lstrip_blocks
    const variables = globals(options);
    return (messages) => {
      try {
        const environment = new Environment();
        for (const [name, value] of Object.entries({ ...variables, messages })) {
          environment.set(name, value);
        }
        return String(new Interpreter(environment).run(program).value);
      } catch (error) {
        throw templateError(error);
      }
    };
  } catch (error) {
    throw templateError(error);
  }
}

function templateError(error: unknown): Error {
  return error instanceof LayerstreamError
    ? error
    : createError('template_failed', `the chat template failed: ${messageOf(error)}`, { cause: error });
}

/**
 * Text of a chat as the model was trained on it.
 *
 * @example
 * await renderChat(template, { messages: [{ role: 'user', content: 'Hello!' }], eosToken: '</s>' });
 */
export async function renderChat(template: string, options: RenderChatOptions): Promise<string> {
  const render = await compile(template, options);
  return render(options.messages);
}

// Two private-use characters around the text of each message show where it went.
const openMark = '\uF8F1';
const closeMark = '\uF8F2';
const marks = /[\uF8F1\uF8F2]/g;

/** White space stays outside the marks, so that templates that trim still trim. */
function mark(message: ChatMessage): ChatMessage {
  const core = message.content.trim();
  if (core === '') {
    return message;
  }
  const at = message.content.indexOf(core);
  const before = message.content.slice(0, at);
  const after = message.content.slice(at + core.length);
  return { ...message, content: `${before}${openMark}${core}${closeMark}${after}` };
}

/** null if the marks do not come in pairs. */
function rangesOf(marked: string): TextRange[] | null {
  const ranges: TextRange[] = [];
  let start: number | null = null;
  let removed = 0;
  for (const match of marked.matchAll(marks)) {
    const at = match.index - removed;
    removed += 1;
    if ((match[0] === openMark) !== (start === null)) {
      return null;
    }
    if (start === null) {
      start = at;
    } else {
      ranges.push({ start, end: at });
      start = null;
    }
  }
  return start === null ? ranges : null;
}

/** The chat as a prompt that knows which of its text came from messages. */
export async function renderPrompt(template: string, options: RenderChatOptions): Promise<TextPrompt> {
  const messages = options.messages.map((message) => ({
    ...message,
    content: message.content.replace(marks, ''),
  }));
  const render = await compile(template, options);
  const text = render(messages);
  const bos = options.bosToken ?? '';
  return {
    text,
    addSpecial: bos === '' || !text.startsWith(bos),
    parseSpecial: true,
    untrusted: untrustedRanges(render, messages, text),
    contents: messages.map((message) => message.content),
  };
}

function untrustedRanges(render: Render, messages: readonly ChatMessage[], text: string): TextRange[] | null {
  try {
    const marked = render(messages.map(mark));
    return marked.replace(marks, '') === text ? rangesOf(marked) : null;
  } catch {
    // A template that looks into the messages may stumble over the marks.
    return null;
  }
}
