// The syntax tree of a template, as far as rendering reads it. The library's parser makes it; these
// types name what its package does not export.

import { parse } from "../dependencies.ts";
import { JinjaError } from "./errors.ts";
import { type Token, tokenizeTemplate } from "./tokens.ts";

/** A name. */
export interface Identifier {
  type: "Identifier";
  value: string;
}

/** A call, and a filter with arguments. */
export interface Call {
  type: "CallExpression";
  callee: Expression;
  args: Expression[];
}

/** A parameter of a macro, perhaps with a default; also a named argument of a call. */
export interface KeywordArgument {
  type: "KeywordArgumentExpression";
  key: Identifier;
  value: Expression;
}

/** A parameter of a macro. */
export type Parameter = Identifier | KeywordArgument;

/** What has a value. */
export type Expression =
  | Identifier
  | Call
  | KeywordArgument
  | { type: "IntegerLiteral" | "FloatLiteral"; value: number }
  | { type: "StringLiteral"; value: string }
  | { type: "ArrayLiteral" | "TupleLiteral"; value: Expression[] }
  | { type: "ObjectLiteral"; value: Map<Expression, Expression> }
  | { type: "MemberExpression"; object: Expression; property: Expression; computed: boolean }
  | { type: "SliceExpression"; start?: Expression; stop?: Expression; step?: Expression }
  | { type: "BinaryExpression"; operator: Token; left: Expression; right: Expression }
  | { type: "UnaryExpression"; operator: Token; argument: Expression }
  | FilterExpression
  | { type: "TestExpression"; operand: Expression; negate: boolean; test: Identifier }
  | SelectExpression
  | { type: "Ternary"; condition: Expression; trueExpr: Expression; falseExpr: Expression }
  | { type: "SpreadExpression" | "KeywordSpreadExpression"; argument: Expression };

/** `operand | filter`. */
export interface FilterExpression {
  type: "FilterExpression";
  operand: Expression;
  filter: Identifier | Call;
}

/** `lhs if test` without an else: a condition, or the filter of a loop. */
export interface SelectExpression {
  type: "SelectExpression";
  lhs: Expression;
  test: Expression;
}

/** A loop. */
export interface For {
  type: "For";
  loopvar: Expression;
  iterable: Expression;
  body: Statement[];
  defaultBlock: Statement[];
}

/** An assignment, of a value or of what a block prints. */
export interface SetStatement {
  type: "Set";
  assignee: Expression;
  value: Expression | null;
  body: Statement[];
}

/** A macro. */
export interface Macro {
  type: "Macro";
  name: Identifier;
  args: Parameter[];
  body: Statement[];
}

/** A call that is given a block. */
export interface CallStatement {
  type: "CallStatement";
  call: Call;
  callerArgs: Parameter[] | null;
  body: Statement[];
}

/** What prints or acts; an expression prints its value. */
export type Statement =
  | Expression
  | For
  | SetStatement
  | Macro
  | CallStatement
  | { type: "If"; test: Expression; body: Statement[]; alternate: Statement[] }
  | { type: "FilterStatement"; filter: Identifier | Call; body: Statement[] }
  | { type: "Break" | "Continue" | "Comment" };

/** Parses a template. Error: JinjaError. */
export function parseTemplate(source: string): Statement[] {
  try {
    return parse(tokenizeTemplate(source)).body as unknown as Statement[];
  } catch (error) {
    if (error instanceof JinjaError) throw error;
    throw new JinjaError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
