// A prefix tree, which finds all pieces that begin at an offset in one walk. Edges are units: UTF-16
// or bytes, as the caller likes. Nodes are numbers, and the edges are in one hash table over typed
// arrays, because vocabularies have a million nodes and making as many objects would take seconds.

/**
 * An odd multiplier with well-spread bits, so that the edges of neighbouring nodes do not collide.
 */
const NODE = 0x9e3779b1;
const UNIT = 0x85ebca6b;

/** The node where every walk begins. */
export const ROOT = 0;

/** A map from sequences of units to non-negative numbers. */
export class Trie {
  /**
   * The edges by slot: the node they come from, their unit, and the node they lead to. A free slot
   * has 0.
   */
  #parents = new Int32Array(64);
  #units = new Uint16Array(64);
  #children = new Int32Array(64);
  #shift = 32 - 6;
  #values = new Int32Array(32).fill(-1);
  #size = 1;

  /** The node that `unit` leads to, or -1. */
  step(node: number, unit: number): number {
    return this.#children[this.#slotOf(node, unit)]! || -1;
  }

  /** The value at a node, or -1. */
  valueAt(node: number): number {
    return this.#values[node]!;
  }

  /** Sets the value of a sequence, unless it has one. Returns its node. */
  insert(units: ArrayLike<number>, value: number): number {
    let node = ROOT;
    for (let index = 0; index < units.length; index++) node = this.#obtain(node, units[index]!);
    if (this.#values[node]! < 0) this.#values[node] = value;
    return node;
  }

  #obtain(node: number, unit: number): number {
    const slot = this.#slotOf(node, unit);
    if (this.#children[slot] !== 0) return this.#children[slot]!;
    const child = this.#size++;
    this.#parents[slot] = node;
    this.#units[slot] = unit;
    this.#children[slot] = child;
    if (this.#size === this.#values.length) this.#grow();
    return child;
  }

  /** Doubles the table, so that half of it stays free. */
  #grow(): void {
    const parents = this.#parents;
    const units = this.#units;
    const children = this.#children;
    const values = this.#values;
    this.#parents = new Int32Array(2 * parents.length);
    this.#units = new Uint16Array(2 * parents.length);
    this.#children = new Int32Array(2 * parents.length);
    this.#shift--;
    this.#values = new Int32Array(2 * values.length).fill(-1);
    this.#values.set(values);
    for (let old = 0; old < children.length; old++) {
      if (children[old] === 0) continue;
      const slot = this.#slotOf(parents[old]!, units[old]!);
      this.#parents[slot] = parents[old]!;
      this.#units[slot] = units[old]!;
      this.#children[slot] = children[old]!;
    }
  }

  /** The slot of an edge, or the free slot for it. */
  #slotOf(node: number, unit: number): number {
    const mask = this.#children.length - 1;
    let slot = Math.imul(Math.imul(node, NODE) ^ unit, UNIT) >>> this.#shift;
    for (; this.#children[slot] !== 0; slot = slot + 1 & mask) {
      if (this.#parents[slot] === node && this.#units[slot] === unit) break;
    }
    return slot;
  }
}

/** The UTF-16 units of a text. */
export function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  for (let index = 0; index < text.length; index++) units[index] = text.charCodeAt(index);
  return units;
}
