// SPDX-License-Identifier: MIT
// The grammar comes from @huggingface/jinja. What it lacks is respelled here, token by token, in what it has:
//   a is test(b), a is not test b   ->  a | is:test(b), a | is not:test(b)   (a filter call of a name no template can write)
//   a < b < c, a not in b           ->  one operator token each; the second of a chain is marked
//   a + b ~ c                       ->  a + (b ~ c)        (~ binds more tightly than + and -)
//   (), (a,)                        ->  tuple:(), tuple:(a,)
//   {% for … recursive %}           ->  {% for … %} and a comment that says so
//   {% with a = b %}, {% generation %}  ->  {% filter with:(a = b) %}, {% filter with:() %}

import { failure } from './failure.js';

/** A token of @huggingface/jinja. */
export interface Token {
  value: string;
  type: string;
  /** The comparison goes on from one before it: a < b < c. */
  chained?: boolean;
}

export const testPrefix = 'is:';
export const negatedTestPrefix = 'is not:';
export const tupleName = 'tuple:';
export const withName = 'with:';
/** First statement of a loop that may call itself. */
export const recursiveMark = 'recursive';

const token = (type: string, value: string): Token => ({ type, value });
const open = (): Token => token('OpenParen', '(');
const close = (): Token => token('CloseParen', ')');

const brackets = new Map([
  ['OpenParen', 'CloseParen'],
  ['OpenSquareBracket', 'CloseSquareBracket'],
  ['OpenCurlyBracket', 'CloseCurlyBracket'],
]);
const closers = new Set(brackets.values());

/** What a test may have for an argument without parentheses. */
const bareArguments = new Set([
  'Identifier',
  'StringLiteral',
  'NumericLiteral',
  'OpenSquareBracket',
  'OpenCurlyBracket',
]);

/** Words between operands; none of them is the argument of a test. */
const keywords = new Set(['and', 'or', 'not', 'if', 'else', 'in', 'is', 'recursive']);
const isWord = (one: Token | undefined, word: string): boolean =>
  one?.type === 'Identifier' && one.value === word;
const isKeyword = (one: Token | undefined): boolean => one?.type === 'Identifier' && keywords.has(one.value);

const isSigned = ({ type, value }: Token): boolean =>
  type === 'UnaryOperator' || (type === 'NumericLiteral' && /^[+-]/.test(value));

/** Whether an operand may end with this token, so that what follows is an operator, a call or a subscript. */
function endsOperand(one: Token | undefined): boolean {
  if (one === undefined || isKeyword(one)) return false;
  return closers.has(one.type) || ['Identifier', 'StringLiteral', 'NumericLiteral'].includes(one.type);
}

/** For each opening bracket the index of the one that closes it. */
function partnersOf(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const partners = new Map<number, number>();
  const open: number[] = [];
  tokens.forEach(({ type }, index) => {
    if (brackets.has(type)) open.push(index);
    const opening = closers.has(type) ? open.pop() : undefined;
    if (opening !== undefined) partners.set(opening, index);
  });
  return partners;
}

/** What is known of the expression on one level of brackets. */
interface Level {
  /** Where the current operand of + - and comparisons begins in the output, and whether it has a ~ in it. */
  operandStart: number;
  concatenates: boolean;
  /** A comparison has been seen that one more would go on from. */
  compares: boolean;
}

class Respeller {
  readonly #tokens: readonly Token[];
  readonly #partners: ReadonlyMap<number, number>;
  readonly #out: Token[] = [];
  /** How many parentheses open before a token of the output. */
  readonly #opened = new Map<number, number>();
  readonly #levels: Level[] = [];
  /** Where the arguments of tests without parentheses end in the input, the innermost last. */
  readonly #argumentEnds: number[] = [];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
    this.#partners = partnersOf(tokens);
  }

  respelled(): Token[] {
    this.#enter();
    while (this.#at < this.#tokens.length) {
      this.#next();
      while (this.#argumentEnds.at(-1) === this.#at) {
        this.#argumentEnds.pop();
        this.#leave();
        this.#out.push(close());
      }
    }
    this.#leave();
    return this.#out.flatMap((one, index) => [
      ...Array.from({ length: this.#opened.get(index) ?? 0 }, open),
      one,
    ]);
  }

  get #level(): Level {
    const level = this.#levels.at(-1);
    if (level === undefined) throw failure('a bracket is closed that was not opened');
    return level;
  }

  #enter(): void {
    this.#levels.push({ operandStart: this.#out.length, concatenates: false, compares: false });
  }

  #leave(): void {
    this.#endOperand();
    this.#levels.pop();
  }

  #endOperand(): void {
    const level = this.#level;
    if (level.concatenates) {
      this.#opened.set(level.operandStart, (this.#opened.get(level.operandStart) ?? 0) + 1);
      this.#out.push(close());
    }
    level.concatenates = false;
  }

  /** An operator or separator that ends the operand before it. */
  #separate(separator: Token, compares: boolean): void {
    this.#endOperand();
    this.#out.push(separator);
    this.#level.operandStart = this.#out.length;
    this.#level.compares = compares;
  }

  #next(): void {
    const here = this.#tokens[this.#at] ?? token('', '');
    const isInfix = endsOperand(this.#out.at(-1));
    if (this.#out.at(-1)?.type === 'Dot') {
      this.#emit(here); // a name, even if it is spelled like an operator
    } else if (isWord(here, 'is')) {
      this.#test();
    } else if (isInfix && isSigned(here)) {
      this.#sign(here);
    } else if (here.type === 'ComparisonBinaryOperator' || isWord(here, 'in') || this.#isNotIn()) {
      this.#comparison(here);
    } else if (here.value === '~' && here.type === 'AdditiveBinaryOperator') {
      this.#level.concatenates = true;
      this.#emit(here);
    } else if (here.type === 'AdditiveBinaryOperator' && isInfix) {
      this.#at += 1;
      this.#separate(here, this.#level.compares);
    } else if (isKeyword(here) || ['Comma', 'Colon', 'Equals'].includes(here.type)) {
      this.#at += 1;
      this.#separate(here, false);
    } else if (brackets.has(here.type)) {
      if (here.type === 'OpenParen' && !isInfix && this.#isOddTuple()) {
        this.#out.push(token('Identifier', tupleName));
      }
      this.#emit(here);
      this.#enter();
    } else {
      if (closers.has(here.type)) this.#leave();
      this.#emit(here);
    }
  }

  /** After a brace the library takes + and - for signs, and joins them to the number that follows. */
  #sign({ value, type }: Token): void {
    this.#at += 1;
    this.#separate(token('AdditiveBinaryOperator', value.slice(0, 1)), this.#level.compares);
    if (value.length > 1) this.#out.push(token(type, value.slice(1)));
  }

  #emit(here: Token): void {
    this.#out.push(here);
    this.#at += 1;
  }

  #isNotIn(): boolean {
    return isWord(this.#tokens[this.#at], 'not') && isWord(this.#tokens[this.#at + 1], 'in');
  }

  #comparison(here: Token): void {
    const isNotIn = this.#isNotIn();
    this.#at += isNotIn ? 2 : 1;
    const operator = token('ComparisonBinaryOperator', isNotIn ? 'not in' : here.value);
    this.#separate({ ...operator, chained: this.#level.compares }, true);
  }

  /** () or one that ends with a comma. */
  #isOddTuple(): boolean {
    const end = this.#partners.get(this.#at) ?? 0;
    return end === this.#at + 1 || this.#tokens[end - 1]?.type === 'Comma';
  }

  #test(): void {
    this.#at += 1;
    const negated = isWord(this.#tokens[this.#at], 'not');
    this.#at += negated ? 1 : 0;
    const name = this.#tokens[this.#at];
    if (name?.type !== 'Identifier') throw failure('the name of a test is missing');
    this.#at += 1;
    const spelling = (negated ? negatedTestPrefix : testPrefix) + name.value;
    this.#out.push(token('Pipe', '|'), token('Identifier', spelling));
    const argument = this.#tokens[this.#at];
    if (argument !== undefined && !isKeyword(argument) && bareArguments.has(argument.type)) {
      this.#out.push(open());
      this.#argumentEnds.push(this.#afterOperand(this.#at));
      this.#enter();
    }
  }

  /** Behind a primary and its attributes, subscripts and calls. */
  #afterOperand(at: number): number {
    const afterGroup = (index: number): number => (this.#partners.get(index) ?? index) + 1;
    let end = afterGroup(at);
    while (this.#tokens[end - 1]?.type === 'StringLiteral' && this.#tokens[end]?.type === 'StringLiteral')
      end += 1;
    for (;;) {
      const type = this.#tokens[end]?.type;
      if (type === 'Dot') end += 2;
      else if (type === 'OpenSquareBracket' || type === 'OpenParen') end = afterGroup(end);
      else return end;
    }
  }
}

const respell = (tokens: readonly Token[]): Token[] => new Respeller(tokens).respelled();

function loop(tokens: readonly Token[], begin: Token, end: Token): Token[] {
  const at = tokens.findIndex((one) => isWord(one, 'in'));
  if (at < 0) throw failure('a for without in');
  const recursive = isWord(tokens.at(-1), 'recursive');
  const rest = tokens.slice(at + 1, recursive ? -1 : undefined);
  const loopTokens = [begin, ...tokens.slice(0, at + 1), ...respell(rest), end];
  return recursive ? [...loopTokens, token('Comment', recursiveMark)] : loopTokens;
}

/** The tokens of one statement, from {% to %}. */
export function respellStatement(tokens: readonly Token[]): Token[] {
  const begin = token('OpenStatement', '{%');
  const end = token('CloseStatement', '%}');
  const [keyword, ...rest] = tokens;
  switch (keyword?.value) {
    case 'for':
      return loop(tokens, begin, end);
    case 'with':
    case 'generation': {
      const filter = [token('Identifier', 'filter'), token('Identifier', withName)];
      return [begin, ...filter, open(), ...respell(rest), close(), end];
    }
    case 'endwith':
    case 'endgeneration':
      return [begin, token('Identifier', 'endfilter'), end];
    case 'call': {
      // {% call(parameters) macro(…) %}: the first parentheses are no operand.
      const parameters = rest[0]?.type === 'OpenParen' ? (partnersOf(rest).get(0) ?? 0) + 1 : 0;
      return [begin, keyword, ...rest.slice(0, parameters), ...respell(rest.slice(parameters)), end];
    }
    default:
      return keyword === undefined ? [begin, end] : [begin, keyword, ...respell(rest), end];
  }
}

/** The tokens of one {{ … }}. */
export function respellExpression(tokens: readonly Token[]): Token[] {
  return [token('OpenExpression', '{{'), ...respell(tokens), token('CloseExpression', '}}')];
}
