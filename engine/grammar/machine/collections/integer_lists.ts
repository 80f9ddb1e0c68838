// Hash-consed lists of integers: equal lists have the same id, so that frames, stacks and states of
// the machine are compared by number. Tables are flat and hashes are integers, because a mask may
// make thousands of lists.

/** An odd factor, so that every bit of an element affects the high bits of the hash. */
const MIX = 0x9e3779b1;

/** Initial size of a table, as a power of two. Most objects of a union only ever see one list. */
const FIRST_SIZE = 4;

/** Lists of integers with ids from 0 on, in the order in which they were added. */
export class IntegerLists {
  #elements = new Int32Array(1 << FIRST_SIZE);
  /** The offset of each list, and the end of the last one. */
  #starts = new Int32Array(1 << FIRST_SIZE);
  /** The hash table: id + 1, or 0 for a free slot. */
  #slots = new Int32Array(1 << FIRST_SIZE);
  #shift = 32 - FIRST_SIZE;
  #size = 0;

  /** Number of lists. */
  get size(): number {
    return this.#size;
  }

  /** The id of a list. The argument is copied if the list is new. */
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

/** A copy of an array that is twice as long. */
function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(2 * array.length);
  copy.set(array);
  return copy;
}
