// SPDX-License-Identifier: MIT
// The AI SDK's prompts and settings -> messages and options of this package, with a warning for each setting that has no meaning
// here.

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { createError } from '../errors.js';
import type { ChatMessage, ChatOptions } from '../index.js';

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type Part = Exclude<LanguageModelV4Message, { role: 'system' }>['content'][number];

function unsupported(part: Part): Error {
  return createError(
    'bad_argument',
    `a message part of type ${part.type} is not supported: models here read text`,
    {
      details: { type: part.type },
    },
  );
}

function textOf(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (part.type !== 'text') {
        throw unsupported(part);
      }
      return part.text;
    })
    .join('');
}

function assistantMessage({ content }: AssistantMessage): ChatMessage {
  const text = textOf(content.filter((part) => part.type !== 'reasoning' && part.type !== 'tool-call'));
  const reasoning = content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));
  const calls = content.flatMap((part) =>
    part.type === 'tool-call'
      ? [{ id: part.toolCallId, type: 'function', function: { name: part.toolName, arguments: part.input } }]
      : [],
  );
  return {
    role: 'assistant',
    content: text,
    ...(reasoning.length > 0 ? { reasoning_content: reasoning.join('') } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function resultText({ output }: LanguageModelV4ToolResultPart): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'execution-denied':
      return output.reason ?? 'denied';
    default:
      return JSON.stringify(output.value);
  }
}

export function messagesOf(prompt: readonly LanguageModelV4Message[]): ChatMessage[] {
  return prompt.flatMap((message): ChatMessage[] => {
    switch (message.role) {
      case 'system':
        return [{ role: 'system', content: message.content }];
      case 'user':
        return [{ role: 'user', content: textOf(message.content) }];
      case 'assistant':
        return [assistantMessage(message)];
      case 'tool':
        return message.content.map((part) => {
          if (part.type !== 'tool-result') {
            throw unsupported(part);
          }
          return {
            role: 'tool',
            tool_call_id: part.toolCallId,
            name: part.toolName,
            content: resultText(part),
          };
        });
    }
  });
}

/** JSON schemas as templates read them. */
function toolsOf(options: LanguageModelV4CallOptions): readonly unknown[] | undefined {
  const tools = options.tools?.flatMap((tool) =>
    tool.type === 'function'
      ? [
          {
            type: 'function',
            function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
          },
        ]
      : [],
  );
  return options.toolChoice?.type === 'none' ? undefined : tools;
}

export function warningsOf(options: LanguageModelV4CallOptions): SharedV4Warning[] {
  const { responseFormat, tools = [], toolChoice } = options;
  const warnings: SharedV4Warning[] = [];
  const add = (feature: string, details: string): void => {
    warnings.push({ type: 'unsupported', feature, details });
  };
  if (responseFormat?.type === 'json') {
    add('responseFormat', 'the answer is not held to JSON');
  }
  if (tools.some(({ type }) => type === 'function')) {
    add('tools', 'the chat template shows them to the model; calls in its answer stay text');
  }
  if (tools.some(({ type }) => type === 'provider')) {
    add('provider tools', 'there are none');
  }
  if (toolChoice?.type === 'required' || toolChoice?.type === 'tool') {
    add('toolChoice', 'no call can be forced');
  }
  return warnings;
}

export function chatOptions(options: LanguageModelV4CallOptions): ChatOptions {
  const { reasoning = 'provider-default' } = options;
  const given: { [K in keyof ChatOptions]: ChatOptions[K] | undefined } = {
    maxTokens: options.maxOutputTokens,
    temperature: options.temperature,
    stop: options.stopSequences,
    topP: options.topP,
    topK: options.topK,
    presencePenalty: options.presencePenalty,
    frequencyPenalty: options.frequencyPenalty,
    seed: options.seed,
    tools: toolsOf(options),
    signal: options.abortSignal,
    variables: reasoning === 'provider-default' ? undefined : { enable_thinking: reasoning !== 'none' },
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
