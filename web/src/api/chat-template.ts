// SPDX-License-Identifier: MIT
// Which chat template a model uses: the caller's, the file's, or one that fits the family.

import { createError } from '../errors.js';
import { at, stringAt } from './json.js';
import type { ModelInfo } from './types.js';

/** What is asked of the model: how it is called, and the engine's description. */
type Described = Pick<ModelInfo, 'name' | 'details'>;

export interface TemplateChoice {
  /** Of the call, else of loadModel. */
  wanted: string | undefined;
  hasTools: boolean;
  /** Whether the vocabulary has a special token of this text. */
  hasToken: (text: string) => Promise<boolean>;
}

/** Jinja text has tags; anything else is a name. */
const isName = (template: string): boolean => !template.includes('{');

export async function chooseTemplate(info: Described, choice: TemplateChoice): Promise<string> {
  const { wanted, hasTools } = choice;
  const named = (name: string): string => stringAt(info.details, 'chat_templates', name);
  if (wanted !== undefined) {
    return isName(wanted) ? named(wanted) || builtIn(wanted, info) : wanted;
  }
  const own =
    (hasTools ? named('tool_use') : '') || stringAt(info.details, 'chat_template') || named('default');
  if (own !== '') {
    return isName(own) ? builtIn(own, info) : own;
  }
  return ofFamily(info, choice.hasToken);
}

async function builtIn(name: string, info: Described): Promise<string> {
  const { builtInTemplate } = await import('../chat/families.js');
  const template = builtInTemplate(name);
  if (template === null) {
    const names = Object.keys(at(info.details, 'chat_templates') ?? {});
    throw createError('no_chat_template', `${info.name} has no chat template "${name}"`, {
      details: { template: name, templates: names },
    });
  }
  return template;
}

async function ofFamily(info: Described, hasToken: (text: string) => Promise<boolean>): Promise<string> {
  const { builtInTemplate, familyOf } = await import('../chat/families.js');
  const family = await familyOf(hasToken, stringAt(info.details, 'tokenizer', 'pre'));
  const template = family === null ? null : builtInTemplate(family);
  if (template === null) {
    throw createError('no_chat_template', `${info.name} has no chat template: use complete()`);
  }
  return template;
}
