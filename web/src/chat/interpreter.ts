// SPDX-License-Identifier: MIT
// Runs a template. The tree is that of @huggingface/jinja; the meaning of everything in it is Jinja2's and Python's.

import { compare, contains, equals } from './compare.js';
import { failure, type Budget } from './failure.js';
import { filters, type Runtime } from './filters.js';
import { negatedTestPrefix, recursiveMark, testPrefix, tupleName, withName } from './grammar.js';
import { attribute, subscript } from './lookup.js';
import { Loop } from './loop.js';
import { bindParameters, parametersOf } from './macro.js';
import { binary, negative } from './operators.js';
import { toText } from './print.js';
import { Scope } from './scope.js';
import { slice } from './slices.js';
import type {
  Argument,
  BinaryExpression,
  CallExpression,
  CallStatement,
  Expression,
  FilterExpression,
  For,
  Identifier,
  MemberExpression,
  Parameter,
  Program,
  SetStatement,
  Statement,
} from './syntax.js';
import { runTest } from './tests.js';
import { Text, TextBuilder } from './text.js';
import {
  Callable,
  Dict,
  Float,
  HostObject,
  integer,
  iterate,
  list,
  Sequence,
  truthy,
  tuple,
  typeName,
  Undefined,
  type Arguments,
  type Value,
} from './values.js';

/** How a list of statements ended: at its end, or on the way out of a loop or one turn of it. */
type Exit = 'break' | 'continue' | null;

const comparisons = new Set(['==', '!=', '<', '>', '<=', '>=', 'in', 'not in']);

export class Interpreter implements Runtime {
  readonly budget: Budget;

  constructor(budget: Budget) {
    this.budget = budget;
  }

  run(program: Program, scope: Scope): Text {
    return this.#block(program.body, scope);
  }

  filter(name: string, value: Value, args: Arguments): Value {
    const filter = filters.get(name);
    if (!filter) throw failure(`No filter named '${name}'.`);
    return this.#paid(filter(value, args, this));
  }

  test(name: string, value: Value, args: Arguments): boolean {
    return runTest(name, value, args, this.budget, filters);
  }

  /** A value that was just made. */
  #paid(value: Value): Value {
    if (value instanceof Text) this.budget.characters(value.length);
    if (value instanceof Sequence) this.budget.step(value.items.length);
    return value;
  }

  // ---- statements ----

  /** The text that statements write. */
  #block(statements: readonly Statement[], scope: Scope): Text {
    const out = new TextBuilder();
    this.#run(statements, scope, out);
    const text = out.done();
    this.budget.characters(text.length);
    return text;
  }

  #run(statements: readonly Statement[], scope: Scope, out: TextBuilder): Exit {
    for (const statement of statements) {
      const exit = this.#statement(statement, scope, out);
      if (exit !== null) return exit;
    }
    return null;
  }

  #statement(node: Statement, scope: Scope, out: TextBuilder): Exit {
    this.budget.step();
    switch (node.type) {
      case 'If':
        return this.#run(truthy(this.#value(node.test, scope)) ? node.body : node.alternate, scope, out);
      case 'For':
        this.#for(node, scope, out);
        return null;
      case 'Set':
        this.#set(node, scope);
        return null;
      case 'Macro':
        scope.set(node.name.value, this.#macro(node.name.value, node.args, node.body, scope));
        return null;
      case 'CallStatement':
        out.add(toText(this.#callBlock(node, scope)));
        return null;
      case 'FilterStatement':
        return this.#filterBlock(node.filter, node.body, scope, out);
      case 'Break':
        return 'break';
      case 'Continue':
        return 'continue';
      case 'Comment':
        return null;
      default:
        out.add(toText(this.#value(node, scope)));
        return null;
    }
  }

  #for(node: For, scope: Scope, out: TextBuilder): void {
    const { iterable, loopvar } = node;
    if (isNamed(loopvar, 'loop')) throw failure("Can't assign to special loop variable in for-loop target");
    const source = this.#value(iterable.type === 'SelectExpression' ? iterable.lhs : iterable, scope);
    this.#loop(node, source, scope, 0, out);
  }

  #loop(node: For, source: Value, scope: Scope, depth: number, out: TextBuilder): void {
    const items = this.#selected(node, iterate(source, this.budget), scope);
    const [first] = node.body;
    const isRecursive = first?.type === 'Comment' && first.value === recursiveMark;
    const loop = new Loop(
      items,
      depth,
      this.budget,
      isRecursive ? (inner) => this.#again(node, inner, scope, depth + 1) : null,
    );
    let finishedOne = false;
    for (const [index, item] of items.entries()) {
      this.budget.step();
      loop.moveTo(index);
      const turn = new Scope(scope);
      turn.set('loop', loop.variable);
      this.#assign(node.loopvar, item, turn);
      const exit = this.#run(node.body, turn, out);
      if (exit === 'break') break;
      finishedOne ||= exit === null;
    }
    // As in Jinja, a turn that ended by break or continue does not count.
    if (!finishedOne) this.#run(node.defaultBlock, new Scope(scope), out);
  }

  #again(node: For, source: Value, scope: Scope, depth: number): Text {
    const out = new TextBuilder();
    this.#loop(node, source, scope, depth, out);
    return out.done();
  }

  #selected(node: For, items: readonly Value[], scope: Scope): readonly Value[] {
    const { iterable, loopvar } = node;
    if (iterable.type !== 'SelectExpression') return items;
    return items.filter((item) => {
      const inner = new Scope(scope);
      this.#assign(loopvar, item, inner);
      return truthy(this.#value(iterable.test, inner));
    });
  }

  #set(node: SetStatement, scope: Scope): void {
    if (node.value !== null) {
      this.#assign(node.assignee, this.#value(node.value, scope), scope);
      return;
    }
    // {% set target | filter %}…{% endset %}
    let target = node.assignee;
    const applied: FilterExpression['filter'][] = [];
    for (; target.type === 'FilterExpression'; target = target.operand) {
      applied.unshift(target.filter);
    }
    let value: Value = this.#block(node.body, new Scope(scope));
    for (const filter of applied) {
      value = this.#applyFilter(filter, value, scope);
    }
    this.#assign(target, value, scope);
  }

  #assign(target: Expression, value: Value, scope: Scope): void {
    if (target.type === 'Identifier') {
      scope.set(target.value, value);
    } else if (target.type === 'TupleLiteral') {
      const items = iterate(value, this.budget);
      if (items.length !== target.value.length) {
        throw failure(`${target.value.length} values to unpack expected, got ${items.length}`);
      }
      target.value.forEach((one, index) => this.#assign(one, items[index] ?? null, scope));
    } else if (target.type === 'MemberExpression' && target.property.type === 'Identifier') {
      const object = this.#value(target.object, scope);
      if (!(object instanceof HostObject) || object.type !== 'Namespace') {
        throw failure('cannot assign attribute on non-namespace object');
      }
      object.attributes.set(target.property.value, value);
    } else {
      throw failure('cannot assign to this expression');
    }
  }

  #macro(name: string, parameters: readonly Parameter[], body: readonly Statement[], scope: Scope): Callable {
    return new Callable(name, (args) => {
      const inner = new Scope(scope);
      const evaluate = (node: Expression): Value => this.#value(node, inner);
      bindParameters(name, parametersOf(parameters, body), args, inner, evaluate);
      return this.#block(body, inner);
    });
  }

  #callBlock(node: CallStatement, scope: Scope): Value {
    const caller = this.#macro('caller', node.callerArgs ?? [], node.body, scope);
    const { positional, named } = this.#arguments(node.call.args, scope);
    const args = { positional, named: new Map([...named, ['caller', caller] as const]) };
    return this.#call(this.#value(node.call.callee, scope), args);
  }

  #filterBlock(
    filter: FilterExpression['filter'],
    body: readonly Statement[],
    scope: Scope,
    out: TextBuilder,
  ): Exit {
    const inner = new Scope(scope);
    if (filter.type === 'CallExpression' && isNamed(filter.callee, withName)) {
      this.#arguments(filter.args, scope).named.forEach((value, name) => inner.set(name, value));
      return this.#run(body, inner, out);
    }
    out.add(toText(this.#applyFilter(filter, this.#block(body, inner), scope)));
    return null;
  }

  // ---- expressions ----

  #value(node: Expression, scope: Scope): Value {
    this.budget.step();
    switch (node.type) {
      case 'Identifier':
        return scope.get(node.value);
      case 'IntegerLiteral':
        return integer(node.value);
      case 'FloatLiteral':
        return new Float(node.value);
      case 'StringLiteral':
        return new Text(node.value);
      case 'ArrayLiteral':
        return list(node.value.map((item) => this.#value(item, scope)));
      case 'TupleLiteral':
        return tuple(...node.value.map((item) => this.#value(item, scope)));
      case 'ObjectLiteral':
        return this.#dict(node.value, scope);
      case 'UnaryExpression':
        return this.#unary(node.operator.value, this.#value(node.argument, scope));
      case 'BinaryExpression':
        return this.#binary(node, scope);
      case 'Ternary':
        return this.#value(
          truthy(this.#value(node.condition, scope)) ? node.trueExpr : node.falseExpr,
          scope,
        );
      case 'SelectExpression':
        return truthy(this.#value(node.test, scope))
          ? this.#value(node.lhs, scope)
          : new Undefined('the inline if-expression evaluated to false and no else section was defined');
      case 'FilterExpression':
        return this.#applyFilter(node.filter, this.#value(node.operand, scope), scope);
      case 'MemberExpression':
        return this.#member(node, scope);
      case 'CallExpression':
        return this.#callExpression(node, scope);
      default:
        throw failure('an expression of a kind that is not known');
    }
  }

  #dict(entries: ReadonlyMap<Expression, Expression>, scope: Scope): Dict {
    const dict = new Dict();
    for (const [key, value] of entries) {
      dict.set(this.#value(key, scope), this.#value(value, scope));
    }
    return dict;
  }

  #unary(operator: string, value: Value): Value {
    if (operator === 'not') return !truthy(value);
    return operator === '-' ? negative(value) : negative(negative(value));
  }

  #binary(node: BinaryExpression, scope: Scope): Value {
    const { value: operator } = node.operator;
    if (operator === 'and' || operator === 'or') {
      const left = this.#value(node.left, scope);
      return truthy(left) === (operator === 'and') ? this.#value(node.right, scope) : left;
    }
    if (comparisons.has(operator)) return this.#comparison(node, scope).holds;
    return this.#paid(binary(operator, this.#value(node.left, scope), this.#value(node.right, scope)));
  }

  /** a < b < c is a < b and b < c, with b evaluated once. */
  #comparison({ operator, left, right }: BinaryExpression, scope: Scope): { holds: boolean; right: Value } {
    const before =
      operator.chained === true && left.type === 'BinaryExpression' ? this.#comparison(left, scope) : null;
    if (before?.holds === false) return before;
    const first = before === null ? this.#value(left, scope) : before.right;
    const second = this.#value(right, scope);
    return { holds: this.#holds(operator.value, first, second), right: second };
  }

  #holds(operator: string, a: Value, b: Value): boolean {
    switch (operator) {
      case '==':
        return equals(a, b, this.budget);
      case '!=':
        return !equals(a, b, this.budget);
      case 'in':
        return contains(b, a, this.budget);
      case 'not in':
        return !contains(b, a, this.budget);
      case '<':
        return compare(a, b, this.budget, operator) < 0;
      case '>':
        return compare(a, b, this.budget, operator) > 0;
      case '<=':
        return compare(a, b, this.budget, operator) <= 0;
      default:
        return compare(a, b, this.budget, operator) >= 0;
    }
  }

  #member({ object, property, computed }: MemberExpression, scope: Scope): Value {
    const value = this.#value(object, scope);
    if (property.type === 'SliceExpression') {
      const part = (node: Expression | undefined): Value | undefined => node && this.#value(node, scope);
      return this.#paid(slice(value, part(property.start), part(property.stop), part(property.step)));
    }
    if (!computed && property.type === 'Identifier') {
      return attribute(value, new Text(property.value), this.budget);
    }
    return subscript(value, this.#value(property, scope), this.budget);
  }

  #applyFilter(filter: Identifier | CallExpression, value: Value, scope: Scope): Value {
    const named = filter.type === 'Identifier' ? filter : filter.callee;
    if (named.type !== 'Identifier') throw failure('a filter without a name');
    const args = this.#arguments(filter.type === 'Identifier' ? [] : filter.args, scope);
    const name = named.value;
    if (name.startsWith(testPrefix)) return this.test(name.slice(testPrefix.length), value, args);
    if (name.startsWith(negatedTestPrefix)) {
      return !this.test(name.slice(negatedTestPrefix.length), value, args);
    }
    return this.filter(name, value, args);
  }

  #arguments(nodes: readonly Argument[], scope: Scope): Arguments {
    const positional: Value[] = [];
    const named = new Map<string, Value>();
    const add = (name: string, value: Value): void => {
      if (named.has(name)) throw failure(`got multiple values for keyword argument '${name}'`);
      named.set(name, value);
    };
    for (const node of nodes) {
      if (node.type === 'KeywordArgumentExpression') {
        add(node.key.value, this.#value(node.value, scope));
      } else if (node.type === 'SpreadExpression') {
        positional.push(...iterate(this.#value(node.argument, scope), this.budget));
      } else if (node.type === 'KeywordSpreadExpression') {
        const dict = this.#value(node.argument, scope);
        if (!(dict instanceof Dict)) throw failure('the argument after ** must be a mapping');
        dict.entries().forEach(([key, value]) => add(toText(key).text, value));
      } else {
        positional.push(this.#value(node, scope));
      }
    }
    return { positional, named };
  }

  #callExpression(node: CallExpression, scope: Scope): Value {
    if (isNamed(node.callee, tupleName)) return tuple(...this.#arguments(node.args, scope).positional);
    const callee = this.#value(node.callee, scope);
    return this.#call(callee, this.#arguments(node.args, scope));
  }

  #call(callee: Value, args: Arguments): Value {
    const call = callee instanceof Callable || callee instanceof HostObject ? callee.call : null;
    if (call !== null) return this.#paid(call(args));
    throw failure(callee instanceof Undefined ? callee.hint : `'${typeName(callee)}' object is not callable`);
  }
}

const isNamed = (node: Expression, name: string): boolean =>
  node.type === 'Identifier' && node.value === name;
