// Runs the statements of a template and collects what they print, with Jinja's scopes: an iteration
// of a loop, a macro and a captured block have names of their own, an `if` has not. Depth is
// bounded here, work and memory by the budget of the rendering.

import { countItems, countObjects, countSteps } from "../../text/render_budget.ts";
import { joinTexts, plain, type Text } from "../../text/tainted_text.ts";
import { call, evaluate, evaluateArguments, filterValue } from "./evaluate.ts";
import { globals } from "./library/globals.ts";
import { ForgivingScope, LoopState, Scope } from "./scope.ts";
import type { CallBlock, Filter, For, Parameter, Statement, Target } from "./syntax.ts";
import { toText } from "./values/text.ts";
import {
  type Callable,
  CallArguments,
  Dictionary,
  isTruthy,
  iterate,
  JinjaError,
  Namespace,
  Tuple,
  Undefined,
  type Value,
} from "./values/values.ts";

const MAXIMUM_DEPTH = 100;

/** How a list of statements ended. */
type Completion = "normal" | "break" | "continue";

/** The options of a rendering. */
export interface RenderOptions {
  /**
   * Whether macros see the names at their call instead of those at their definition, and members of
   * undefined values are undefined instead of errors.
   */
  isForgiving?: boolean;
}

/**
 * The text that a template prints. Errors: JinjaError, and those of the functions that it calls.
 */
export function renderStatements(
  statements: readonly Statement[],
  variables: ReadonlyMap<string, Value>,
  { isForgiving = false }: RenderOptions = {},
): Text {
  const root = new (isForgiving ? ForgivingScope : Scope)(undefined, new Map(globals));
  return new Renderer(isForgiving).capture(
    statements,
    new Scope(root, new Map(variables)),
  );
}

class Renderer {
  readonly #isForgiving: boolean;
  #output: Text[] = [];
  #depth = 0;
  #current: Scope | undefined;

  constructor(isForgiving: boolean) {
    this.#isForgiving = isForgiving;
  }

  /** The output of the statements, separate from earlier output. */
  capture(statements: readonly Statement[], scope: Scope): Text {
    return this.#captured(() => this.#run(statements, scope));
  }

  #captured(print: () => void): Text {
    if (++this.#depth > MAXIMUM_DEPTH) throw new JinjaError("maximum recursion depth exceeded");
    const outer = this.#output;
    this.#output = [];
    try {
      print();
      return joinTexts(this.#output);
    } finally {
      this.#output = outer;
      this.#depth--;
    }
  }

  #print(text: Text): void {
    countItems(1);
    this.#output.push(text);
  }

  #run(statements: readonly Statement[], scope: Scope): Completion {
    const outer = this.#current;
    let completion: Completion = "normal";
    for (const statement of statements) {
      countSteps();
      this.#current = scope;
      completion = this.#execute(statement, scope);
      if (completion !== "normal") break;
    }
    this.#current = outer;
    return completion;
  }

  #execute(node: Statement, scope: Scope): Completion {
    switch (node.type) {
      case "text":
        this.#print(node.text);
        break;
      case "print":
        this.#print(toText(evaluate(node.value, scope)));
        break;
      case "if": {
        const chosen = node.branches.find(({ condition }) => isTruthy(evaluate(condition, scope)));
        return this.#run(chosen ? chosen.body : node.otherwise, scope);
      }
      case "for":
        this.#visit(node, evaluate(node.iterable, scope), scope, 0);
        break;
      case "set":
        assign(node.target, evaluate(node.value, scope), scope);
        break;
      case "setBlock":
        assign(node.target, this.#filtered(node, scope), scope);
        break;
      case "do":
        evaluate(node.value, scope);
        break;
      case "with": {
        const inner = new Scope(scope);
        for (const { target, value } of node.values) assign(target, evaluate(value, scope), inner);
        return this.#run(node.body, inner);
      }
      case "macro":
        scope.set(node.name, this.#macro(node.parameters, node.body, scope));
        break;
      case "callBlock":
        this.#callWithBlock(node, scope);
        break;
      case "filterBlock":
        this.#print(toText(this.#filtered(node, scope)));
        break;
      case "break":
      case "continue":
        return node.type;
    }
    return "normal";
  }

  /** The output of a block, after filters. */
  #filtered({ body, filters }: { body: Statement[]; filters: Filter[] }, scope: Scope): Value {
    return filters.reduce<Value>(
      (value, filter) => filterValue(value, filter, scope),
      this.capture(body, new Scope(scope)),
    );
  }

  #visit(node: For, value: Value, scope: Scope, depth: number): void {
    const { target, condition, body, otherwise } = node;
    const enter = (item: Value) => {
      countSteps(2);
      const inner = new Scope(scope);
      assign(target, item, inner);
      return inner;
    };
    const all = iterate(value);
    countItems(all.length);
    const items = condition
      ? all.filter((item) => isTruthy(evaluate(condition, enter(item))))
      : [...all];
    if (items.length === 0) this.#run(otherwise, new Scope(scope));
    const visitChildren: Callable = (args) =>
      this.#captured(() => this.#visit(node, args.require(0), scope, depth + 1));
    const state = new LoopState(items, depth, visitChildren);
    for (const [index, item] of items.entries()) {
      state.moveTo(index);
      const inner = enter(item);
      inner.set("loop", state);
      if (this.#run(body, inner) === "break") return;
    }
  }

  #macro(parameters: readonly Parameter[], body: readonly Statement[], scope: Scope): Callable {
    // The macro keeps the scope of its definition.
    countObjects(4);
    return ({ positional, keywords }) => {
      const inner = new Scope(this.#isForgiving ? this.#current : scope);
      inner.set("varargs", Tuple.from(positional.slice(parameters.length)));
      countSteps(6 + positional.length + keywords.size + parameters.length);
      const others = new Dictionary(keywords);
      for (const { name } of parameters) others.delete(name);
      inner.set("kwargs", others);
      const caller = keywords.get("caller");
      if (caller !== undefined) inner.set("caller", caller);
      for (const [index, { name, fallback }] of parameters.entries()) {
        const given = index < positional.length ? positional[index] : keywords.get(name);
        if (given !== undefined) inner.set(name, given);
        else if (fallback) inner.set(name, evaluate(fallback, inner));
        else inner.set(name, new Undefined(`parameter '${name}' was not provided`));
      }
      return this.capture(body, inner);
    };
  }

  #callWithBlock({ call: { callee, args }, parameters, body }: CallBlock, scope: Scope): void {
    const block = this.#macro(parameters, body, scope);
    const { positional, keywords } = evaluateArguments(args, scope);
    const withBlock = new Dictionary(keywords);
    withBlock.set("caller", block);
    const all = new CallArguments(positional, withBlock);
    this.#print(toText(call(evaluate(callee, scope), all)));
  }
}

/**
 * Assigns a value to a name, several names, an attribute of a namespace, or an item of a
 * dictionary. Jinja refuses the last, but templates for llama.cpp use it. Errors: JinjaError.
 */
function assign(target: Target, value: Value, scope: Scope): void {
  if (target.type === "name") return scope.set(target.name, value);
  if (target.type === "tuple") {
    const items = iterate(value);
    if (items.length !== target.items.length) {
      throw new JinjaError(`cannot unpack ${items.length} values into ${target.items.length}`);
    }
    return target.items.forEach((part, i) => assign(part, items[i]!, scope));
  }
  const object = evaluate(target.object, scope);
  const name = target.type === "attribute" ? target.name : toText(evaluate(target.key, scope));
  countObjects(1);
  if (object instanceof Dictionary) object.put(name, value);
  else if (object instanceof Namespace) object.set(plain(name), value);
  else throw new JinjaError("cannot assign attribute on non-namespace object");
}
