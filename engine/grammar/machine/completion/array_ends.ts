// The fewest bytes that an array needs after its items so far.

import type { ArrayLedger, ArrayRules } from "../rules/array_rules.ts";

/** Measures the ends of arrays of one type. */
export class ArrayEnds {
  readonly #rules: ArrayRules;
  readonly #weight: (type: number) => number;
  /** By index of the prefix: the bytes of the required items from there on, with commas. */
  readonly #prefix: Float64Array;
  readonly #known = new Map<ArrayLedger, number>();

  /** `weight` gives the bytes of the shortest value of a type. */
  constructor(rules: ArrayRules, weight: (type: number) => number) {
    this.#rules = rules;
    this.#weight = weight;
    const { prefix, min } = rules.type;
    const needed = Math.min(prefix.length, min);
    this.#prefix = new Float64Array(prefix.length + 1);
    for (let at = needed - 1; at >= 0; at--) {
      this.#prefix[at] = this.#prefix[at + 1]! + 1 + weight(prefix[at]!);
    }
  }

  /** Bytes of the items that are missing, with a comma for each. */
  missing(ledger: ArrayLedger): number {
    let bytes = this.#known.get(ledger);
    if (bytes === undefined) {
      bytes = this.#measure(ledger);
      this.#known.set(ledger, bytes);
    }
    return bytes;
  }

  #measure(ledger: ArrayLedger): number {
    const { prefix, min, rest, contains } = this.#rules.type;
    if (contains.length > 0) {
      const items = this.#rules.remainingItems(ledger, this.#weight);
      return items
        ? items.reduce((sum, { type, times }) => sum + times * (1 + this.#weight(type)), 0)
        : Infinity;
    }
    const count = Math.min(this.#rules.count(ledger), min);
    const later = min - Math.max(count, prefix.length);
    const ofLater = later <= 0
      ? 0
      : rest === undefined
      ? Infinity
      : later * (1 + this.#weight(rest));
    return this.#prefix[Math.min(count, prefix.length)]! + ofLater;
  }
}
