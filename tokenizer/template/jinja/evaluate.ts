// Evaluates expressions as Jinja and Python do. It knows no statements: macros are values that can
// be called.

import { countObjects, countSteps } from "../../text/render_budget.ts";
import { applyFilter } from "./library/filters.ts";
import { LoopState, type Scope } from "./scope.ts";
import { getAttribute, getItem, getSlice } from "./values/members.ts";
import { applyOperator, applySign } from "./values/operators.ts";
import type { Argument, Comparison, Expression, Filter } from "./syntax.ts";
import { passesTest } from "./library/globals.ts";
import { toText } from "./values/text.ts";
import {
  CallArguments,
  Dictionary,
  isTruthy,
  iterate,
  JinjaError,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "./values/values.ts";

/** The value of an expression. Errors: JinjaError. */
export function evaluate(node: Expression, scope: Scope): Value {
  countSteps();
  switch (node.type) {
    case "literal":
      return node.value;
    case "name":
      return scope.get(node.name);
    case "attribute":
      return getAttribute(evaluate(node.object, scope), node.name);
    case "item":
      return getItem(evaluate(node.object, scope), evaluate(node.key, scope));
    case "slice": {
      const object = evaluate(node.object, scope);
      const [start, stop, step] = [node.start, node.stop, node.step]
        .map((bound) => bound ? evaluate(bound, scope) : null);
      return getSlice(object, start!, stop!, step!);
    }
    case "call":
      return call(evaluate(node.callee, scope), evaluateArguments(node.args, scope));
    case "filter":
      return filterValue(evaluate(node.operand, scope), node.filter, scope);
    case "test": {
      const value = evaluate(node.operand, scope);
      const { name, args } = node.test;
      return passesTest(name, value, evaluateArguments(args, scope)) !== node.isNegated;
    }
    case "conditional":
      if (isTruthy(evaluate(node.condition, scope))) return evaluate(node.then, scope);
      return node.otherwise
        ? evaluate(node.otherwise, scope)
        : new Undefined("the condition is false and there is no else");
    case "and": {
      const value = evaluate(node.left, scope);
      return isTruthy(value) ? evaluate(node.right, scope) : value;
    }
    case "or": {
      const value = evaluate(node.left, scope);
      return isTruthy(value) ? value : evaluate(node.right, scope);
    }
    case "not":
      return !isTruthy(evaluate(node.operand, scope));
    case "sign":
      return applySign(node.sign, evaluate(node.operand, scope));
    case "binary":
      return applyOperator(node.operator, evaluate(node.left, scope), evaluate(node.right, scope));
    case "comparison":
      return evaluateComparison(node, scope);
    case "list":
      countObjects(1);
      return node.items.map((item) => evaluate(item, scope));
    case "tuple":
      countObjects(1);
      return Tuple.from(node.items.map((item) => evaluate(item, scope)));
    case "dictionary": {
      const result = new Dictionary();
      countObjects(1 + node.entries.length);
      for (const [key, value] of node.entries) {
        result.put(evaluate(key, scope), evaluate(value, scope));
      }
      return result;
    }
  }
}

/** Calls a value. Errors: JinjaError if it cannot be called. */
export function call(callee: Value, args: CallArguments): Value {
  if (typeof callee === "function") return callee(args);
  if (callee instanceof LoopState) return callee.visitChildren(args);
  throw new JinjaError(
    callee instanceof Undefined ? callee.reason : `'${typeName(callee)}' object is not callable`,
  );
}

/** Applies a filter with its arguments. Errors: JinjaError. */
export function filterValue(value: Value, { name, args }: Filter, scope: Scope): Value {
  return applyFilter(name, value, evaluateArguments(args, scope));
}

/** Evaluates the arguments of a call. Errors: JinjaError. */
export function evaluateArguments(nodes: readonly Argument[], scope: Scope): CallArguments {
  if (nodes.length === 0) return new CallArguments();
  const positional: Value[] = [];
  const keywords = new Dictionary();
  for (const node of nodes) {
    const value = evaluate(node.value, scope);
    if (node.kind === "positional") positional.push(value);
    else if (node.kind === "keyword") keywords.set(node.name, value);
    else if (node.kind === "spread") {
      for (const item of iterate(value)) positional.push(item);
    } else {
      if (!(value instanceof Dictionary)) {
        throw new JinjaError("argument after ** must be a mapping");
      }
      countObjects(value.size);
      for (const [name, more] of value.pairs()) keywords.put(toText(name!), more!);
    }
  }
  return new CallArguments(positional, keywords);
}

/**
 * Compares each value with the next one, up to the first comparison that is false. Values after
 * that are not evaluated.
 */
function evaluateComparison({ first, others }: Comparison, scope: Scope): Value {
  let left = evaluate(first, scope);
  let result: Value = true;
  for (const { operator, operand } of others) {
    const right = evaluate(operand, scope);
    result = applyOperator(operator, left, right);
    if (result !== true) break;
    left = right;
  }
  return result;
}
