// The value of an expression, as Jinja and Python evaluate it. Knows no statements: macros come in
// as values that can be called.

import { countObjects, countSteps } from "../render_budget.ts";
import { JinjaError } from "./errors.ts";
import { applyFilter } from "./filters.ts";
import { LoopState } from "./loop.ts";
import { getAttribute, getItem, getSlice } from "./members.ts";
import { applyOperator, applySign } from "./operators.ts";
import type { Scope } from "./scope.ts";
import type { Call, Expression, Identifier } from "./syntax.ts";
import { toText } from "./text.ts";
import {
  CallArguments,
  Dictionary,
  Float,
  isTruthy,
  iterate,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

/** Evaluates an expression. Error: JinjaError. */
export function evaluate(node: Expression, scope: Scope): Value {
  countSteps();
  switch (node.type) {
    case "Identifier":
      return scope.get(node.value);
    case "StringLiteral":
    case "IntegerLiteral":
      return node.value;
    case "FloatLiteral":
      return new Float(node.value);
    case "ArrayLiteral":
      countObjects(1);
      return node.value.map((item) => evaluate(item, scope));
    case "TupleLiteral":
      countObjects(1);
      return Tuple.from(node.value.map((item) => evaluate(item, scope)));
    case "ObjectLiteral":
      return evaluateDictionary(node.value, scope);
    case "MemberExpression":
      return evaluateMember(node, scope);
    case "CallExpression":
      return call(evaluate(node.callee, scope), evaluateArguments(node.args, scope));
    case "FilterExpression":
      return filterValue(evaluate(node.operand, scope), node.filter, scope);
    case "BinaryExpression":
      return evaluateBinary(node.operator.value, node.left, node.right, scope);
    case "UnaryExpression": {
      const value = evaluate(node.argument, scope);
      const sign = node.operator.value;
      return sign === "not" ? !isTruthy(value) : applySign(sign, value);
    }
    case "Ternary":
      return evaluate(
        isTruthy(evaluate(node.condition, scope)) ? node.trueExpr : node.falseExpr,
        scope,
      );
    case "SelectExpression":
      return isTruthy(evaluate(node.test, scope))
        ? evaluate(node.lhs, scope)
        : new Undefined("the condition is false and there is no else");
    default:
      throw new JinjaError(`${node.type} has no value here`);
  }
}

/** Calls a value. Error: JinjaError where it cannot be called. */
export function call(callee: Value, args: CallArguments): Value {
  if (typeof callee === "function") return callee(args);
  if (callee instanceof LoopState) return callee.visitChildren(args);
  throw new JinjaError(
    callee instanceof Undefined ? callee.reason : `'${typeName(callee)}' object is not callable`,
  );
}

/** Applies the filter of a node, a name or a name with arguments. Error: JinjaError. */
export function filterValue(value: Value, filter: Identifier | Call, scope: Scope): Value {
  if (filter.type === "Identifier") return applyFilter(filter.value, value, new CallArguments());
  if (filter.callee.type !== "Identifier") throw new JinjaError("a filter has no name");
  return applyFilter(filter.callee.value, value, evaluateArguments(filter.args, scope));
}

/** Evaluates the arguments of a call. Error: JinjaError. */
export function evaluateArguments(nodes: readonly Expression[], scope: Scope): CallArguments {
  const positional: Value[] = [];
  const keywords = new Dictionary();
  for (const node of nodes) {
    if (node.type === "KeywordArgumentExpression") {
      keywords.set(node.key.value, evaluate(node.value, scope));
    } else if (node.type === "SpreadExpression") {
      for (const item of iterate(evaluate(node.argument, scope))) positional.push(item);
    } else if (node.type === "KeywordSpreadExpression") {
      const more = evaluate(node.argument, scope);
      if (!(more instanceof Dictionary)) {
        throw new JinjaError("argument after ** must be a mapping");
      }
      countObjects(more.size);
      for (const [name, value] of more.pairs()) keywords.put(toText(name!), value!);
    } else {
      positional.push(evaluate(node, scope));
    }
  }
  return new CallArguments(positional, keywords);
}

function evaluateDictionary(
  entries: ReadonlyMap<Expression, Expression>,
  scope: Scope,
): Dictionary {
  const result = new Dictionary();
  countObjects(1 + entries.size);
  for (const [key, value] of entries) result.put(evaluate(key, scope), evaluate(value, scope));
  return result;
}

function evaluateBinary(
  operator: string,
  left: Expression,
  right: Expression,
  scope: Scope,
): Value {
  const value = evaluate(left, scope);
  if (operator === "and") return isTruthy(value) ? evaluate(right, scope) : value;
  if (operator === "or") return isTruthy(value) ? value : evaluate(right, scope);
  return applyOperator(operator, value, evaluate(right, scope));
}

function evaluateMember(
  { object, property, computed }: Expression & { type: "MemberExpression" },
  scope: Scope,
): Value {
  const target = evaluate(object, scope);
  if (property.type === "SliceExpression") {
    const [start, stop, step] = [property.start, property.stop, property.step]
      .map((bound) => bound ? evaluate(bound, scope) : null);
    return getSlice(target, start ?? null, stop ?? null, step ?? null);
  }
  if (!computed && property.type === "Identifier") return getAttribute(target, property.value);
  return getItem(target, evaluate(property, scope));
}
