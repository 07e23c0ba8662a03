// SPDX-License-Identifier: MIT
// A chat template, from its text to the text of a chat.

import { adopted, Budget } from './failure.js';
import { globals } from './globals.js';
import { Interpreter } from './interpreter.js';
import { Scope } from './scope.js';
import { parseTemplate } from './syntax.js';
import { Text } from './text.js';
import { fromOutside } from './values.js';

export interface RenderInput {
  /** Whatever the template calls by name: messages, tools, … Texts in it are the caller's, not the template's. */
  variables: Readonly<Record<string, unknown>>;
  /** Texts that may spell control tokens: bos_token, eos_token. */
  trusted: Readonly<Record<string, string>>;
  /** The clock of strftime_now. */
  now: Date;
}

export async function renderTemplate(
  source: string,
  { variables, trusted, now }: RenderInput,
): Promise<Text> {
  const program = await parseTemplate(source);
  try {
    const budget = new Budget();
    const outer = new Scope(null);
    globals(now, budget).forEach((value, name) => outer.set(name, value));
    for (const [name, value] of Object.entries(variables)) {
      if (value !== undefined) outer.set(name, fromOutside(value));
    }
    for (const [name, value] of Object.entries(trusted)) {
      outer.set(name, new Text(value));
    }
    return new Interpreter(budget).run(program, new Scope(outer));
  } catch (error) {
    throw adopted(error, 'failed');
  }
}
