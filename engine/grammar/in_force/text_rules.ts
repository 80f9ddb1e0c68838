// Which parts of a pattern or of a grammar say what comes next in an answer, and where in it a document
// begins: they are run over the text as sets of stacks of nodes, each leaf with its span in the format. For
// reports alone: what it cannot run, such as assertions, it says nothing about, and no mask depends on it.

import { type ParsedGrammar, parseGrammar, type TextSpan } from "../ebnf.ts";
import type { Grammar, GrammarRules, JsonGrammar } from "../grammar.ts";
import { hasCharacter, parsePattern, type PatternNode } from "../language/mod.ts";

type Node =
  | {
    kind: "character";
    /** Missing if it stands in no text. */
    span?: TextSpan | undefined;
    /** The document that begins with the character, instead of a text. */
    document?: JsonGrammar;
    matches: (codePoint: number) => boolean;
  }
  | { kind: "sequence"; parts: readonly Node[] }
  | { kind: "choice"; options: readonly Node[] }
  | { kind: "repeat"; part: Node; min: number; max: number }
  | { kind: "rule"; name: string };

/** What is still to come: a node, and all that comes after it. */
interface Stack {
  readonly id: number;
  readonly node: Node;
  readonly next: Stack | undefined;
}

/** Most stacks at a time: of a grammar that needs more, such as one that begins with itself, nothing is told. */
const MOST_STACKS = 500;

/** A document in a text. */
export interface BegunDocument {
  readonly grammar: JsonGrammar;
  /** Where it begins, in UTF-16 units. */
  readonly start: number;
}

/** A pattern or a grammar, followed along an answer. */
export class TextRules {
  readonly #rules: (name: string) => Node | undefined;
  readonly #known = new Map<Node, Map<number, Stack>>();
  /** What is left of a repetition, by what it repeats and how often. */
  readonly #rests = new Map<Node, Map<string, Node>>();
  #count = 0;
  /** The stacks that may come next, each with a character on top. */
  #current: readonly Stack[];
  #document: BegunDocument | undefined;
  /** UTF-16 units so far. */
  #length = 0;

  private constructor(start: Node, rules: (name: string) => Node | undefined) {
    this.#rules = rules;
    this.#current = this.#expand([this.#push(start, undefined)]);
  }

  /** The rules of a pattern that is valid; undefined if it has what cannot be run. */
  static ofPattern(source: string): TextRules | undefined {
    return unlessUnknown(() => new TextRules(nodeOfPattern(parsePattern(source)), () => undefined));
  }

  /** The rules of a grammar that is valid, as text or data; undefined if it has what cannot be run. */
  static ofGrammar(source: string | GrammarRules): TextRules | undefined {
    const { grammar, spanOf }: Pick<ParsedGrammar, "grammar" | "spanOf"> =
      typeof source === "string"
        ? parseGrammar(source)
        : { grammar: source, spanOf: () => undefined };
    return unlessUnknown(() => {
      const nodes = new Map(
        [...grammar.rules ?? []].map(([name, rule]) => [name, nodeOfGrammar(rule, spanOf)]),
      );
      return new TextRules(nodeOfGrammar(grammar.root, spanOf), (name) => nodes.get(name));
    });
  }

  /** Goes on by a text. */
  take(text: string): void {
    for (const character of text) {
      const codePoint = character.codePointAt(0)!;
      if (this.#document) return;
      for (const { node } of this.#current) {
        if (node.kind !== "character" || !node.document || !node.matches(codePoint)) continue;
        this.#document = { grammar: node.document, start: this.#length };
      }
      this.#length += character.length;
      this.#current = this.#expand(
        this.#current.flatMap(({ node, next }) =>
          node.kind === "character" && node.matches(codePoint) ? [next] : []
        ),
      );
    }
  }

  /** The document that has begun, or may begin here; what comes after it is not followed. */
  get document(): BegunDocument | undefined {
    if (this.#document) return this.#document;
    for (const { node } of this.#current) {
      const grammar = node.kind === "character" ? node.document : undefined;
      if (grammar) return { grammar, start: this.#length };
    }
    return undefined;
  }

  /** Where in the format stands what may come next, in order. */
  get spans(): TextSpan[] {
    const spans = new Map(
      this.#current.flatMap(({ node }) =>
        node.kind === "character" && node.span ? [[node.span.join(), node.span] as const] : []
      ),
    );
    return [...spans.values()].sort(([a], [b]) => a - b);
  }

  /** A stack; equal ones are the same object. */
  #push(node: Node, next: Stack | undefined): Stack {
    let known = this.#known.get(node);
    if (!known) this.#known.set(node, known = new Map());
    const id = next?.id ?? 0;
    const stack = known.get(id) ?? { id: ++this.#count, node, next };
    known.set(id, stack);
    return stack;
  }

  /** The stacks that these come to with a character on top. */
  #expand(stacks: readonly (Stack | undefined)[]): Stack[] {
    const seen = new Set<Stack>();
    const found: Stack[] = [];
    const waiting = [...stacks];
    while (waiting.length > 0) {
      const stack = waiting.pop();
      if (!stack || seen.has(stack)) continue;
      if (seen.size >= MOST_STACKS) return [];
      seen.add(stack);
      if (stack.node.kind === "character") found.push(stack);
      else waiting.push(...this.#open(stack.node, stack.next));
    }
    return found;
  }

  #open(
    node: Exclude<Node, { kind: "character" }>,
    next: Stack | undefined,
  ): (Stack | undefined)[] {
    switch (node.kind) {
      case "sequence":
        return [node.parts.reduceRight((rest, part) => this.#push(part, rest), next)];
      case "choice":
        return node.options.map((option) => this.#push(option, next));
      case "repeat": {
        const { part, min, max } = node;
        const again = max === 0
          ? []
          : [this.#push(part, this.#push(this.#rest(part, Math.max(0, min - 1), max - 1), next))];
        return min === 0 ? [...again, next] : again;
      }
      case "rule": {
        const rule = this.#rules(node.name);
        return rule ? [this.#push(rule, next)] : [];
      }
    }
  }

  #rest(part: Node, min: number, max: number): Node {
    let rests = this.#rests.get(part);
    if (!rests) this.#rests.set(part, rests = new Map());
    const key = `${min} ${max}`;
    const rest = rests.get(key) ?? { kind: "repeat", part, min, max };
    rests.set(key, rest);
    return rest;
  }
}

/** Characters that JSON values begin with. */
const JSON_BEGINNINGS: ReadonlySet<string> = new Set('{["-0123456789tfn');

/** Thrown for a node that cannot be run. */
class UnknownNode extends Error {}

function unlessUnknown<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof UnknownNode) return undefined;
    throw error;
  }
}

function nodeOfPattern(node: PatternNode): Node {
  switch (node.kind) {
    case "set":
      if (!node.span) throw new UnknownNode();
      return {
        kind: "character",
        span: node.span,
        matches: (codePoint) => hasCharacter(node.set, codePoint),
      };
    case "sequence":
      return { kind: "sequence", parts: node.items.map(nodeOfPattern) };
    case "choice":
      return { kind: "choice", options: node.items.map(nodeOfPattern) };
    case "repeat":
      return { kind: "repeat", part: nodeOfPattern(node.body), min: node.from, max: node.to };
    case "start":
    case "end":
      return { kind: "sequence", parts: [] };
    default:
      throw new UnknownNode();
  }
}

function nodeOfGrammar(node: Grammar, spanOf: ParsedGrammar["spanOf"]): Node {
  const span = spanOf(node);
  const inner = (part: Grammar) => nodeOfGrammar(part, spanOf);
  switch (node.type) {
    case "literal":
      return {
        kind: "sequence",
        parts: [...node.text].map((character) => {
          const wanted = character.codePointAt(0);
          return { kind: "character", span, matches: (codePoint) => codePoint === wanted };
        }),
      };
    case "characters":
      return {
        kind: "character",
        span,
        matches: (codePoint) =>
          node.ranges.some(([low, high]) => low <= codePoint && codePoint <= high) !==
            Boolean(node.negated),
      };
    case "sequence":
      return { kind: "sequence", parts: node.parts.map(inner) };
    case "choice":
      return { kind: "choice", options: node.options.map(inner) };
    case "repeat":
      return { kind: "repeat", part: inner(node.part), min: node.min, max: node.max };
    case "rule":
      return { kind: "rule", name: node.name };
    case "text": {
      // The texts that may not occur in it end it, so nothing else follows that could begin so.
      const part: Node = { kind: "character", matches: () => true };
      return { kind: "repeat", part, min: 0, max: Infinity };
    }
    case "json":
      return {
        kind: "character",
        document: node,
        matches: (codePoint) => JSON_BEGINNINGS.has(String.fromCodePoint(codePoint)),
      };
    default:
      throw new UnknownNode();
  }
}
