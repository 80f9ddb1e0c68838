// Transitions composed of pieces, which are sets of characters with their targets. Where pieces
// overlap, their targets are joined, once for all characters of the overlap. How sets divide each
// other is cached, because the same sets meet again and again.

import type { CharacterSet } from "./character_set.ts";
import type { Expression } from "./expression_store.ts";
import type { Work } from "./work.ts";

/**
 * The target of each code point: segment i begins at starts[i] and ends before starts[i + 1].
 * Surrogates lead to the empty language, and so does the last segment, beyond all code points.
 */
export interface Transitions {
  readonly starts: readonly number[];
  readonly targets: readonly Expression[];
}

/** Characters, and their target. */
export interface Piece {
  readonly set: CharacterSet;
  readonly target: Expression;
}

/** A division of the code points by some sets. */
interface Segments {
  /** The first code point of each segment, from 0 on. */
  readonly starts: Int32Array;
  readonly kinds: Int32Array;
  /** For each kind, the indices of the sets that contain its segments. */
  readonly members: readonly (readonly number[])[];
}

/** The number after all code points. */
const END = 0x110000;

/** Segments and ends of sets that are cached: 16 MB. */
const MAX_KEPT = 1 << 21;

/** Composes transitions. */
export class SegmentCache {
  readonly #empty: Expression;
  /** Numbers of sets: by their object, and by their content. */
  #ids = new WeakMap<CharacterSet, number>();
  readonly #byHash = new Map<number, readonly number[]>();
  /** The sets by number. */
  readonly #sets: CharacterSet[] = [];
  readonly #segments = new Map<string, Segments>();
  #kept = 0;
  readonly #work: Work;
  readonly #pieces = new WeakMap<Transitions, readonly Piece[]>();

  /** @param empty the language to which characters lead that are in no piece */
  constructor(empty: Expression, work: Work) {
    this.#empty = empty;
    this.#work = work;
  }

  /**
   * The pieces of transitions, without those that lead to the empty language. No two have a
   * character in common.
   */
  piecesOf(transitions: Transitions): readonly Piece[] {
    let pieces = this.#pieces.get(transitions);
    if (!pieces) this.#pieces.set(transitions, pieces = split(transitions, this.#empty));
    return pieces;
  }

  /**
   * Transitions of pieces. The target of a character is what `join` makes of the pieces that
   * contain it.
   *
   * @param join receives the indices of these pieces, in order; none for characters of no piece
   */
  assemble(
    pieces: readonly Piece[],
    join: (positions: readonly number[]) => Expression,
  ): Transitions {
    if (this.#kept > MAX_KEPT) this.#clear();
    // Many pieces share few sets.
    const positions = new Map<number, number[]>();
    pieces.forEach(({ set }, position) => {
      const id = this.#idOf(set);
      const same = positions.get(id);
      if (same) same.push(position);
      else positions.set(id, [position]);
    });
    const ids = [...positions.keys()].sort((a, b) => a - b);
    const { starts, kinds, members } = this.#segmentsOf(ids);
    const byKind = members.map((indices) => {
      const all = indices.flatMap((index) => positions.get(ids[index]!)!);
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

  #segmentsOf(ids: readonly number[]): Segments {
    const key = ids.join();
    let segments = this.#segments.get(key);
    if (!segments) {
      segments = cut(ids.map((id) => this.#sets[id]!));
      const size = segments.starts.length + ids.length;
      this.#work.spend(4 + 2 * size);
      this.#kept += size;
      this.#segments.set(key, segments);
    }
    return segments;
  }

  /** The number of a set. Equal sets have the same number. */
  #idOf(set: CharacterSet): number {
    let id = this.#ids.get(set);
    if (id === undefined) {
      this.#work.spend(1 + (set.length >> 4));
      const hash = hashOf(set);
      const alike = this.#byHash.get(hash) ?? [];
      id = alike.find((one) => isEqual(this.#sets[one]!, set));
      if (id === undefined) {
        this.#byHash.set(hash, [...alike, id = this.#sets.push(set) - 1]);
        this.#kept += set.length;
      }
      this.#ids.set(set, id);
    }
    return id;
  }

  #clear(): void {
    this.#segments.clear();
    this.#ids = new WeakMap();
    this.#byHash.clear();
    this.#sets.length = 0;
    this.#kept = 0;
  }
}

function hashOf(set: CharacterSet): number {
  let hash = set.length;
  for (const codePoint of set) hash = Math.imul(hash ^ codePoint, 0x01000193) ^ (hash >>> 15);
  return hash;
}

function isEqual(a: CharacterSet, b: CharacterSet): boolean {
  return a.length === b.length && a.every((codePoint, at) => codePoint === b[at]);
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
  // A kind and one more set make a new kind, because sets are added one by one.
  const kindsWith = new Map<number, number>();
  sets.forEach((set, position) => {
    kindsWith.clear();
    for (let at = 0; at < set.length; at += 2) {
      const end = set[at + 1]!;
      for (let segment = segmentOf(starts, set[at]!); starts[segment]! <= end; segment++) {
        const kind = kinds[segment]!;
        let wider = kindsWith.get(kind);
        if (wider === undefined) {
          wider = members.push([...members[kind]!, position]) - 1;
          kindsWith.set(kind, wider);
        }
        kinds[segment] = wider;
      }
    }
  });
  return withoutUnused({ starts, kinds, members });
}

/** Segments without the kinds that none of them has. */
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

/** The index of the segment that contains a code point. */
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
