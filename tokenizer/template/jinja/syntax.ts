// The syntax tree of a template: parser.ts makes it, renderer.ts and evaluate.ts run it.

import type { Float } from "./values/values.ts";

/** An expression, which has a value. */
export type Expression =
  | { type: "literal"; value: null | boolean | number | bigint | string | Float }
  | Name
  | { type: "list"; items: Expression[] }
  | TupleExpression
  | { type: "dictionary"; entries: [key: Expression, value: Expression][] }
  | Attribute
  | Item
  | { type: "slice"; object: Expression; start?: Expression; stop?: Expression; step?: Expression }
  | Call
  | { type: "filter"; operand: Expression; filter: Filter }
  | { type: "test"; operand: Expression; test: Filter; isNegated: boolean }
  | { type: "and" | "or"; left: Expression; right: Expression }
  | { type: "not"; operand: Expression }
  | { type: "sign"; sign: string; operand: Expression }
  | { type: "binary"; operator: string; left: Expression; right: Expression }
  | Comparison
  | Conditional;

export interface Name {
  type: "name";
  name: string;
}

/** `(a, b)`, in some places without the parentheses. */
export interface TupleExpression {
  type: "tuple";
  items: Expression[];
}

/** `object.name`. */
export interface Attribute {
  type: "attribute";
  object: Expression;
  name: string;
}

/** `object[key]`. */
export interface Item {
  type: "item";
  object: Expression;
  key: Expression;
}

/** `callee(args)`. */
export interface Call {
  type: "call";
  callee: Expression;
  args: Argument[];
}

/** `a < b <= c`: true if all comparisons are. */
export interface Comparison {
  type: "comparison";
  first: Expression;
  others: { operator: string; operand: Expression }[];
}

/** `then if condition else otherwise`. Without the else it may be undefined. */
export interface Conditional {
  type: "conditional";
  condition: Expression;
  then: Expression;
  otherwise?: Expression;
}

/** An argument of a call: `value`, `name=value`, `*value` or `**value`. */
export type Argument =
  | { kind: "positional" | "spread" | "keywordSpread"; value: Expression }
  | { kind: "keyword"; name: string; value: Expression };

/** The name of a filter or a test, and its arguments besides the operand. */
export interface Filter {
  name: string;
  args: Argument[];
}

/** The target of an assignment. */
export type Target = Name | Attribute | Item | { type: "tuple"; items: Target[] };

/** A parameter of a macro, or of a block that is passed to one. */
export interface Parameter {
  name: string;
  fallback?: Expression;
}

/** A statement, which prints or acts. */
export type Statement =
  | { type: "text"; text: string }
  | { type: "print"; value: Expression }
  | If
  | For
  | { type: "set"; target: Target; value: Expression }
  | { type: "setBlock"; target: Target; filters: Filter[]; body: Statement[] }
  | { type: "do"; value: Expression }
  | { type: "with"; values: { target: Target; value: Expression }[]; body: Statement[] }
  | { type: "macro"; name: string; parameters: Parameter[]; body: Statement[] }
  | CallBlock
  | { type: "filterBlock"; filters: Filter[]; body: Statement[] }
  | { type: "break" | "continue" };

/** Runs the first branch whose condition is true, or else `otherwise`. */
export interface If {
  type: "if";
  branches: { condition: Expression; body: Statement[] }[];
  otherwise: Statement[];
}

/** A loop over the items for which `condition` is true. `otherwise` runs if there are none. */
export interface For {
  type: "for";
  target: Target;
  iterable: Expression;
  condition?: Expression;
  body: Statement[];
  otherwise: Statement[];
}

/** A call with a block, which the callee knows as `caller`. */
export interface CallBlock {
  type: "callBlock";
  call: Call;
  parameters: Parameter[];
  body: Statement[];
}
