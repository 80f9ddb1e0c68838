// The loop that SentencePiece and byte pair encoding share: start from single characters and keep
// joining the best two neighbours. It knows neither pieces nor ids, only which join is how good.
// Linked list and heap make it n log n, so that a hostile text cannot stall it.
// Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units".

/** Rank of joining `text[start, middle)` with `text[middle, end)`, lower first; undefined: never. */
export type JoinRank = (start: number, middle: number, end: number) => number | undefined;

interface Join {
  rank: number;
  start: number;
  middle: number;
  end: number;
}

/**
 * Joins neighbours of `text` from its code points on, lowest rank first and leftmost among equals,
 * until no join has a rank. Returns where each remaining symbol ends, in UTF-16 units.
 */
export function joinSymbols(text: string, rankOf: JoinRank): number[] {
  // A symbol is named by where it starts; 0 in `endOf` says that none starts there any more.
  const endOf = new Uint32Array(text.length);
  const previousOf = new Int32Array(text.length + 1);
  const joins = new JoinQueue();
  const consider = (start: number, middle: number) => {
    const end = endOf[middle]!;
    const rank = rankOf(start, middle, end);
    if (rank !== undefined) joins.push({ rank, start, middle, end });
  };

  let previous = -1;
  for (let start = 0; start < text.length;) {
    const end = start + (text.codePointAt(start)! > 0xffff ? 2 : 1);
    endOf[start] = end;
    previousOf[start] = previous;
    if (previous >= 0) consider(previous, start);
    previous = start;
    start = end;
  }

  for (let join = joins.pop(); join !== undefined; join = joins.pop()) {
    const { start, middle, end } = join;
    if (endOf[start] !== middle || endOf[middle] !== end) continue; // one side has changed since
    endOf[start] = end;
    endOf[middle] = 0;
    previousOf[end] = start;
    if (previousOf[start]! >= 0) consider(previousOf[start]!, start);
    if (end < text.length) consider(start, end);
  }

  const ends: number[] = [];
  for (let start = 0; start < text.length; start = endOf[start]!) ends.push(endOf[start]!);
  return ends;
}

function isBefore(left: Join, right: Join): boolean {
  return left.rank < right.rank || (left.rank === right.rank && left.start < right.start);
}

/** A binary heap of joins, best first. */
class JoinQueue {
  readonly #heap: Join[] = [];

  push(join: Join): void {
    const heap = this.#heap;
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(join, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = join;
  }

  pop(): Join | undefined {
    const heap = this.#heap;
    const best = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return best;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
    return best;
  }
}
