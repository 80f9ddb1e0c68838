// Finds stop strings in text that comes in pieces (Aho and Corasick 1975). Gives out what can no
// longer be part of one. Only those nodes of the trie are made that the text comes by, so that a
// hundred thousand strings cost about one look at each.

/** A beginning of stop strings. */
interface Node {
  readonly length: number;
  /** Where the text goes on if no string goes on from here: the longest end of this that is a node. */
  readonly fallback: Node | undefined;
  /** A stop string that ends here, the longest one: what the fallbacks end with is shorter. */
  readonly stop: string | undefined;
  /** Those that begin so, until the text has gone on from here for the first time. */
  strings: readonly string[] | undefined;
  /** By the next code unit: a node, or the strings of one that is not made yet. */
  readonly next: Map<number, Node | string[]>;
}

/** Holds back the longest tail that could still become a stop string. */
export class StopStrings {
  readonly #root: Node;
  #at: Node;
  #held = "";

  /** @param stops empty ones are in every text, and end none */
  constructor(stops: readonly string[]) {
    const strings = stops.filter((stop) => stop.length > 0);
    this.#root = { length: 0, fallback: undefined, stop: undefined, strings, next: new Map() };
    this.#at = this.#root;
  }

  /**
   * Adds text; gives what is free to go, and the stop string if one has come: the text ends there.
   * That is the first to be whole, whatever the pieces; of several that end together the longest.
   */
  push(text: string): { text: string; stop?: string } {
    for (let i = 0; i < text.length; i++) {
      this.#at = this.#follow(this.#at, text.charCodeAt(i));
      const { stop } = this.#at;
      if (stop === undefined) continue;
      const all = this.#held + text.slice(0, i + 1);
      this.#reset();
      return { text: all.slice(0, all.length - stop.length), stop };
    }
    const all = this.#held + text;
    const free = all.length - this.#at.length;
    this.#held = free === 0 ? all : all.slice(free);
    return { text: all.slice(0, free) };
  }

  /** What was held back, at the end of the text. */
  flush(): string {
    const held = this.#held;
    this.#reset();
    return held;
  }

  #reset(): void {
    this.#at = this.#root;
    this.#held = "";
  }

  /** The longest beginning of stop strings that the text ends with, one code unit later. */
  #follow(from: Node, unit: number): Node {
    const unmade: Node[] = [];
    let found: Node | undefined;
    for (let node: Node | undefined = from; node && !found; node = node.fallback) {
      if (node.strings) distribute(node);
      const next = node.next.get(unit);
      if (Array.isArray(next)) unmade.push(node);
      else found = next;
    }
    // The shortest first: each is what the next one falls back to.
    return unmade.reduceRight((fallback, node) => make(node, unit, fallback), found ?? this.#root);
  }
}

/** Makes the node that follows one whose strings go on with this unit. */
function make(before: Node, unit: number, fallback: Node): Node {
  const strings = before.next.get(unit) as string[];
  const length = before.length + 1;
  const stop = strings.find((string) => string.length === length) ?? fallback.stop;
  const node = { length, fallback, stop, strings, next: new Map() };
  before.next.set(unit, node);
  return node;
}

/** Divides the strings of a node by their next code unit. */
function distribute(node: Node): void {
  for (const string of node.strings!) {
    if (string.length === node.length) continue;
    const unit = string.charCodeAt(node.length);
    const group = node.next.get(unit) as string[] | undefined;
    if (group) group.push(string);
    else node.next.set(unit, [string]);
  }
  node.strings = undefined;
}
