// From the tokens of a template to its syntax tree: the grammar of Jinja (jinja2 3.1), with its
// precedences, as far as chat templates have it: no inheritance, no includes, no imports. Taken in
// addition: commas before a closing parenthesis, `do`, loop controls, and generation blocks, whose
// tags mean nothing for a prompt.

import { type Token, tokenize } from "./lexer.ts";
import type { Argument, Call, Expression, Filter, Parameter, Statement, Target } from "./syntax.ts";
import { Float, JinjaError } from "./values/values.ts";

/**
 * How deep brackets, signs and blocks may nest in each other. Python, which runs what jinja2 makes of
 * a template, takes 200 brackets at most.
 */
const MAXIMUM_NESTING = 200;

/** Parses a template. Error: JinjaError with the line. */
export function parseTemplate(source: string): Statement[] {
  return new Parser(tokenize(source)).parse();
}

/** Operators between values by how tight they bind: loose ones first. All go from left to right. */
const OPERATORS: readonly (readonly string[])[] = [
  ["+", "-"],
  ["~"],
  ["*", "/", "//", "%"],
  ["**"],
];

const COMPARISONS = ["==", "!=", "<", ">", "<=", ">="];

/** Names that cannot be the first argument of a test: they go on with what is around it. */
const NO_ARGUMENT = ["and", "or", "not", "if", "else", "in", "is", "recursive"];

const CONSTANTS = new Map<string, null | boolean>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["none", null],
  ["None", null],
]);

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Statement[] {
    return this.#statements([]);
  }

  // ---- tokens ----

  get #token(): Token {
    return this.#tokens[this.#next]!;
  }

  /** Whether the next token is this operator, name or mark of a tag. */
  #is(value: string): boolean {
    const { type, value: found } = this.#token;
    return type === "operator" || type === "name" ? found === value : type === value;
  }

  /** Takes the next token if it is this one. */
  #takes(value: string): boolean {
    if (!this.#is(value)) return false;
    this.#next++;
    return true;
  }

  #expect(value: string): void {
    if (!this.#takes(value)) this.#fail(`'${value}' is expected, not ${this.#described()}`);
  }

  #expectName(): string {
    const { type, value } = this.#token;
    if (type !== "name") this.#fail(`a name is expected, not ${this.#described()}`);
    this.#next++;
    return value;
  }

  #described(): string {
    const { type, value } = this.#token;
    if (type === "string" || type === "text") return `a ${type}`;
    if (type === "end") return "the end of the template";
    return `'${value || type}'`;
  }

  #fail(fault: string, line = this.#token.line): never {
    throw new JinjaError(`line ${line}: ${fault}`);
  }

  /** Parses what is nested. */
  #nested<T>(parse: () => T): T {
    if (++this.#depth > MAXIMUM_NESTING) {
      this.#fail(`it nests too deeply: at most ${MAXIMUM_NESTING} levels are allowed`);
    }
    const parsed = parse();
    this.#depth--;
    return parsed;
  }

  // ---- statements ----

  /** Statements up to a tag of one of these names, or to the end; the tag's `{%` is taken. */
  #statements(ends: readonly string[], opening?: Token): Statement[] {
    const statements: Statement[] = [];
    for (;;) {
      const token = this.#token;
      this.#next++;
      if (token.type === "text") {
        statements.push({ type: "text", text: token.value });
      } else if (token.type === "{{") {
        statements.push({ type: "print", value: this.#tuple() });
        this.#expect("}}");
      } else if (token.type === "{%") {
        if (ends.some((end) => this.#is(end))) return statements;
        const statement = this.#nested(() => this.#statement());
        if (statement) statements.push(statement);
      } else {
        // The end of the template.
        if (!opening) return statements;
        this.#fail(`'${opening.value}' has no '${ends.at(-1)}'`, opening.line);
      }
    }
  }

  /** A statement behind its `{%`. */
  #statement(): Statement | undefined {
    const opening = this.#token;
    const { value: name } = opening;
    this.#expectName();
    switch (name) {
      case "if":
        return this.#if(opening);
      case "for":
        return this.#for(opening);
      case "set":
        return this.#set(opening);
      case "do":
        return this.#tagged({ type: "do", value: this.#tuple() });
      case "with":
        return this.#with(opening);
      case "macro":
        return {
          type: "macro",
          name: this.#expectName(),
          parameters: this.#parameters(),
          body: this.#body(opening),
        };
      case "call":
        return this.#callBlock(opening);
      case "filter":
        return {
          type: "filterBlock",
          filters: [this.#filter(), ...this.#filters()],
          body: this.#body(opening),
        };
      case "break":
      case "continue":
        return this.#tagged({ type: name });
      case "generation":
      case "endgeneration":
        this.#expect("%}");
        return undefined;
      default:
        this.#fail(
          name.startsWith("end") || name === "else" || name === "elif"
            ? `'${name}' ends nothing`
            : `there is no statement '${name}'`,
          opening.line,
        );
    }
  }

  /** A statement that is a tag alone. */
  #tagged<T extends Statement>(statement: T): T {
    this.#expect("%}");
    return statement;
  }

  /** What stands between a tag, whose end is next, and the one that ends it, which is taken whole. */
  #body(opening: Token): Statement[] {
    this.#expect("%}");
    const end = `end${opening.value}`;
    const body = this.#statements([end], opening);
    this.#expect(end);
    this.#expect("%}");
    return body;
  }

  #if(opening: Token): Statement {
    const ends = ["elif", "else", "endif"];
    const branches: { condition: Expression; body: Statement[] }[] = [];
    do {
      const condition = this.#tuple();
      this.#expect("%}");
      branches.push({ condition, body: this.#statements(ends, opening) });
    } while (this.#takes("elif"));
    const otherwise = this.#otherwise("endif", opening);
    return { type: "if", branches, otherwise };
  }

  /** An else, if it comes, and the end of the block. */
  #otherwise(end: string, opening: Token): Statement[] {
    let body: Statement[] = [];
    if (this.#takes("else")) {
      this.#expect("%}");
      body = this.#statements([end], opening);
    }
    this.#expect(end);
    this.#expect("%}");
    return body;
  }

  #for(opening: Token): Statement {
    const target = this.#target();
    this.#expect("in");
    let iterable = this.#tuple(() => this.#or());
    let condition = this.#takes("if") ? this.#expression() : undefined;
    if (condition && this.#takes("else")) {
      // Jinja has no such choice without parentheses, but other engines do.
      const otherwise = this.#expression();
      iterable = { type: "conditional", condition, then: iterable, otherwise };
      condition = undefined;
    }
    // Every loop can be called: what is recursive needs no word here.
    this.#takes("recursive");
    this.#expect("%}");
    const body = this.#statements(["else", "endfor"], opening);
    const otherwise = this.#otherwise("endfor", opening);
    return { type: "for", target, iterable, ...condition && { condition }, body, otherwise };
  }

  #set(opening: Token): Statement {
    const target = this.#target();
    if (this.#takes("=")) return this.#tagged({ type: "set", target, value: this.#tuple() });
    return { type: "setBlock", target, filters: this.#filters(), body: this.#body(opening) };
  }

  #with(opening: Token): Statement {
    const values: { target: Target; value: Expression }[] = [];
    while (!this.#is("%}")) {
      if (values.length > 0) this.#expect(",");
      const target = this.#targetItem();
      this.#expect("=");
      values.push({ target, value: this.#expression() });
    }
    return { type: "with", values, body: this.#body(opening) };
  }

  #callBlock(opening: Token): Statement {
    const parameters = this.#is("(") ? this.#parameters() : [];
    const call = this.#unary();
    if (call.type !== "call") this.#fail("'call' needs a call", opening.line);
    return { type: "callBlock", call, parameters, body: this.#body(opening) };
  }

  #parameters(): Parameter[] {
    return this.#listed("(", ")", () => {
      const name = this.#expectName();
      return this.#takes("=") ? { name, fallback: this.#expression() } : { name };
    });
  }

  /** What is assigned to, perhaps several: `a, (b, c)`. */
  #target(): Target {
    const items = [this.#targetItem()];
    let isTuple = false;
    while (this.#takes(",")) {
      isTuple = true;
      if (this.#token.type !== "name" && !this.#is("(") || this.#is("in")) break;
      items.push(this.#targetItem());
    }
    return isTuple ? { type: "tuple", items } : items[0]!;
  }

  #targetItem(): Target {
    if (this.#takes("(")) {
      const target = this.#nested(() => this.#target());
      this.#expect(")");
      return target;
    }
    const target = this.#postfix({ type: "name", name: this.#expectName() });
    if (target.type === "name" || target.type === "attribute" || target.type === "item") {
      return target;
    }
    this.#fail("nothing can be assigned to this");
  }

  // ---- expressions ----

  /** Expressions with commas between them are a tuple. */
  #tuple(parse: () => Expression = () => this.#expression()): Expression {
    const first = parse();
    if (!this.#is(",")) return first;
    const items = [first];
    while (this.#takes(",") && !this.#endsTuple()) items.push(parse());
    return { type: "tuple", items };
  }

  #endsTuple(): boolean {
    return ["%}", "}}", ")", "]", "if", "recursive"].some((end) => this.#is(end));
  }

  #expression(): Expression {
    let value = this.#or();
    while (this.#takes("if")) {
      const condition = this.#or();
      const otherwise = this.#takes("else") ? this.#nested(() => this.#expression()) : undefined;
      value = { type: "conditional", condition, then: value, ...otherwise && { otherwise } };
    }
    return value;
  }

  #or(): Expression {
    let left = this.#and();
    while (this.#takes("or")) left = { type: "or", left, right: this.#and() };
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.#takes("and")) left = { type: "and", left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    if (this.#takes("not")) return { type: "not", operand: this.#nested(() => this.#not()) };
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
    if (this.#takes("in")) return "in";
    const { type, value } = this.#token;
    if (type === "operator" && COMPARISONS.includes(value)) {
      this.#next++;
      return value;
    }
    const following = this.#tokens[this.#next + 1];
    if (!this.#is("not") || following?.type !== "name" || following.value !== "in") return;
    this.#next += 2;
    return "not in";
  }

  /** Values with operators between them that bind at least as tight as those of the level. */
  #binary(level: number): Expression {
    const operators = OPERATORS[level];
    if (!operators) return this.#unary();
    let left = this.#binary(level + 1);
    while (this.#token.type === "operator" && operators.includes(this.#token.value)) {
      const operator = this.#token.value;
      this.#next++;
      left = { type: "binary", operator, left, right: this.#binary(level + 1) };
    }
    return left;
  }

  /** A value with its signs, filters and tests. Filters are of the whole, tests too: -1 | abs is 1. */
  #unary(hasFilters = true): Expression {
    const sign = this.#is("-") || this.#is("+") ? this.#token.value : undefined;
    let value: Expression;
    if (sign === undefined) value = this.#postfix(this.#primary());
    else {
      this.#next++;
      value = { type: "sign", sign, operand: this.#nested(() => this.#unary(false)) };
    }
    for (; hasFilters;) {
      if (this.#takes("|")) value = { type: "filter", operand: value, filter: this.#filter() };
      else if (this.#takes("is")) value = this.#test(value);
      // Jinja calls what a filter or a test gave.
      else if (this.#is("(")) value = this.#postfix(value);
      else break;
    }
    return value;
  }

  #filters(): Filter[] {
    const filters: Filter[] = [];
    while (this.#takes("|")) filters.push(this.#filter());
    return filters;
  }

  #filter(): Filter {
    const name = this.#dottedName();
    return { name, args: this.#is("(") ? this.#arguments() : [] };
  }

  #test(operand: Expression): Expression {
    const isNegated = this.#takes("not");
    const name = this.#dottedName();
    return { type: "test", operand, test: { name, args: this.#testArguments() }, isNegated };
  }

  /** The arguments of a test, of which a single one needs no parentheses: `x is divisibleby 3`. */
  #testArguments(): Argument[] {
    if (this.#is("(")) return this.#arguments();
    const { type, value } = this.#token;
    const begins = type === "name"
      ? !NO_ARGUMENT.includes(value)
      : type === "string" || type === "integer" || type === "float" || this.#is("[") ||
        this.#is("{");
    return begins ? [{ kind: "positional", value: this.#postfix(this.#primary()) }] : [];
  }

  #dottedName(): string {
    let name = this.#expectName();
    while (this.#takes(".")) name += `.${this.#expectName()}`;
    return name;
  }

  /** A value with its members, items and calls. */
  #postfix(value: Expression): Expression {
    for (;;) {
      if (this.#takes(".")) value = this.#member(value);
      else if (this.#takes("[")) {
        value = this.#nested(() => this.#subscript(value));
        this.#expect("]");
      } else if (this.#is("(")) {
        const call: Call = { type: "call", callee: value, args: this.#arguments() };
        value = call;
      } else return value;
    }
  }

  #member(object: Expression): Expression {
    const { type, value } = this.#token;
    if (type !== "integer") return { type: "attribute", object, name: this.#expectName() };
    this.#next++;
    return { type: "item", object, key: { type: "literal", value: Number(value) } };
  }

  /** What stands in brackets behind a value: a key, or a slice. */
  #subscript(object: Expression): Expression {
    const start = this.#is(":") ? undefined : this.#tuple();
    if (!this.#is(":")) return { type: "item", object, key: start! };
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
    return this.#takes(":") && !this.#is(":") && !this.#is("]") ? this.#expression() : undefined;
  }

  #arguments(): Argument[] {
    return this.#listed("(", ")", () => {
      if (this.#takes("**")) return { kind: "keywordSpread", value: this.#expression() };
      if (this.#takes("*")) return { kind: "spread", value: this.#expression() };
      const { type, value: name } = this.#token;
      const following = this.#tokens[this.#next + 1];
      if (type === "name" && following?.type === "operator" && following.value === "=") {
        this.#next += 2;
        return { kind: "keyword", name, value: this.#expression() };
      }
      return { kind: "positional", value: this.#expression() };
    });
  }

  /** What stands in brackets with commas in between, and perhaps one at the end. */
  #listed<T>(open: string, close: string, parse: () => T): T[] {
    return this.#nested(() => {
      this.#expect(open);
      const items: T[] = [];
      while (!this.#is(close)) {
        if (items.length > 0) this.#expect(",");
        if (this.#is(close)) break;
        items.push(parse());
      }
      this.#expect(close);
      return items;
    });
  }

  #primary(): Expression {
    const { type, value } = this.#token;
    if (this.#is("[")) {
      return { type: "list", items: this.#listed("[", "]", () => this.#expression()) };
    }
    if (this.#is("{")) return { type: "dictionary", entries: this.#listed("{", "}", this.#entry) };
    if (this.#takes("(")) return this.#nested(() => this.#parenthesized());
    this.#next++;
    switch (type) {
      case "name": {
        const constant = CONSTANTS.get(value);
        if (constant !== undefined) return { type: "literal", value: constant };
        return { type: "name", name: value };
      }
      case "integer":
        return { type: "literal", value: Number(value) };
      case "float":
        return { type: "literal", value: new Float(Number(value)) };
      case "string": {
        let text = value;
        // Neighbouring strings are one.
        for (; this.#token.type === "string"; this.#next++) text += this.#token.value;
        return { type: "literal", value: text };
      }
      default:
        this.#next--;
        this.#fail(`a value is expected, not ${this.#described()}`);
    }
  }

  readonly #entry = (): [Expression, Expression] => {
    const key = this.#expression();
    this.#expect(":");
    return [key, this.#expression()];
  };

  /** A value or a tuple behind an open parenthesis, which is taken. */
  #parenthesized(): Expression {
    if (this.#takes(")")) return { type: "tuple", items: [] };
    const value = this.#tuple();
    this.#expect(")");
    return value;
  }
}
