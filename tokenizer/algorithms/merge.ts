// The loop that SentencePiece and byte pair encoding share: start from single characters and keep
// joining the best two neighbours. It knows neither pieces nor ids, only which join is how good.
// Linked list and heap make it n log n, so that a hostile text cannot stall it.
// Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units".

import { type Poll, POLL_STEPS } from "./algorithm.ts";

/** Which neighbours join. Symbols are named by where they start. */
export interface Joins {
  /** Rank of joining `[left, right)` with `[right, end)`, lower first, below 2^24; -1: never. */
  rankOf(left: number, right: number, end: number): number;
  /** Called after a join of this rank: its result is the symbol that starts at `left`. */
  onJoin(left: number, rank: number): void;
}

/** Ranks and places share one number: 24 bits and 29, which the longest string of V8 needs. */
const PLACES = 2 ** 29;

/** The symbols that a text is made of, from single ones on to those that nothing joins. */
export class SymbolList {
  /** Where a symbol ends; 0 where none starts any more. */
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
    this.#queue.clear(); // What polls may have ended the join before.
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

  /** Where the symbol that starts at `start` ends. */
  endOf(start: number): number {
    return this.#ends[start]!;
  }

  /** Joins neighbours, lowest rank first and leftmost among equals, until no join has a rank. */
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
      if (ends[left] === 0 || ranks[left] !== rank) continue; // one side has changed since
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

  /** Queues the join of the symbol at `left` with the next one, if there is one. */
  #consider(left: number, joins: Joins): void {
    const right = this.#ends[left]!;
    const rank = right < this.#length ? joins.rankOf(left, right, this.#ends[right]!) : -1;
    this.#ranks[left] = rank;
    if (rank >= 0) this.#queue.push(rank * PLACES + left);
  }
}

/** A binary heap of numbers that are not negative, lowest first. */
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

  /** The lowest number, or -1. */
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
