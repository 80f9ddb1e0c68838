// Finds stop strings in text that comes in pieces (Aho and Corasick 1975), and gives out text that
// cannot be part of one any more. Nodes of the trie are only made when the text reaches them, so
// that a hundred thousand strings cost about one look at each.

/** A node of the trie: a prefix of stop strings. */
interface Node {
  readonly length: number;
  /**
   * The node to continue at if no string continues here: the longest suffix of this prefix that is
   * a node.
   */
  readonly fallback: Node | undefined;
  /** The longest stop string that ends here. Shorter ones end at the fallbacks. */
  readonly stop: string | undefined;
  /** The strings with this prefix, until the text continues from here for the first time. */
  strings: readonly string[] | undefined;
  /** Children by the next code unit: nodes, or the strings of nodes that are not made yet. */
  readonly next: Map<number, Node | string[]>;
}

/** A filter that holds back the longest end of the text that may become a stop string. */
export class StopStrings {
  readonly #root: Node;
  readonly #isKept: boolean;
  #at: Node;
  #held = "";

  /**
   * @param stops stop strings; empty ones are ignored
   * @param isKept whether the text ends with the stop string, instead of before it
   */
  constructor(stops: readonly string[], isKept = false) {
    this.#isKept = isKept;
    const strings = stops.filter((stop) => stop.length > 0);
    this.#root = { length: 0, fallback: undefined, stop: undefined, strings, next: new Map() };
    this.#at = this.#root;
  }

  /**
   * Adds text. Gives the text that is certain, and the stop string if one occurred, before or with
   * which the text ends. It is the one that is complete first, however the text is divided; of several that
   * end together, the longest.
   */
  push(text: string): { text: string; stop?: string } {
    for (let i = 0; i < text.length; i++) {
      this.#at = this.#follow(this.#at, text.charCodeAt(i));
      const { stop } = this.#at;
      if (stop === undefined) continue;
      const all = this.#held + text.slice(0, i + 1);
      this.#reset();
      return { text: this.#isKept ? all : all.slice(0, all.length - stop.length), stop };
    }
    const all = this.#held + text;
    const free = all.length - this.#at.length;
    this.#held = free === 0 ? all : all.slice(free);
    return { text: all.slice(0, free) };
  }

  /** The text that was held back, at the end. */
  flush(): string {
    const held = this.#held;
    this.#reset();
    return held;
  }

  #reset(): void {
    this.#at = this.#root;
    this.#held = "";
  }

  /** The longest prefix of stop strings at the end of the text, after one more code unit. */
  #follow(from: Node, unit: number): Node {
    const unmade: Node[] = [];
    let found: Node | undefined;
    for (let node: Node | undefined = from; node && !found; node = node.fallback) {
      if (node.strings) distribute(node);
      const next = node.next.get(unit);
      if (Array.isArray(next)) unmade.push(node);
      else found = next;
    }
    // The shortest first, because each is the fallback of the next.
    return unmade.reduceRight((fallback, node) => make(node, unit, fallback), found ?? this.#root);
  }
}

/** Makes the child of a node for this code unit. */
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
