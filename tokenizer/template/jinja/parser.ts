// From the tokens of a template to its syntax tree: Jinja's statements (jinja2 3.1) that chat
// templates use, so no inheritance, includes or imports. It also accepts `do`, loop controls, and
// generation blocks, whose tags mean nothing for a prompt.

import { ExpressionParser } from "./expression_parser.ts";
import { type Token, tokenize } from "./lexer.ts";
import type { Expression, Parameter, Statement, Target } from "./syntax.ts";
import { TokenStream } from "./token_stream.ts";

/** Parses a template. Errors: JinjaError with the line. */
export function parseTemplate(source: string): Statement[] {
  return new Parser(new TokenStream(tokenize(source))).parse();
}

class Parser {
  readonly #stream: TokenStream;
  readonly #expressions: ExpressionParser;

  constructor(stream: TokenStream) {
    this.#stream = stream;
    this.#expressions = new ExpressionParser(stream);
  }

  parse(): Statement[] {
    return this.#statements([]);
  }

  /** Statements up to a tag of one of these names, or to the end. The tag's `{%` is taken. */
  #statements(ends: readonly string[], opening?: Token): Statement[] {
    const statements: Statement[] = [];
    for (;;) {
      const token = this.#stream.token;
      this.#stream.skip();
      if (token.type === "text") {
        statements.push({ type: "text", text: token.value });
      } else if (token.type === "{{") {
        statements.push({ type: "print", value: this.#expressions.tuple() });
        this.#stream.expect("}}");
      } else if (token.type === "{%") {
        if (ends.some((end) => this.#stream.is(end))) return statements;
        const statement = this.#stream.nested(() => this.#statement());
        if (statement) statements.push(statement);
      } else {
        // The end of the template.
        if (!opening) return statements;
        this.#stream.fail(`'${opening.value}' has no '${ends.at(-1)}'`, opening.line);
      }
    }
  }

  /** The statement after a `{%` that was taken. */
  #statement(): Statement | undefined {
    const opening = this.#stream.token;
    const { value: name } = opening;
    this.#stream.expectName();
    switch (name) {
      case "if":
        return this.#if(opening);
      case "for":
        return this.#for(opening);
      case "set":
        return this.#set(opening);
      case "do":
        return this.#tagged({ type: "do", value: this.#expressions.tuple() });
      case "with":
        return this.#with(opening);
      case "macro":
        return {
          type: "macro",
          name: this.#stream.expectName(),
          parameters: this.#parameters(),
          body: this.#body(opening),
        };
      case "call":
        return this.#callBlock(opening);
      case "filter":
        return {
          type: "filterBlock",
          filters: [this.#expressions.filter(), ...this.#expressions.filters()],
          body: this.#body(opening),
        };
      case "break":
      case "continue":
        return this.#tagged({ type: name });
      case "generation":
      case "endgeneration":
        this.#stream.expect("%}");
        return undefined;
      default:
        this.#stream.fail(
          name.startsWith("end") || name === "else" || name === "elif"
            ? `'${name}' ends nothing`
            : `there is no statement '${name}'`,
          opening.line,
        );
    }
  }

  /** A statement that consists of one tag. */
  #tagged<T extends Statement>(statement: T): T {
    this.#stream.expect("%}");
    return statement;
  }

  /**
   * The contents of a block: from the end of its tag to the tag that ends it, which is taken
   * completely.
   */
  #body(opening: Token): Statement[] {
    this.#stream.expect("%}");
    const end = `end${opening.value}`;
    const body = this.#statements([end], opening);
    this.#stream.expect(end);
    this.#stream.expect("%}");
    return body;
  }

  #if(opening: Token): Statement {
    const ends = ["elif", "else", "endif"];
    const branches: { condition: Expression; body: Statement[] }[] = [];
    do {
      const condition = this.#expressions.tuple();
      this.#stream.expect("%}");
      branches.push({ condition, body: this.#statements(ends, opening) });
    } while (this.#stream.takes("elif"));
    const otherwise = this.#otherwise("endif", opening);
    return { type: "if", branches, otherwise };
  }

  /** An optional else, and the end of the block. */
  #otherwise(end: string, opening: Token): Statement[] {
    let body: Statement[] = [];
    if (this.#stream.takes("else")) {
      this.#stream.expect("%}");
      body = this.#statements([end], opening);
    }
    this.#stream.expect(end);
    this.#stream.expect("%}");
    return body;
  }

  #for(opening: Token): Statement {
    const target = this.#target();
    this.#stream.expect("in");
    let iterable = this.#expressions.tuple(() => this.#expressions.or());
    let condition = this.#stream.takes("if") ? this.#expressions.expression() : undefined;
    if (condition && this.#stream.takes("else")) {
      // Jinja demands parentheses around such a conditional, other engines do not.
      const otherwise = this.#expressions.expression();
      iterable = { type: "conditional", condition, then: iterable, otherwise };
      condition = undefined;
    }
    // Every loop can be called here, so the word changes nothing.
    this.#stream.takes("recursive");
    this.#stream.expect("%}");
    const body = this.#statements(["else", "endfor"], opening);
    const otherwise = this.#otherwise("endfor", opening);
    return { type: "for", target, iterable, ...condition && { condition }, body, otherwise };
  }

  #set(opening: Token): Statement {
    const target = this.#target();
    if (this.#stream.takes("=")) {
      return this.#tagged({ type: "set", target, value: this.#expressions.tuple() });
    }
    return {
      type: "setBlock",
      target,
      filters: this.#expressions.filters(),
      body: this.#body(opening),
    };
  }

  #with(opening: Token): Statement {
    const values: { target: Target; value: Expression }[] = [];
    while (!this.#stream.is("%}")) {
      if (values.length > 0) this.#stream.expect(",");
      const target = this.#targetItem();
      this.#stream.expect("=");
      values.push({ target, value: this.#expressions.expression() });
    }
    return { type: "with", values, body: this.#body(opening) };
  }

  #callBlock(opening: Token): Statement {
    const parameters = this.#stream.is("(") ? this.#parameters() : [];
    const call = this.#expressions.unary();
    if (call.type !== "call") this.#stream.fail("'call' needs a call", opening.line);
    return { type: "callBlock", call, parameters, body: this.#body(opening) };
  }

  #parameters(): Parameter[] {
    return this.#expressions.listed("(", ")", () => {
      const name = this.#stream.expectName();
      return this.#stream.takes("=")
        ? { name, fallback: this.#expressions.expression() }
        : { name };
    });
  }

  /** The target of an assignment, perhaps several: `a, (b, c)`. */
  #target(): Target {
    const items = [this.#targetItem()];
    let isTuple = false;
    while (this.#stream.takes(",")) {
      isTuple = true;
      if (this.#stream.token.type !== "name" && !this.#stream.is("(") || this.#stream.is("in")) {
        break;
      }
      items.push(this.#targetItem());
    }
    return isTuple ? { type: "tuple", items } : items[0]!;
  }

  #targetItem(): Target {
    if (this.#stream.takes("(")) {
      const target = this.#stream.nested(() => this.#target());
      this.#stream.expect(")");
      return target;
    }
    const target = this.#expressions.postfix({ type: "name", name: this.#stream.expectName() });
    if (target.type === "name" || target.type === "attribute" || target.type === "item") {
      return target;
    }
    this.#stream.fail("nothing can be assigned to this");
  }
}
