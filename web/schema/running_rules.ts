// Which parts of a pattern or of a grammar say what comes next in an answer. Both are read into the
// same nodes, each with its place in the text that was typed, and run over the answer as sets of stacks
// of nodes. For marks in the editor alone: what it does not know, it marks nothing for. Pure.

/** Where something stands in the text of a format. */
export type Span = readonly [start: number, end: number];

type Node =
  | { kind: "character"; span: Span; matches: (character: string) => boolean }
  | { kind: "sequence"; parts: readonly Node[] }
  | { kind: "choice"; branches: readonly Node[] }
  | { kind: "repeat"; part: Node; least: number; most: number }
  | { kind: "rule"; name: string };

/** A format that was read. */
export interface Rules {
  readonly start: Node;
  readonly rules: ReadonlyMap<string, Node>;
}

/** What is still to come: a node, and all that comes after it. */
interface Stack {
  readonly id: number;
  readonly node: Node;
  readonly next: Stack | undefined;
}

/** Most stacks at a time: of a grammar that needs more, such as one that begins with itself, nothing is marked. */
const MOST_STACKS = 2000;

/** The places of what may come after the beginning of an answer; none where it does not belong there. */
export function spansInForce({ start, rules }: Rules, beginning: string): Span[] {
  const stacks = new StackSet(rules);
  let current = stacks.expand([stacks.push(start, undefined)]);
  for (const character of beginning) {
    const next = current.flatMap(({ node, next }) =>
      node.kind === "character" && node.matches(character) ? [next] : []
    );
    current = stacks.expand(next);
  }
  const spans = new Map(
    current.flatMap(({ node }) =>
      node.kind === "character" ? [[node.span.join(), node.span] as const] : []
    ),
  );
  return [...spans.values()].sort(([a], [b]) => a - b);
}

/** Stacks, of which equal ones are the same object. */
class StackSet {
  readonly #rules: Rules["rules"];
  readonly #known = new Map<Node, Map<number, Stack>>();
  /** What is left of a repetition, by what it repeats and how often. */
  readonly #rests = new Map<Node, Map<string, Node>>();
  #count = 0;

  constructor(rules: Rules["rules"]) {
    this.#rules = rules;
  }

  push(node: Node, next: Stack | undefined): Stack {
    let known = this.#known.get(node);
    if (!known) this.#known.set(node, known = new Map());
    const id = next?.id ?? 0;
    const stack = known.get(id) ?? { id: ++this.#count, node, next };
    known.set(id, stack);
    return stack;
  }

  /** The stacks that these come to with a character on top. */
  expand(stacks: readonly (Stack | undefined)[]): Stack[] {
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
        return [node.parts.reduceRight((rest, part) => this.push(part, rest), next)];
      case "choice":
        return node.branches.map((branch) => this.push(branch, next));
      case "repeat": {
        const { part, least, most } = node;
        const again = most === 0
          ? []
          : [this.push(part, this.push(this.#rest(part, Math.max(0, least - 1), most - 1), next))];
        return least === 0 ? [...again, next] : again;
      }
      case "rule": {
        const rule = this.#rules.get(node.name);
        return rule ? [this.push(rule, next)] : [];
      }
    }
  }

  #rest(part: Node, least: number, most: number): Node {
    let rests = this.#rests.get(part);
    if (!rests) this.#rests.set(part, rests = new Map());
    const key = `${least} ${most}`;
    const rest = rests.get(key) ?? { kind: "repeat", part, least, most };
    rests.set(key, rest);
    return rest;
  }
}

/** What a reader gives up with. */
class UnknownSyntax extends Error {}

/** A text that is read from its start to its end. */
class Reader {
  at = 0;

  constructor(readonly text: string) {}

  get isOver(): boolean {
    return this.at >= this.text.length;
  }

  /** Takes what an expression with the flag y finds here. */
  take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.at;
    const found = expression.exec(this.text) ?? undefined;
    if (found) this.at = expression.lastIndex;
    return found;
  }
}

/** A regular expression of ECMAScript; undefined where it has more than marks can be made for. */
export function readPattern(text: string): Rules | undefined {
  const reader = new Reader(text);
  try {
    const start = readChoice(reader, readPatternAtom);
    return reader.isOver ? { start, rules: new Map() } : undefined;
  } catch (error) {
    if (error instanceof UnknownSyntax || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

type ReadAtom = (reader: Reader) => Node | undefined;

/** Alternatives up to a closing parenthesis or the end. */
function readChoice(reader: Reader, readAtom: ReadAtom, space = /(?:)/y): Node {
  const branches: Node[] = [];
  do {
    const parts: Node[] = [];
    for (reader.take(space); !reader.isOver; reader.take(space)) {
      const part = readAtom(reader);
      if (!part) break;
      parts.push(readRepeat(reader, part, space));
    }
    branches.push({ kind: "sequence", parts });
  } while (reader.take(/\|/y));
  return branches.length === 1 ? branches[0]! : { kind: "choice", branches };
}

function readRepeat(reader: Reader, part: Node, space: RegExp): Node {
  reader.take(space);
  const found = reader.take(/[*+?]|\{(\d*)(,?)(\d*)\}/y);
  if (!found) return part;
  const [sign, from, comma, to] = found;
  const [least, most] = sign === "*"
    ? [0, Infinity]
    : sign === "+"
    ? [1, Infinity]
    : sign === "?"
    ? [0, 1]
    : [Number(from), comma ? (to ? Number(to) : Infinity) : Number(from)];
  return readRepeat(reader, { kind: "repeat", part, least, most }, space);
}

function readPatternAtom(reader: Reader): Node | undefined {
  const start = reader.at;
  if (reader.take(/[|)]/y)) {
    reader.at = start;
    return undefined;
  }
  if (reader.take(/[\^$]/y)) return { kind: "sequence", parts: [] };
  if (reader.take(/\((?:\?:|\?<\w+>)?(?!\?)/y)) return readGroup(reader, readPatternAtom);
  const source = reader.take(
    /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|[^bB1-9k])|\[(?:\\.|[^\]\\])*\]|[^\\()[\]{}*+?|]/yu,
  )?.[0];
  if (source === undefined) throw new UnknownSyntax();
  const expression = new RegExp(`^${source}$`, "u");
  const matches = (character: string) => expression.test(character);
  return { kind: "character", span: [start, reader.at], matches };
}

function readGroup(reader: Reader, readAtom: ReadAtom, space?: RegExp): Node {
  const inner = readChoice(reader, readAtom, space);
  if (!reader.take(/\)/y)) throw new UnknownSyntax();
  return inner;
}

/** White space and comments of a grammar. */
const GRAMMAR_SPACE = /(?:\s|#.*)*/y;

/** A grammar in GBNF; undefined where it has more than marks can be made for. */
export function readGrammar(text: string): Rules | undefined {
  const reader = new Reader(text);
  const rules = new Map<string, Node>();
  try {
    for (reader.take(GRAMMAR_SPACE); !reader.isOver; reader.take(GRAMMAR_SPACE)) {
      const name = reader.take(/([\w-]+)\s*::=/y)?.[1];
      if (name === undefined) return undefined;
      rules.set(name, readChoice(reader, readGrammarAtom, GRAMMAR_SPACE));
    }
  } catch (error) {
    if (error instanceof UnknownSyntax || error instanceof SyntaxError) return undefined;
    throw error;
  }
  const start = rules.get("root");
  return start && { start, rules };
}

function readGrammarAtom(reader: Reader): Node | undefined {
  const start = reader.at;
  if (reader.take(/[\w-]+\s*::=|[|)]/y)) {
    reader.at = start;
    return undefined;
  }
  const name = reader.take(/[a-zA-Z][\w-]*/y)?.[0];
  if (name !== undefined) return { kind: "rule", name };
  if (reader.take(/\(/y)) return readGroup(reader, readGrammarAtom, GRAMMAR_SPACE);
  const literal = reader.take(/"((?:\\.|[^"\\])*)"/y)?.[1];
  const span: Span = [start, reader.at];
  if (literal !== undefined) {
    const parts = [...unescaped(literal)].map((wanted): Node => {
      return { kind: "character", span, matches: (character) => character === wanted };
    });
    return { kind: "sequence", parts };
  }
  const source = reader.take(/\[(?:\\.|[^\]\\])*\]|\./yu)?.[0];
  if (source === undefined) throw new UnknownSyntax();
  // What a class of GBNF means literally would be a fault, or mean something, in one of ECMAScript.
  const body = unescaped(source.slice(1, -1)).replaceAll(/[\\\]]/g, "\\$&");
  const expression = new RegExp(source === "." ? "^.$" : `^[${body}]$`, "us");
  const matches = (character: string) => expression.test(character);
  return { kind: "character", span: [start, reader.at], matches };
}

/** Text of a literal of GBNF, as its escapes have it. */
function unescaped(source: string): string {
  const letters: Record<string, string> = { n: "\n", r: "\r", t: "\t" };
  return source.replaceAll(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/gs,
    (_, x: string, u: string, long: string, letter: string) => {
      const code = x ?? u ?? long;
      return code ? String.fromCodePoint(parseInt(code, 16)) : letters[letter] ?? letter;
    },
  );
}
