// The loop that SentencePiece and byte pair encoding share: starting from single characters, it
// keeps joining the best pair of neighbours. It knows neither pieces nor ids, only the rank of each
// join. With a linked list and a heap it takes n log n steps, so that a hostile text cannot stall
// it. Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units".

import { type Poll, POLL_STEPS } from "./algorithm.ts";

/** Tells which neighbours to join. Symbols are identified by their start. */
export interface Joins {
  /** Rank of joining `[left, right)` with `[right, end)`, lower first, below 2^24. -1: never. */
  rankOf(left: number, right: number, end: number): number;
  /** Called after a join of this rank. The result is the symbol that starts at `left`. */
  onJoin(left: number, rank: number): void;
}

/**
 * Rank and offset are packed into one number: 24 bits and 29, enough for the longest string of V8.
 */
const PLACES = 2 ** 29;

/** The symbols of a text, from single characters to those that cannot be joined further. */
export class SymbolList {
  /** End of the symbol that starts at an offset; 0 if none starts there any more. */
  #ends = new Int32Array(64);
  #previous = new Int32Array(64);
  /** Rank of joining a symbol with the next one. */
  #ranks = new Int32Array(64);
  readonly #poll: Poll;
  readonly #queue = new JoinQueue();
  #length = 0;
  #last = -1;

  /** @param poll called now and then while symbols are joined */
  constructor(poll: Poll) {
    this.#poll = poll;
  }

  /** Starts a text of at most `length` units. */
  reset(length: number): void {
    this.#queue.clear(); // An earlier join may have been ended by a poll's error.
    if (length > this.#ends.length) {
      const capacity = Math.max(length, 2 * this.#ends.length);
      this.#ends = new Int32Array(capacity);
      this.#previous = new Int32Array(capacity);
      this.#ranks = new Int32Array(capacity);
    }
    this.#length = 0;
    this.#last = -1;
  }

  /** Appends a symbol that ends at `end`. */
  append(end: number): void {
    const start = this.#length;
    this.#ends[start] = end;
    this.#previous[start] = this.#last;
    this.#last = start;
    this.#length = end;
  }

  /** The end of the symbol that starts at `start`. */
  endOf(start: number): number {
    return this.#ends[start]!;
  }

  /** Joins neighbours, lowest rank first, leftmost first among equals, until none can be joined. */
  join(joins: Joins): void {
    const ends = this.#ends;
    const previous = this.#previous;
    const ranks = this.#ranks;
    const queue = this.#queue;
    const length = this.#length;
    for (let start = 0; start < length; start = ends[start]!) this.#consider(start, joins);

    for (let key = queue.pop(), joined = 1; key >= 0; key = queue.pop(), joined++) {
      if (joined % POLL_STEPS === 0) this.#poll();
      const rank = Math.floor(key / PLACES);
      const left = key - rank * PLACES;
      if (ends[left] === 0 || ranks[left] !== rank) continue; // outdated: one of the two has changed
      const right = ends[left]!;
      const end = ends[right]!;
      ends[left] = end;
      ends[right] = 0;
      if (end < length) previous[end] = left;
      joins.onJoin(left, rank);
      if (left > 0) this.#consider(previous[left]!, joins);
      this.#consider(left, joins);
    }
  }

  /** Queues the join of the symbol at `left` with the next one, if it is possible. */
  #consider(left: number, joins: Joins): void {
    const right = this.#ends[left]!;
    const rank = right < this.#length ? joins.rankOf(left, right, this.#ends[right]!) : -1;
    this.#ranks[left] = rank;
    if (rank >= 0) this.#queue.push(rank * PLACES + left);
  }
}

/** A binary heap of non-negative numbers, lowest first. */
class JoinQueue {
  #heap = new Float64Array(64);
  #size = 0;

  clear(): void {
    this.#size = 0;
  }

  push(key: number): void {
    if (this.#size === this.#heap.length) {
      const smaller = this.#heap;
      this.#heap = new Float64Array(2 * smaller.length);
      this.#heap.set(smaller);
    }
    const heap = this.#heap;
    let index = this.#size++;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (key >= heap[parent]!) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = key;
  }

  /** Removes and returns the lowest number; -1 if empty. */
  pop(): number {
    if (this.#size === 0) return -1;
    const heap = this.#heap;
    const lowest = heap[0]!;
    const size = --this.#size;
    const key = heap[size]!;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= size) break;
      if (child + 1 < size && heap[child + 1]! < heap[child]!) child++;
      if (heap[child]! >= key) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = key;
    return lowest;
  }
}
