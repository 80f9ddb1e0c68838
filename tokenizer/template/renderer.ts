// Runs the statements of a template and collects what they print, with Jinja's rules of scope: a
// loop pass, a macro and a captured block keep what they set, an `if` does not. Depth is bounded
// here, work and memory by the budget of the rendering.

import { countItems, countObjects, countSteps } from "../render_budget.ts";
import { joinTexts, plain, type Text } from "../tainted_text.ts";
import { JinjaError } from "./errors.ts";
import { call, evaluate, evaluateArguments, filterValue } from "./expressions.ts";
import { globals } from "./globals.ts";
import { LoopState } from "./loop.ts";
import { ForgivingScope, Scope } from "./scope.ts";
import type {
  CallStatement,
  Expression,
  For,
  Parameter,
  SetStatement,
  Statement,
} from "./syntax.ts";
import { toText } from "./text.ts";
import {
  type Callable,
  CallArguments,
  Dictionary,
  isTruthy,
  iterate,
  Namespace,
  Tuple,
  Undefined,
  type Value,
} from "./values.ts";

const MAXIMUM_DEPTH = 100;

/** How a list of statements ended. */
type Completion = "normal" | "break" | "continue";

/** How a template is run. */
export interface RenderOptions {
  /**
   * Whether macros see the names where they are called, not those around their definition, and
   * whether members of what is undefined are undefined, not a failure.
   */
  isForgiving?: boolean;
}

/** The text that a template prints. Error: JinjaError, and whatever the functions throw. */
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

  /** What the statements print, apart from what was printed before. */
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
      case "If":
        return this.#run(isTruthy(evaluate(node.test, scope)) ? node.body : node.alternate, scope);
      case "For":
        this.#loop(node, scope);
        break;
      case "Set":
        this.#set(node, scope);
        break;
      case "Macro":
        scope.set(node.name.value, this.#macro(node.args, node.body, scope));
        break;
      case "CallStatement":
        this.#callWithBlock(node, scope);
        break;
      case "FilterStatement":
        this.#print(
          toText(filterValue(this.capture(node.body, new Scope(scope)), node.filter, scope)),
        );
        break;
      case "Break":
        return "break";
      case "Continue":
        return "continue";
      case "Comment":
        break;
      default:
        this.#print(toText(evaluate(node, scope)));
    }
    return "normal";
  }

  #set({ assignee, value, body }: SetStatement, scope: Scope): void {
    if (value) return assign(assignee, evaluate(value, scope), scope);
    const text = this.capture(body, new Scope(scope));
    if (assignee.type !== "FilterExpression") return assign(assignee, text, scope);
    assign(assignee.operand, filterValue(text, assignee.filter, scope), scope);
  }

  #loop(node: For, scope: Scope): void {
    const { iterable } = node;
    if (iterable.type === "SelectExpression") {
      this.#visit(node, evaluate(iterable.lhs, scope), iterable.test, scope, 0);
    } else {
      this.#visit(node, evaluate(iterable, scope), undefined, scope, 0);
    }
  }

  #visit(node: For, value: Value, test: Expression | undefined, scope: Scope, depth: number): void {
    const enter = (item: Value) => {
      countSteps(2);
      const inner = new Scope(scope);
      assign(node.loopvar, item, inner);
      return inner;
    };
    const all = iterate(value);
    countItems(all.length);
    const items = test ? all.filter((item) => isTruthy(evaluate(test, enter(item)))) : [...all];
    if (items.length === 0) this.#run(node.defaultBlock, new Scope(scope));
    const visitChildren: Callable = (args) =>
      this.#captured(() => this.#visit(node, args.require(0), test, scope, depth + 1));
    const state = new LoopState(items, depth, visitChildren);
    for (const [index, item] of items.entries()) {
      state.moveTo(index);
      const inner = enter(item);
      inner.set("loop", state);
      if (this.#run(node.body, inner) === "break") return;
    }
  }

  #macro(parameters: readonly Parameter[], body: readonly Statement[], scope: Scope): Callable {
    // It keeps the scope where it is defined.
    countObjects(4);
    return ({ positional, keywords }) => {
      const inner = new Scope(this.#isForgiving ? this.#current : scope);
      const names = parameters.map((one) => one.type === "Identifier" ? one.value : one.key.value);
      inner.set("varargs", Tuple.from(positional.slice(names.length)));
      countSteps(6 + positional.length + keywords.size + parameters.length);
      const others = new Dictionary(keywords);
      for (const name of names) others.delete(name);
      inner.set("kwargs", others);
      const caller = keywords.get("caller");
      if (caller !== undefined) inner.set("caller", caller);
      for (const [index, parameter] of parameters.entries()) {
        const name = names[index]!;
        const given = index < positional.length ? positional[index] : keywords.get(name);
        if (given !== undefined) inner.set(name, given);
        else if (parameter.type === "Identifier") {
          inner.set(name, new Undefined(`parameter '${name}' was not provided`));
        } else inner.set(name, evaluate(parameter.value, inner));
      }
      return this.capture(body, inner);
    };
  }

  #callWithBlock({ call: { callee, args }, callerArgs, body }: CallStatement, scope: Scope): void {
    const block = this.#macro(callerArgs ?? [], body, scope);
    const { positional, keywords } = evaluateArguments(args, scope);
    const withBlock = new Dictionary(keywords);
    withBlock.set("caller", block);
    const all = new CallArguments(positional, withBlock);
    this.#print(toText(call(evaluate(callee, scope), all)));
  }
}

/**
 * Gives a name, several names or an attribute of a namespace a value; dictionaries take one, too,
 * which Jinja refuses and templates made with llama.cpp do. Error: JinjaError.
 */
function assign(target: Expression, value: Value, scope: Scope): void {
  if (target.type === "Identifier") return scope.set(target.value, value);
  if (target.type === "TupleLiteral") {
    const items = iterate(value);
    if (items.length !== target.value.length) {
      throw new JinjaError(`cannot unpack ${items.length} values into ${target.value.length}`);
    }
    return target.value.forEach((part, i) => assign(part, items[i]!, scope));
  }
  const object = target.type === "MemberExpression" ? evaluate(target.object, scope) : null;
  const isOpen = object instanceof Namespace || object instanceof Dictionary;
  if (target.type !== "MemberExpression" || !isOpen) {
    throw new JinjaError("cannot assign attribute on non-namespace object");
  }
  const { property } = target;
  const name = property.type === "Identifier" ? property.value : toText(evaluate(property, scope));
  countObjects(1);
  if (object instanceof Dictionary) object.put(name, value);
  else object.set(plain(name), value);
}
