// From the pieces of a Go template to its syntax tree. Defined by Go's package text/template/parse.

import { GoTemplateError } from "./errors.ts";
import { characterCode, type Piece, splitTemplate, type Token } from "./lexer.ts";
import type { Branch, Command, Node, Operand, Pipeline, Tree } from "./syntax.ts";

const MAXIMUM_DEPTH = 200;
const CONSTANTS: ReadonlyMap<string, null | boolean> = new Map([
  ["nil", null],
  ["true", true],
  ["false", false],
]);

/** Parses a template. Errors: GoTemplateError. */
export function parseGoTemplate(source: string): Tree {
  const parser = new Parser(splitTemplate(source));
  return { body: parser.parseAll(), definitions: parser.definitions };
}

class Parser {
  readonly definitions = new Map<string, readonly Node[]>();
  readonly #pieces: readonly Piece[];
  #next = 0;
  #depth = 0;
  #loops = 0;

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  parseAll(): Node[] {
    const { nodes, end } = this.#parseUntil([]);
    if (end) throw new GoTemplateError(`unexpected {{${end.keyword}}}`, end.action.line);
    return nodes;
  }

  /** Nodes up to an action with one of the keywords, which is left in `end`. */
  #parseUntil(keywords: readonly string[]) {
    this.#enter(1);
    const nodes: Node[] = [];
    while (this.#next < this.#pieces.length) {
      const piece = this.#pieces[this.#next++]!;
      if ("text" in piece) {
        nodes.push({ kind: "text", text: piece.text });
        continue;
      }
      const action = new Action(piece.tokens, piece.line);
      const keyword = action.takeKeyword();
      if (keyword === "end" || keyword === "else") {
        if (!keywords.includes(keyword)) {
          throw new GoTemplateError(`unexpected {{${keyword}}}`, piece.line);
        }
        this.#depth--;
        return { nodes, end: { keyword, action } };
      }
      const node = this.#parseAction(keyword, action);
      if (node) nodes.push(node);
    }
    this.#depth--;
    return { nodes, end: undefined };
  }

  /** One level deeper. Each {{else if}} of a chain is a level, too. */
  #enter(line: number): void {
    if (++this.#depth > MAXIMUM_DEPTH) throw new GoTemplateError("blocks nest too deeply", line);
  }

  #parseAction(keyword: string | undefined, action: Action): Node | undefined {
    switch (keyword) {
      case "if":
      case "with":
      case "range":
        return this.#parseBranch(keyword, action);
      case "break":
      case "continue":
        action.expectEnd();
        if (this.#loops === 0) {
          throw new GoTemplateError(`{{${keyword}}} outside of {{range}}`, action.line);
        }
        return { kind: keyword, line: action.line };
      case "template":
        return action.template();
      case "define": {
        const name = action.takeString();
        action.expectEnd();
        this.definitions.set(name, this.#parseBody(action));
        return undefined;
      }
      case "block": {
        const node = action.template();
        this.definitions.set(node.name, this.#parseBody(action));
        return node;
      }
      default:
        return { kind: "action", pipeline: action.pipeline() };
    }
  }

  #parseBranch(kind: Branch["kind"], action: Action): Branch {
    const pipeline = action.pipeline(kind === "range" ? 2 : 1);
    if (kind === "range") this.#loops++;
    const { nodes: body, end } = this.#parseUntil(["else", "end"]);
    if (kind === "range") this.#loops--;
    if (!end) throw new GoTemplateError(`{{${kind}}} has no {{end}}`, action.line);
    if (end.keyword === "end") {
      end.action.expectEnd();
      return { kind, pipeline, body, otherwise: [] };
    }
    // {{else if}} contains the rest of the chain, and shares its {{end}}.
    const chained = end.action.takeKeyword();
    if (chained === "if" || chained === "with") {
      this.#enter(end.action.line);
      const rest = this.#parseBranch(chained, end.action);
      this.#depth--;
      return { kind, pipeline, body, otherwise: [rest] };
    }
    end.action.expectEnd();
    return { kind, pipeline, body, otherwise: this.#parseBody(action) };
  }

  #parseBody(action: Action): Node[] {
    const { nodes, end } = this.#parseUntil(["end"]);
    if (!end) throw new GoTemplateError("a block has no {{end}}", action.line);
    end.action.expectEnd();
    return nodes;
  }
}

const KEYWORDS = ["if", "with", "range", "else", "end", "define", "block", "template"];

/** A reader of the tokens of one action, from the left. */
class Action {
  readonly line: number;
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], line: number) {
    this.#tokens = tokens;
    this.line = line;
  }

  /** The next keyword, if the action continues with one. */
  takeKeyword(): string | undefined {
    const token = this.#peek();
    const isKeyword = token?.kind === "word" &&
      [...KEYWORDS, "break", "continue"].includes(token.text);
    if (!isKeyword) return undefined;
    this.#next++;
    return token.text;
  }

  takeString(): string {
    const token = this.#peek();
    if (token?.kind !== "string") throw this.#unexpected("a name in quotes");
    this.#next++;
    return token.text;
  }

  expectEnd(): void {
    if (this.#peek()) throw this.#unexpected("the end of the action");
  }

  template(): Node & { kind: "template" } {
    const name = this.takeString();
    const pipeline = this.#peek() ? this.pipeline() : undefined;
    return { kind: "template", name, pipeline, line: this.line };
  }

  /** A pipeline up to the end of the action. @param most most variables that it may declare */
  pipeline(most = 1): Pipeline {
    const pipeline = this.#pipeline(most);
    this.expectEnd();
    return pipeline;
  }

  #pipeline(most: number): Pipeline {
    const line = this.#peek()?.line ?? this.line;
    const { variables, isAssignment } = this.#declaration(most);
    const commands = [this.#command()];
    while (this.#takeOperator("|")) commands.push(this.#command());
    return { variables, isAssignment, commands, line };
  }

  #declaration(most: number) {
    const none = { variables: [], isAssignment: false };
    const start = this.#next;
    const variables: string[] = [];
    while (this.#peek()?.kind === "variable") {
      variables.push(this.#tokens[this.#next++]!.text);
      if (variables.length < most && this.#takeOperator(",")) continue;
      const isAssignment = this.#takeOperator("=");
      if (isAssignment || this.#takeOperator(":=")) return { variables, isAssignment };
      break;
    }
    this.#next = start;
    return none;
  }

  #command(): Command {
    const operands: Operand[] = [];
    const line = this.#peek()?.line ?? this.line;
    for (;;) {
      const token = this.#peek();
      const isEnd = !token || (token.kind === "operator" && token.text !== "(");
      if (isEnd) {
        if (operands.length === 0) throw this.#unexpected("a value");
        return { operands, line };
      }
      operands.push(this.#operand());
    }
  }

  #operand(): Operand {
    const of = this.#term();
    const names: string[] = [];
    while (this.#peek()?.kind === "field" && !this.#peek()!.isSpaced) {
      names.push(this.#tokens[this.#next++]!.text);
    }
    return names.length === 0 ? of : { kind: "fields", of, names };
  }

  #term(): Operand {
    const { kind, text, line } = this.#tokens[this.#next]!;
    if (kind === "field") return this.#fieldOfDot();
    this.#next++;
    switch (kind) {
      case "dot":
        return { kind: "dot" };
      case "string":
        return { kind: "literal", value: text };
      case "number":
        return number(text, line);
      case "variable":
        return { kind: "variable", name: text };
      case "word": {
        const constant = CONSTANTS.get(text);
        return constant === undefined
          ? { kind: "function", name: text }
          : { kind: "literal", value: constant };
      }
      default: {
        if (++this.#depth > MAXIMUM_DEPTH) {
          throw new GoTemplateError("parentheses nest too deeply", line);
        }
        const pipeline = this.#pipeline(1);
        this.#depth--;
        if (!this.#takeOperator(")")) throw this.#unexpected("a closing parenthesis");
        return { kind: "pipeline", pipeline };
      }
    }
  }

  /**
   * `.A.B`: the first field is that of the dot, the next ones without a space are fields of the
   * result.
   */
  #fieldOfDot(): Operand {
    const names = [this.#tokens[this.#next++]!.text];
    return { kind: "fields", of: { kind: "dot" }, names };
  }

  #takeOperator(text: string): boolean {
    const token = this.#peek();
    const found = token?.kind === "operator" && token.text === text;
    if (found) this.#next++;
    return found;
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#next];
  }

  #unexpected(expected: string): GoTemplateError {
    const token = this.#peek();
    const found = token ? JSON.stringify(token.text) : "the end of the action";
    return new GoTemplateError(`expected ${expected}, found ${found}`, token?.line ?? this.line);
  }
}

function number(text: string, line: number): Operand {
  if (text.startsWith("'")) return { kind: "literal", value: characterCode(text, line) };
  const value = Number(text.replaceAll("_", "").replace(/^\+/, ""));
  if (Number.isNaN(value)) throw new GoTemplateError(`bad number ${text}`, line);
  return /[.e]/.test(text) && !/^[+-]?0x/.test(text)
    ? { kind: "float", value }
    : { kind: "literal", value };
}
