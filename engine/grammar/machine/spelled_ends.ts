// The shortest ends of documents spelled out, and the fewest tokens that spell them. A byte leads from
// each state to one whose end is shorter, so states share the rest of their ends, and the tokens of
// each rest are counted once. Where these are too many, other tokens that bring the end nearer are
// tried on the way. A document may need still fewer tokens, but seldom does.

import { ASCII, classesOf, unlessOutOfWork } from "../language/mod.ts";
import type { Completion } from "./completion.ts";
import { DEAD, type Machine, type State, UNRESOLVED } from "./machine.ts";
import type { TokenTable } from "./token_table.ts";

/** Most bytes of an end that is spelled out. */
const MOST_SPELLED = 1 << 14;

/** States that a search visits for one that is nearer to the end, if no single byte leads to one. */
const MAX_VISITS = 256;

/** Steps of work for finding a byte, and for each token that is tried. */
const BYTE_STEPS = 4;
const TOKEN_STEPS = 1;

/** Most ends that are spelled out within each other, to find out where other tokens lead. */
const MOST_NESTED = 8;

/** Bytes, for each of an end's, that are more than its items take to differ from others. */
const DISTINCT = 16;

const QUOTE = 0x22;

/** An end of a document. */
export interface End {
  /**
   * The fewest tokens that spell it. Infinity if none in the vocabulary do; a token for each byte if
   * it is not spelled out, which is never too few.
   */
  readonly tokens: number;
  /** Whether it is spelled out: it is not if it is too long, or its bytes are not found. */
  readonly isSpelled: boolean;
}

/** An end, byte by byte. */
interface SpelledEnd extends End {
  /** Its first byte, and what follows that; missing at the end, and where it is not spelled out. */
  readonly byte?: number;
  readonly rest?: SpelledEnd;
  /** The node of a better token to begin with than those of its bytes, and what follows that. */
  readonly leap?: { readonly node: number; readonly rest: SpelledEnd };
}

/** A byte that leads towards the end. */
interface Step {
  readonly byte: number;
  readonly next: State;
}

/** The bytes of a document up to a state, for what depends on the last key or item. */
export type Before = () => Uint8Array;

/** Nothing is known of the document. */
const UNKNOWN: Before = () => {
  throw new TypeError("Reading a document that is not known");
};

const COMPLETE: SpelledEnd = { tokens: 0, isSpelled: true };

/** Spells the shortest ends of one machine's states in the tokens of a vocabulary. */
export class SpelledEnds {
  readonly #machine: Machine;
  readonly #table: TokenTable;
  readonly #completion: Completion;
  /** All bytes, those first that are repeated in the longest tokens: they serve to reach lengths. */
  readonly #bytes: readonly number[];
  readonly #steps = new Map<State, Step>();
  /** The ends that depend on the state alone: the shortest ones, and those with leaps. */
  readonly #shortest = new Map<State, SpelledEnd>();
  readonly #leaping = new Map<State, SpelledEnd>();
  readonly #leaps: Leaps;
  #nested = 0;

  constructor(machine: Machine, table: TokenTable, completion: Completion) {
    this.#machine = machine;
    this.#table = table;
    this.#completion = completion;
    this.#leaps = new Leaps(machine, table, completion);
    const rest = [...Array(256).keys()].filter((byte) => byte !== QUOTE);
    this.#bytes = [QUOTE, ...rest.sort((a, b) => table.runOf(b) - table.runOf(a))];
  }

  /** An end of a document in a state, with as few tokens as are found in time. Errors: OutOfWork. */
  of(state: State, before: Before): End {
    const shortest = this.#spelled(state, before);
    return unlessOutOfWork(() => this.#spelled(state, before, this.#leaping), shortest);
  }

  /** Whether a document in a state can be complete within a number of tokens. Errors: OutOfWork. */
  fits(state: State, limit: number, before: Before): boolean {
    // Each byte takes a token at most, so that most ends need not be spelled out. To differ from others,
    // an item may take some more bytes.
    const cost = this.#completion.cost(state);
    if (cost > limit * this.#table.longest) return false;
    const most = this.#machine.rules.hasUniqueItems ? DISTINCT * (cost + 1) : cost;
    return most <= limit || this.#spelled(state, before).tokens <= limit ||
      this.#spelled(state, before, this.#leaping).tokens <= limit;
  }

  /**
   * Sets the bits of the tokens that spell the beginning of a state's end, after which at most `limit`
   * tokens are missing. Errors: OutOfWork.
   */
  addAlong(bits: Uint32Array, state: State, limit: number, before: Before): void {
    const add = (node: number, rest: SpelledEnd) => {
      if (rest.tokens <= limit) this.#table.addTokensAt(bits, node);
    };
    this.#tokensAlong(this.#spelled(state, before), add);
    const end = this.#spelled(state, before, this.#leaping);
    this.#tokensAlong(end, add);
    if (end.leap) add(end.leap.node, end.leap.rest);
  }

  /** @param kind the ends among which it is */
  #spelled(state: State, before: Before, kind = this.#shortest): SpelledEnd {
    return this.#known(state, kind) ?? this.#spell(state, before, kind);
  }

  #known(state: State, kind: ReadonlyMap<State, SpelledEnd>): SpelledEnd | undefined {
    if (this.#machine.isComplete(state)) return COMPLETE;
    const known = kind.get(state);
    if (known) return known;
    const isLong = this.#completion.cost(state) > MOST_SPELLED;
    return isLong ? this.#unspelled(state) : undefined;
  }

  /** An end of which only the number of bytes is known. */
  #unspelled(state: State): SpelledEnd {
    const isSure = !this.#machine.rules.hasUniqueItems;
    return { tokens: isSure ? this.#completion.cost(state) : Infinity, isSpelled: false };
  }

  /** Finds the bytes of an end, and counts the tokens of all its rests, the last ones first. */
  #spell(start: State, before: Before, kind: Map<State, SpelledEnd>): SpelledEnd {
    const path: { readonly state: State; readonly byte: number }[] = [];
    const seen = new Set<State>();
    /** The last state whose end depends on the document, and so on those before it. */
    let open = -1;
    let state = start;
    let end = this.#known(state, kind);
    while (!end) {
      seen.add(state);
      let step = this.#stepFrom(state);
      if (!step) {
        open = path.length;
        step = before === UNKNOWN ? undefined : this.#settledStep(state, before, path);
      }
      if (!step || seen.has(step.next)) {
        end = this.#unspelled(state);
        break;
      }
      path.push({ state, byte: step.byte });
      state = step.next;
      end = this.#known(state, kind);
    }
    for (let at = path.length - 1; at >= 0; at--) {
      const { state, byte } = path[at]!;
      end = this.#counted(byte, end);
      if (at <= open) continue;
      if (kind === this.#leaping) end = this.#withLeap(state, end);
      kind.set(state, end);
    }
    return end;
  }

  /** This end, or one that begins with another token and takes fewer. */
  #withLeap(state: State, end: SpelledEnd): SpelledEnd {
    if (this.#nested === MOST_NESTED) return end;
    this.#nested++;
    try {
      for (const { node, next } of this.#leaps.from(state)) {
        const rest = this.#spelled(next, UNKNOWN, this.#leaping);
        if (rest.tokens + 1 >= end.tokens) continue;
        end = { ...end, tokens: rest.tokens + 1, leap: { node, rest } };
      }
      return end;
    } finally {
      this.#nested--;
    }
  }

  /** The end that begins with a byte. */
  #counted(byte: number, rest: SpelledEnd): SpelledEnd {
    let tokens = Infinity;
    const { isSpelled } = rest;
    this.#tokensAlong({ tokens, isSpelled, byte, rest }, (_, after) => {
      tokens = Math.min(tokens, 1 + after.tokens);
    });
    return { tokens, isSpelled, byte, rest };
  }

  /** Calls `visit` with the nodes of the tokens with which an end begins, and what follows them. */
  #tokensAlong(end: SpelledEnd, visit: (node: number, rest: SpelledEnd) => void): void {
    const { firsts } = this.#table;
    const { work } = this.#machine.rules;
    for (let node = 0; end.rest; end = end.rest) {
      work.charge(TOKEN_STEPS);
      node = this.#table.childOf(node, end.byte!);
      if (node < 0) return;
      if (firsts[node]! < firsts[node + 1]!) visit(node, end.rest);
    }
  }

  /** A step towards the end that depends on the state alone; undefined if none is found. */
  #stepFrom(state: State): Step | undefined {
    let step = this.#steps.get(state);
    if (!step) {
      step = this.#nearerStep(state) ?? this.#searchStep(state);
      if (step) this.#steps.set(state, step);
    }
    return step;
  }

  /** A step to a state whose end is nearer. */
  #nearerStep(state: State): Step | undefined {
    const cost = this.#completion.cost(state);
    this.#machine.rules.work.charge(BYTE_STEPS);
    for (const byte of this.#bytes) {
      const next = this.#machine.step(state, byte);
      if (next === DEAD || next === UNRESOLVED) continue;
      if (this.#completion.cost(next) < cost) return { byte, next };
    }
    return undefined;
  }

  /**
   * The first step on a way to a state whose end is nearer, or known. There may be no direct one where
   * an item has to differ from others: it is not known how many bytes that takes.
   */
  #searchStep(start: State): Step | undefined {
    const cost = this.#completion.cost(start);
    const steps = new Map<State, { readonly from: State; readonly byte: number }>();
    const queue = [start];
    for (const from of queue) {
      if (queue.length > MAX_VISITS) break;
      this.#machine.rules.work.charge(BYTE_STEPS);
      for (const byte of this.#bytes) {
        const next = this.#machine.step(from, byte);
        if (next === DEAD || next === UNRESOLVED || next === start || steps.has(next)) continue;
        steps.set(next, { from, byte });
        const isNearer = this.#completion.cost(next) < cost || this.#shortest.has(next);
        if (!isNearer) {
          queue.push(next);
          continue;
        }
        for (let at = next;;) {
          const { from, byte } = steps.get(at)!;
          const step = { byte, next: at };
          if (from === start) return step;
          this.#steps.set(from, step);
          at = from;
        }
      }
    }
    return undefined;
  }

  /** A step where the last key or item of the document has to be settled first. */
  #settledStep(
    state: State,
    before: Before,
    path: readonly { readonly byte: number }[],
  ): Step | undefined {
    const machine = this.#machine;
    const unresolved = this.#bytes.filter((byte) => machine.step(state, byte) === UNRESOLVED);
    if (unresolved.length === 0) return undefined;
    const written = before();
    const document = new Uint8Array(written.length + path.length);
    document.set(written);
    document.set(path.map(({ byte }) => byte), written.length);
    const settled = machine.settle(state, document, true);
    const cost = this.#completion.cost(state);
    for (const byte of unresolved) {
      const next = machine.step(settled, byte);
      if (next === DEAD || next === UNRESOLVED) continue;
      if (this.#completion.cost(next) < cost) return { byte, next };
    }
    return undefined;
  }
}

// Tokens that bring the end of a document nearer, and may do so better than those that spell its
// shortest end: another constant of a few, or more characters at once of a text that has to be long.

/** Most bytes that may come in a state, and nodes that are visited, for all tokens to be tried. */
const MOST_BYTES = 24;
const MOST_NODES = 512;

/** The share of the budget for the tokens of one state. */
const SHARE = 0.2;

/** Steps of work for each node. */
const NODE_STEPS = 0.2;

/** Classes of characters whose longest tokens are tried where any text may come. */
const KINDS = [
  classesOf("abcdefghijklmnopqrstuvwxyz "),
  classesOf("0123456789"),
  ASCII,
];

/** A token, by its node, and the state after it. */
interface Leap {
  readonly node: number;
  readonly next: State;
}

/** Finds such tokens. */
class Leaps {
  readonly #machine: Machine;
  readonly #table: TokenTable;
  readonly #completion: Completion;

  constructor(machine: Machine, table: TokenTable, completion: Completion) {
    this.#machine = machine;
    this.#table = table;
    this.#completion = completion;
  }

  /** The tokens from a state, as far as they are found within the budget. */
  from(state: State): readonly Leap[] {
    const leaps = new Map<State, Leap>();
    const { work } = this.#machine.rules;
    const find = () => this.#isNarrow(state) ? this.#all(state, leaps) : this.#long(state, leaps);
    work.within(SHARE, () => unlessOutOfWork(find, undefined));
    return [...leaps.values()];
  }

  /** Whether only few bytes may come. */
  #isNarrow(state: State): boolean {
    if (this.#machine.loopOf(state).classes !== 0) return false;
    const { ends, nodes, bytes } = this.#table;
    let count = 0;
    for (let node = 1; node < nodes && count <= MOST_BYTES; node = ends[node]!) {
      if (this.#machine.step(state, bytes[node]!) !== DEAD) count++;
    }
    return count <= MOST_BYTES;
  }

  /** Adds all tokens that bring the end nearer. */
  #all(start: State, leaps: Map<State, Leap>): void {
    const { nodes, bytes, depths, ends, firsts, longest } = this.#table;
    const { work } = this.#machine.rules;
    const cost = this.#completion.cost(start);
    const path = new Int32Array(longest + 1);
    path[0] = start;
    let visited = 0;
    for (let node = 1; node < nodes;) {
      work.charge(NODE_STEPS);
      const depth = depths[node]!;
      const next = this.#machine.step(path[depth - 1]!, bytes[node]!);
      if (next === DEAD || next === UNRESOLVED) {
        node = ends[node]!;
        continue;
      }
      if (++visited > MOST_NODES) return;
      path[depth] = next;
      const isToken = firsts[node]! < firsts[node + 1]!;
      if (isToken && !leaps.has(next) && this.#completion.cost(next) < cost) {
        leaps.set(next, { node, next });
      }
      node++;
    }
  }

  /** Adds the longest token of each kind of text that may come and brings the end nearer. */
  #long(start: State, leaps: Map<State, Leap>): void {
    const cost = this.#completion.cost(start);
    for (const classes of KINDS) {
      for (const token of this.#table.characters.ofEachLength(classes)) {
        const leap = this.#run(start, this.#table.bytesOf(token));
        if (!leap || this.#completion.cost(leap.next) >= cost) continue;
        leaps.set(leap.next, leap);
        break;
      }
    }
  }

  #run(state: State, bytes: Uint8Array): Leap | undefined {
    let node = 0;
    for (const byte of bytes) {
      this.#machine.rules.work.charge(NODE_STEPS);
      state = this.#machine.step(state, byte);
      if (state === DEAD || state === UNRESOLVED) return undefined;
      node = this.#table.childOf(node, byte);
    }
    return { node, next: state };
  }
}
