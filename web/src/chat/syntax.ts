// SPDX-License-Identifier: MIT
// The tree that @huggingface/jinja's parser builds, as far as it is used (the package does not export these types),
// and the way from a template's text to it.

import { adopted, failure, limitError, maxTemplateLength } from './failure.js';
import { respellExpression, respellStatement, type Token } from './grammar.js';
import { scan, type Piece } from './scan.js';

export interface Identifier {
  type: 'Identifier';
  value: string;
}
export interface MemberExpression {
  type: 'MemberExpression';
  object: Expression;
  property: Expression | SliceExpression;
  computed: boolean;
}
export interface SliceExpression {
  type: 'SliceExpression';
  start: Expression | undefined;
  stop: Expression | undefined;
  step: Expression | undefined;
}
export interface CallExpression {
  type: 'CallExpression';
  callee: Expression;
  args: Argument[];
}
export interface FilterExpression {
  type: 'FilterExpression';
  operand: Expression;
  filter: Identifier | CallExpression;
}
export interface BinaryExpression {
  type: 'BinaryExpression';
  operator: Token;
  left: Expression;
  right: Expression;
}
export type Expression =
  | Identifier
  | MemberExpression
  | CallExpression
  | FilterExpression
  | BinaryExpression
  | { type: 'IntegerLiteral' | 'FloatLiteral'; value: number }
  | { type: 'StringLiteral'; value: string }
  | { type: 'ArrayLiteral' | 'TupleLiteral'; value: Expression[] }
  | { type: 'ObjectLiteral'; value: Map<Expression, Expression> }
  | { type: 'UnaryExpression'; operator: Token; argument: Expression }
  | { type: 'Ternary'; condition: Expression; trueExpr: Expression; falseExpr: Expression }
  /** `lhs if test`, without else; of a loop it is the condition on its items. */
  | { type: 'SelectExpression'; lhs: Expression; test: Expression };

export interface KeywordArgument {
  type: 'KeywordArgumentExpression';
  key: Identifier;
  value: Expression;
}
export type Argument =
  | Expression
  | KeywordArgument
  | { type: 'SpreadExpression'; argument: Expression }
  | { type: 'KeywordSpreadExpression'; argument: Expression };

export type Parameter = Identifier | KeywordArgument;

export interface For {
  type: 'For';
  loopvar: Expression;
  iterable: Expression;
  body: Statement[];
  defaultBlock: Statement[];
}
export interface SetStatement {
  type: 'Set';
  assignee: Expression;
  value: Expression | null;
  body: Statement[];
}
export interface CallStatement {
  type: 'CallStatement';
  call: CallExpression;
  callerArgs: Parameter[] | null;
  body: Statement[];
}
export type Statement =
  | Expression
  | For
  | SetStatement
  | CallStatement
  | { type: 'If'; test: Expression; body: Statement[]; alternate: Statement[] }
  | { type: 'Macro'; name: Identifier; args: Parameter[]; body: Statement[] }
  | { type: 'FilterStatement'; filter: Identifier | CallExpression; body: Statement[] }
  | { type: 'Break' | 'Continue' }
  | { type: 'Comment'; value: string };

export interface Program {
  type: 'Program';
  body: Statement[];
}

/** The two functions of @huggingface/jinja that are used. */
interface Library {
  tokenize(source: string): Token[];
  parse(tokens: Token[]): object;
}

function isProgram(tree: object): tree is Program {
  return 'type' in tree && tree.type === 'Program' && 'body' in tree && Array.isArray(tree.body);
}

function tokensOf(piece: Piece, tokenize: Library['tokenize']): Token[] {
  if (piece.kind === 'text') return [{ type: 'Text', value: piece.text }];
  const inside = tokenize(`{{ ${piece.code} }}`)
    .slice(1, -1)
    .map((one) =>
      one.type === 'StringLiteral' ? { ...one, value: piece.strings[Number(one.value)] ?? '' } : one,
    );
  return piece.kind === 'statement' ? respellStatement(inside) : respellExpression(inside);
}

export async function parseTemplate(source: string): Promise<Program> {
  if (source.length > maxTemplateLength) {
    throw limitError(`it is ${source.length} characters long, at most ${maxTemplateLength} are read`);
  }
  const { tokenize, parse }: Library = await import('./jinja.js');
  try {
    const tree = parse(scan(source).flatMap((piece) => tokensOf(piece, tokenize)));
    if (!isProgram(tree)) throw failure('the parser gave no program');
    return tree;
  } catch (error) {
    throw adopted(error, 'cannot be read');
  }
}
