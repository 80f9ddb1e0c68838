// Parses the expressions of a template, with Jinja's precedences (jinja2 3.1). It also accepts
// commas before a closing bracket.

import type { TokenStream } from "./token_stream.ts";
import type { Argument, Call, Expression, Filter } from "./syntax.ts";
import { parseInteger } from "./values/integers.ts";
import { Float } from "./values/values.ts";

/** Binary operators by precedence, lowest first. All associate to the left. */
const OPERATORS: readonly (readonly string[])[] = [
  ["+", "-"],
  ["~"],
  ["*", "/", "//", "%"],
  ["**"],
];

const COMPARISONS = ["==", "!=", "<", ">", "<=", ">="];

/**
 * Names that cannot be the first argument of a test, because they continue the expression around
 * it.
 */
const NO_ARGUMENT = ["and", "or", "not", "if", "else", "in", "is", "recursive"];

const CONSTANTS = new Map<string, null | boolean>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["none", null],
  ["None", null],
]);

/** Reads expressions from a stream of tokens. All methods throw JinjaError. */
export class ExpressionParser {
  readonly #stream: TokenStream;

  /** @param stream the tokens */
  constructor(stream: TokenStream) {
    this.#stream = stream;
  }

  /** An expression, or several with commas between them, which are a tuple. */
  tuple(parse: () => Expression = () => this.expression()): Expression {
    const first = parse();
    if (!this.#stream.is(",")) return first;
    const items = [first];
    while (this.#stream.takes(",") && !this.#endsTuple()) items.push(parse());
    return { type: "tuple", items };
  }

  #endsTuple(): boolean {
    return ["%}", "}}", ")", "]", "if", "recursive"].some((end) => this.#stream.is(end));
  }

  /** An expression, which may be a conditional: `a if b else c`. */
  expression(): Expression {
    let value = this.or();
    while (this.#stream.takes("if")) {
      const condition = this.or();
      const otherwise = this.#stream.takes("else")
        ? this.#stream.nested(() => this.expression())
        : undefined;
      value = { type: "conditional", condition, then: value, ...otherwise && { otherwise } };
    }
    return value;
  }

  /** An expression that is not a conditional. */
  or(): Expression {
    let left = this.#and();
    while (this.#stream.takes("or")) left = { type: "or", left, right: this.#and() };
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.#stream.takes("and")) left = { type: "and", left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    if (this.#stream.takes("not")) {
      return {
        type: "not",
        operand: this.#stream.nested(() => this.#not()),
      };
    }
    return this.#comparison();
  }

  #comparison(): Expression {
    const first = this.#binary(0);
    const others: { operator: string; operand: Expression }[] = [];
    for (;;) {
      const operator = this.#comparisonOperator();
      if (operator === undefined) break;
      others.push({ operator, operand: this.#binary(0) });
    }
    return others.length === 0 ? first : { type: "comparison", first, others };
  }

  #comparisonOperator(): string | undefined {
    if (this.#stream.takes("in")) return "in";
    const { type, value } = this.#stream.token;
    if (type === "operator" && COMPARISONS.includes(value)) {
      this.#stream.skip();
      return value;
    }
    const following = this.#stream.following;
    if (!this.#stream.is("not") || following?.type !== "name" || following.value !== "in") return;
    this.#stream.skip(2);
    return "not in";
  }

  /** An expression of operators from this level of precedence on. */
  #binary(level: number): Expression {
    const operators = OPERATORS[level];
    if (!operators) return this.unary();
    let left = this.#binary(level + 1);
    while (this.#stream.token.type === "operator" && operators.includes(this.#stream.token.value)) {
      const operator = this.#stream.token.value;
      this.#stream.skip();
      left = { type: "binary", operator, left, right: this.#binary(level + 1) };
    }
    return left;
  }

  /**
   * An operand with its signs, filters and tests, which apply to the signed value: -1 | abs is 1.
   */
  unary(hasFilters = true): Expression {
    const sign = this.#stream.is("-") || this.#stream.is("+")
      ? this.#stream.token.value
      : undefined;
    let value: Expression;
    if (sign === undefined) value = this.postfix(this.#primary());
    else {
      this.#stream.skip();
      value = { type: "sign", sign, operand: this.#stream.nested(() => this.unary(false)) };
    }
    for (; hasFilters;) {
      if (this.#stream.takes("|")) {
        value = { type: "filter", operand: value, filter: this.filter() };
      } else if (this.#stream.takes("is")) value = this.#test(value);
      // The result of a filter or a test can be called, as in Jinja.
      else if (this.#stream.is("(")) value = this.postfix(value);
      else break;
    }
    return value;
  }

  /** Any number of filters, each after a bar. */
  filters(): Filter[] {
    const filters: Filter[] = [];
    while (this.#stream.takes("|")) filters.push(this.filter());
    return filters;
  }

  /** The name of a filter and its arguments. */
  filter(): Filter {
    const name = this.#dottedName();
    return { name, args: this.#stream.is("(") ? this.#arguments() : [] };
  }

  #test(operand: Expression): Expression {
    const isNegated = this.#stream.takes("not");
    const name = this.#dottedName();
    return { type: "test", operand, test: { name, args: this.#testArguments() }, isNegated };
  }

  /** The arguments of a test. A single one needs no parentheses: `x is divisibleby 3`. */
  #testArguments(): Argument[] {
    if (this.#stream.is("(")) return this.#arguments();
    const { type, value } = this.#stream.token;
    const begins = type === "name"
      ? !NO_ARGUMENT.includes(value)
      : type === "string" || type === "integer" || type === "float" || this.#stream.is("[") ||
        this.#stream.is("{");
    return begins ? [{ kind: "positional", value: this.postfix(this.#primary()) }] : [];
  }

  #dottedName(): string {
    let name = this.#stream.expectName();
    while (this.#stream.takes(".")) name += `.${this.#stream.expectName()}`;
    return name;
  }

  /** An operand with its members, items and calls. */
  postfix(value: Expression): Expression {
    for (;;) {
      if (this.#stream.takes(".")) value = this.#member(value);
      else if (this.#stream.takes("[")) {
        value = this.#stream.nested(() => this.#subscript(value));
        this.#stream.expect("]");
      } else if (this.#stream.is("(")) {
        const call: Call = { type: "call", callee: value, args: this.#arguments() };
        value = call;
      } else return value;
    }
  }

  #member(object: Expression): Expression {
    const { type, value } = this.#stream.token;
    if (type !== "integer") return { type: "attribute", object, name: this.#stream.expectName() };
    this.#stream.skip();
    return { type: "item", object, key: { type: "literal", value: Number(value) } };
  }

  /** The contents of brackets after an operand: a key, or a slice. */
  #subscript(object: Expression): Expression {
    const start = this.#stream.is(":") ? undefined : this.tuple();
    if (!this.#stream.is(":")) return { type: "item", object, key: start! };
    const [stop, step] = [this.#bound(), this.#bound()];
    return {
      type: "slice",
      object,
      ...start && { start },
      ...stop && { stop },
      ...step && { step },
    };
  }

  #bound(): Expression | undefined {
    return this.#stream.takes(":") && !this.#stream.is(":") && !this.#stream.is("]")
      ? this.expression()
      : undefined;
  }

  #arguments(): Argument[] {
    return this.listed("(", ")", () => {
      if (this.#stream.takes("**")) return { kind: "keywordSpread", value: this.expression() };
      if (this.#stream.takes("*")) return { kind: "spread", value: this.expression() };
      const { type, value: name } = this.#stream.token;
      const following = this.#stream.following;
      if (type === "name" && following?.type === "operator" && following.value === "=") {
        this.#stream.skip(2);
        return { kind: "keyword", name, value: this.expression() };
      }
      return { kind: "positional", value: this.expression() };
    });
  }

  /** Items in brackets with commas between them, and perhaps one at the end. */
  listed<T>(open: string, close: string, parse: () => T): T[] {
    return this.#stream.nested(() => {
      this.#stream.expect(open);
      const items: T[] = [];
      while (!this.#stream.is(close)) {
        if (items.length > 0) this.#stream.expect(",");
        if (this.#stream.is(close)) break;
        items.push(parse());
      }
      this.#stream.expect(close);
      return items;
    });
  }

  #primary(): Expression {
    const { type, value } = this.#stream.token;
    if (this.#stream.is("[")) {
      return { type: "list", items: this.listed("[", "]", () => this.expression()) };
    }
    if (this.#stream.is("{")) {
      return { type: "dictionary", entries: this.listed("{", "}", this.#entry) };
    }
    if (this.#stream.takes("(")) return this.#stream.nested(() => this.#parenthesized());
    switch (type) {
      case "name": {
        this.#stream.skip();
        const constant = CONSTANTS.get(value);
        if (constant !== undefined) return { type: "literal", value: constant };
        return { type: "name", name: value };
      }
      case "integer":
        this.#stream.skip();
        return { type: "literal", value: parseInteger(value) };
      case "float":
        this.#stream.skip();
        return { type: "literal", value: new Float(Number(value)) };
      case "string": {
        let text = "";
        // Adjacent strings are one.
        for (; this.#stream.token.type === "string"; this.#stream.skip()) {
          text += this.#stream.token.value;
        }
        return { type: "literal", value: text };
      }
      default:
        this.#stream.fail(`a value is expected, not ${this.#stream.described()}`);
    }
  }

  readonly #entry = (): [Expression, Expression] => {
    const key = this.expression();
    this.#stream.expect(":");
    return [key, this.expression()];
  };

  /** An expression or a tuple after an open parenthesis, which was taken already. */
  #parenthesized(): Expression {
    if (this.#stream.takes(")")) return { type: "tuple", items: [] };
    const value = this.tuple();
    this.#stream.expect(")");
    return value;
  }
}
