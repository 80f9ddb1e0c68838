// Transitions put together from pieces: sets of characters, each with where it leads. What leads to
// several places at once is joined, once for all characters that do so. How sets cut each other is kept,
// as the same ones meet over and over.

import type { CharacterSet } from "./character_set.ts";
import type { Expression } from "./expression_store.ts";
import type { Work } from "./work.ts";

/**
 * Where each code point leads: segment i begins at starts[i] and ends before starts[i + 1]. What is no
 * character leads to the empty language, and so does the last segment, beyond all code points.
 */
export interface Transitions {
  readonly starts: readonly number[];
  readonly targets: readonly Expression[];
}

/** Characters, and where they lead. */
export interface Piece {
  readonly set: CharacterSet;
  readonly target: Expression;
}

/** How sets cut the code points. */
interface Segments {
  /** The first code point of each segment, from 0 on. */
  readonly starts: Int32Array;
  /** By segment, its kind. */
  readonly kinds: Int32Array;
  /** By kind, the places of the sets that hold such segments. */
  readonly members: readonly (readonly number[])[];
}

/** Beyond all code points. */
const END = 0x110000;

/** Segments that are kept: 16 MB. */
const MAX_KEPT = 1 << 21;

/** Puts transitions together. */
export class SegmentCache {
  readonly #empty: Expression;
  readonly #ids = new Map<CharacterSet, number>();
  readonly #segments = new Map<string, Segments>();
  #kept = 0;
  readonly #work: Work;
  readonly #pieces = new WeakMap<Transitions, readonly Piece[]>();

  /** @param empty the language that what is not told leads to */
  constructor(empty: Expression, work: Work) {
    this.#empty = empty;
    this.#work = work;
  }

  /** The pieces of transitions, which share no character, but for what leads to the empty language. */
  piecesOf(transitions: Transitions): readonly Piece[] {
    let pieces = this.#pieces.get(transitions);
    if (!pieces) this.#pieces.set(transitions, pieces = split(transitions, this.#empty));
    return pieces;
  }

  /**
   * Transitions in which a character of several pieces leads where `join` says.
   *
   * @param join of the places of pieces, in order; none for characters of no piece
   */
  assemble(
    pieces: readonly Piece[],
    join: (places: readonly number[]) => Expression,
  ): Transitions {
    // Many pieces have few sets among them.
    const places = new Map<CharacterSet, number[]>();
    pieces.forEach(({ set }, place) => {
      const same = places.get(set);
      if (same) same.push(place);
      else places.set(set, [place]);
    });
    const sets = [...places.keys()];
    const { starts, kinds, members } = this.#segmentsOf(sets);
    const byKind = members.map((indices) => {
      const all = indices.flatMap((index) => places.get(sets[index]!)!);
      return join(indices.length > 1 ? all.sort((a, b) => a - b) : all);
    });
    const transitions: { starts: number[]; targets: Expression[] } = { starts: [], targets: [] };
    let before = -1;
    for (let segment = 0; segment < starts.length; segment++) {
      const target = byKind[kinds[segment]!]!;
      if (target === before) continue;
      transitions.starts.push(starts[segment]!);
      transitions.targets.push(before = target);
    }
    return transitions;
  }

  #segmentsOf(sets: readonly CharacterSet[]): Segments {
    const key = sets.map((set) => this.#idOf(set)).join();
    let segments = this.#segments.get(key);
    if (!segments) {
      segments = cut(sets);
      this.#work.spend(4 + segments.starts.length + sets.length);
      this.#kept += segments.starts.length + sets.length;
      if (this.#kept > MAX_KEPT) {
        this.#segments.clear();
        this.#ids.clear();
        this.#kept = 0;
      } else this.#segments.set(key, segments);
    }
    return segments;
  }

  #idOf(set: CharacterSet): number {
    let id = this.#ids.get(set);
    if (id === undefined) this.#ids.set(set, id = this.#ids.size);
    return id;
  }
}

function split({ starts, targets }: Transitions, empty: Expression): Piece[] {
  const sets = new Map<Expression, number[]>();
  for (let segment = 0; segment < starts.length; segment++) {
    const target = targets[segment]!;
    if (target === empty) continue;
    const last = (starts[segment + 1] ?? END) - 1;
    const set = sets.get(target);
    if (set) set.push(starts[segment]!, last);
    else sets.set(target, [starts[segment]!, last]);
  }
  return [...sets].map(([target, set]) => ({ set, target }));
}

function cut(sets: readonly CharacterSet[]): Segments {
  const cuts = new Set([0, END]);
  for (const set of sets) {
    for (let at = 0; at < set.length; at += 2) cuts.add(set[at]!).add(set[at + 1]! + 1);
  }
  const starts = Int32Array.from(cuts).sort();
  const kinds = new Int32Array(starts.length);
  const members: (readonly number[])[] = [[]];
  // A kind and one more set make a kind: sets come one by one.
  const kindsWith = new Map<number, number>();
  sets.forEach((set, place) => {
    kindsWith.clear();
    for (let at = 0; at < set.length; at += 2) {
      const end = set[at + 1]!;
      for (let segment = segmentOf(starts, set[at]!); starts[segment]! <= end; segment++) {
        const kind = kinds[segment]!;
        let wider = kindsWith.get(kind);
        if (wider === undefined) {
          wider = members.push([...members[kind]!, place]) - 1;
          kindsWith.set(kind, wider);
        }
        kinds[segment] = wider;
      }
    }
  });
  return withoutUnused({ starts, kinds, members });
}

/** Kinds that all segments have grown out of are none. */
function withoutUnused({ starts, kinds, members }: Segments): Segments {
  const names = new Map<number, number>();
  const used: (readonly number[])[] = [];
  const renamed = kinds.map((kind) => {
    let name = names.get(kind);
    if (name === undefined) names.set(kind, name = used.push(members[kind]!) - 1);
    return name;
  });
  return { starts, kinds: renamed, members: used };
}

/** The index of the segment that holds a code point. */
export function segmentOf(starts: ArrayLike<number>, codePoint: number): number {
  let low = 0;
  let high = starts.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= codePoint) low = middle;
    else high = middle;
  }
  return low;
}
