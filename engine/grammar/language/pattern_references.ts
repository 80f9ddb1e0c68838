// Back references, as far as they are regular: a group that can only match a few texts is replaced by each of
// them in turn, and its references by the same text. The group has to take part whenever its references do,
// and to come before them.

import type { CharacterSet } from "./character_set.ts";
import { PatternError } from "./errors.ts";
import { withAnyCase } from "./pattern_sets.ts";
import {
  choiceNode,
  lookNode,
  type PatternNode,
  repeatNode,
  sequenceNode,
  setNode,
} from "./pattern_node.ts";

/** Most texts of a group that is referred to. */
const MAX_TEXTS = 256;
/** Most copies of parts of a pattern, one for each text of each group. */
const MAX_COPIES = 2048;

type Reference = PatternNode & { readonly kind: "reference" };

/**
 * The pattern without back references.
 *
 * @param groups the nodes of groups by number, as they stand in the pattern
 * @throws {PatternError} for a reference to a group that has too many texts, or may not take part
 */
export function withoutReferences(
  pattern: PatternNode,
  groups: readonly (PatternNode | undefined)[],
): PatternNode {
  const references = referencesIn(pattern);
  return references.length === 0 ? pattern : new Resolver(references, groups).resolve(pattern);
}

class Resolver {
  readonly #references: readonly Reference[];
  /** The groups that are referred to. */
  readonly #numbers: ReadonlyMap<PatternNode, number>;
  readonly #nodes: readonly (PatternNode | undefined)[];
  #copies = 0;

  constructor(references: readonly Reference[], nodes: readonly (PatternNode | undefined)[]) {
    this.#references = references;
    this.#nodes = nodes;
    this.#numbers = new Map(references.map(({ group }) => [nodes[group]!, group]));
  }

  /** A node without references. @param texts the texts that groups have matched, by number */
  resolve(node: PatternNode, texts: ReadonlyMap<number, string> = new Map()): PatternNode {
    const known = texts.get(this.#numbers.get(node) ?? 0);
    if (known !== undefined) return literalNode(known, false);
    const free = this.#groupsIn(node).filter((group) => !texts.has(group));
    const group = free.find((one) => this.#standsAlone(one, free));
    if (group === undefined) return this.#resolveParts(node, texts);
    const found = textsOf(this.#resolveParts(this.#nodes[group]!, texts));
    this.#copies += found?.size ?? Infinity;
    if (found === undefined || this.#copies > MAX_COPIES) {
      const { column } = this.#references.find((reference) => reference.group === group)!;
      const reason = `a back reference to a group of more than ${MAX_TEXTS} texts cannot be held`;
      throw new PatternError(reason, column);
    }
    return choiceNode(
      [...found].map((text) => this.resolve(node, new Map([...texts, [group, text]]))),
    );
  }

  /** The groups that take part whenever a node does. */
  #groupsIn(node: PatternNode): number[] {
    const own = this.#numbers.get(node);
    const inner = node.kind === "sequence"
      ? node.items.flatMap((item) => this.#groupsIn(item))
      : [];
    return own === undefined ? inner : [own, ...inner];
  }

  /** Whether the text of a group depends on none of the others. */
  #standsAlone(group: number, others: readonly number[]): boolean {
    const node = this.#nodes[group]!;
    const needed = [...this.#groupsIn(node), ...referencesIn(node).map((inner) => inner.group)];
    return needed.every((one) => one === group || !others.includes(one));
  }

  #resolveParts(node: PatternNode, texts: ReadonlyMap<number, string>): PatternNode {
    const resolve = (part: PatternNode) => this.resolve(part, texts);
    switch (node.kind) {
      case "reference": {
        const text = texts.get(node.group);
        if (text !== undefined) return literalNode(text, node.ignoreCase);
        const reason = "a back reference to a group that may take no part cannot be held";
        throw new PatternError(reason, node.column);
      }
      case "sequence":
        return sequenceNode(node.items.map(resolve));
      case "choice":
        return choiceNode(node.items.map(resolve));
      case "repeat":
        return repeatNode(resolve(node.body), node.from, node.to, node.isLazy);
      case "look":
        return lookNode(node.back, node.not, resolve(node.body));
      default:
        return node;
    }
  }
}

function referencesIn(node: PatternNode): Reference[] {
  switch (node.kind) {
    case "reference":
      return [node];
    case "sequence":
    case "choice":
      return node.items.flatMap(referencesIn);
    case "repeat":
    case "look":
      return referencesIn(node.body);
    default:
      return [];
  }
}

function literalNode(text: string, ignoreCase: boolean): PatternNode {
  return sequenceNode([...text].map((character) => {
    const point = character.codePointAt(0)!;
    const set: CharacterSet = [point, point];
    return setNode(ignoreCase ? withAnyCase(set) : set);
  }));
}

/** All texts that a node matches; undefined if they are too many, or depend on what is around them. */
function textsOf(node: PatternNode): Set<string> | undefined {
  switch (node.kind) {
    case "set":
      return charactersOf(node.set);
    case "sequence":
      return node.items.reduce<Set<string> | undefined>(
        (before, item) => before && product(before, textsOf(item)),
        new Set([""]),
      );
    case "choice":
      return union(node.items.map(textsOf));
    case "repeat": {
      if (node.to > MAX_TEXTS) return undefined;
      const once = textsOf(node.body);
      let texts: Set<string> | undefined = new Set([""]);
      const all: (Set<string> | undefined)[] = [];
      for (let count = 0; count <= node.to; count++) {
        if (count >= node.from) all.push(texts);
        texts = texts && product(texts, once);
      }
      return union(all);
    }
    default:
      return undefined;
  }
}

function charactersOf(set: CharacterSet): Set<string> | undefined {
  const texts = new Set<string>();
  for (let i = 0; i < set.length; i += 2) {
    for (let point = set[i]!; point <= set[i + 1]!; point++) {
      if (texts.size === MAX_TEXTS) return undefined;
      texts.add(String.fromCodePoint(point));
    }
  }
  return texts;
}

function product(first: Set<string>, second: Set<string> | undefined): Set<string> | undefined {
  if (second === undefined || first.size * second.size > MAX_TEXTS) return undefined;
  return new Set([...first].flatMap((one) => [...second].map((two) => one + two)));
}

function union(sets: readonly (Set<string> | undefined)[]): Set<string> | undefined {
  const all = new Set<string>();
  for (const set of sets) {
    if (set === undefined) return undefined;
    for (const text of set) all.add(text);
  }
  return all.size > MAX_TEXTS ? undefined : all;
}
