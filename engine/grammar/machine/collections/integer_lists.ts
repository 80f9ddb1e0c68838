// Hash-consed lists of integers: equal lists have one id, so that frames, stacks and states of the
// machine compare by number. Flat tables and integer hashes, because a cold mask makes thousands.

/** Odd, so that every bit of an element reaches the high bits of the hash. */
const MIX = 0x9e3779b1;

/** Numbers that a table begins with, as a power of two: most objects of a union never see a second list. */
const FIRST_SIZE = 4;

/** Lists of integers by id, counted from 0 in the order they came. */
export class IntegerLists {
  #elements = new Int32Array(1 << FIRST_SIZE);
  /** Where each list begins; one more than there are lists. */
  #starts = new Int32Array(1 << FIRST_SIZE);
  /** Id + 1 by slot, 0 for a free one. */
  #slots = new Int32Array(1 << FIRST_SIZE);
  #shift = 32 - FIRST_SIZE;
  #size = 0;

  /** Number of lists. */
  get size(): number {
    return this.#size;
  }

  /** The id of a list of integers, which need not be kept. */
  intern(list: ArrayLike<number>): number {
    let slot = hash(list) >>> this.#shift;
    const mask = this.#slots.length - 1;
    for (let found = this.#slots[slot]!; found !== 0; found = this.#slots[slot]!) {
      if (this.#equals(found - 1, list)) return found - 1;
      slot = (slot + 1) & mask;
    }
    const id = this.#append(list);
    this.#slots[slot] = id + 1;
    if (2 * this.#size > this.#slots.length) this.#rehash();
    return id;
  }

  /** Number of elements of a list. */
  lengthOf(id: number): number {
    return this.#starts[id + 1]! - this.#starts[id]!;
  }

  /** An element of a list. */
  at(id: number, index: number): number {
    return this.#elements[this.#starts[id]! + index]!;
  }

  /** A copy of a list. */
  get(id: number): number[] {
    const list: number[] = [];
    const end = this.#starts[id + 1]!;
    for (let index = this.#starts[id]!; index < end; index++) list.push(this.#elements[index]!);
    return list;
  }

  #equals(id: number, list: ArrayLike<number>): boolean {
    const start = this.#starts[id]!;
    if (this.#starts[id + 1]! - start !== list.length) return false;
    for (let index = 0; index < list.length; index++) {
      if (this.#elements[start + index] !== list[index]) return false;
    }
    return true;
  }

  #append(list: ArrayLike<number>): number {
    const id = this.#size++;
    const start = this.#starts[id]!;
    const end = start + list.length;
    while (end > this.#elements.length) this.#elements = doubled(this.#elements);
    if (id + 2 > this.#starts.length) this.#starts = doubled(this.#starts);
    this.#elements.set(list, start);
    this.#starts[id + 1] = end;
    return id;
  }

  #rehash(): void {
    this.#shift--;
    this.#slots = new Int32Array(2 * this.#slots.length);
    const mask = this.#slots.length - 1;
    for (let id = 0; id < this.#size; id++) {
      const list = this.#elements.subarray(this.#starts[id]!, this.#starts[id + 1]!);
      let slot = hash(list) >>> this.#shift;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = id + 1;
    }
  }
}

function hash(list: ArrayLike<number>): number {
  let result = list.length;
  for (let index = 0; index < list.length; index++) {
    result = Math.imul(result ^ list[index]!, MIX);
    result ^= result >>> 15;
  }
  return Math.imul(result, MIX) >>> 0;
}

/** A copy of an array with room for twice as many elements. */
function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(2 * array.length);
  copy.set(array);
  return copy;
}
