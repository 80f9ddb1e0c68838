// One document while it is written token by token: the tokens that may come, and what is known
// about the rest. A matcher takes little to make; what it finds out is kept with the grammar for
// later documents.

import { expectOutOfWork, unlessOutOfWork } from "../language/mod.ts";
import { Completion } from "./completion.ts";
import { SpelledEnds } from "./spelled_ends.ts";
import { DeadEndError, MachineError } from "./errors.ts";
import { DEAD, Machine, type State, UNRESOLVED } from "./machine.ts";
import type { Rules } from "./rules/rules.ts";
import { TokenMasks } from "./masks/token_masks.ts";
import { CONTROL, type TokenTable } from "./token_table.ts";

/**
 * Most states of a machine, after which a new one is made, so that it does not grow with every
 * document.
 */
const MAX_STATES = 16_384;

/** Most bytes that are forced at once. */
const MAX_FORCED = 256;

/** Steps of work for the tokens that may come: less than 50 ms. */
const MASK_WORK = 40_000;

/** Steps of work for a mask that would be empty with less: a second. */
const MOST_MASK_WORK = 50 * MASK_WORK;

/** Steps of work for counting the tokens of an end. */
const END_WORK = 40_000;

/** Steps of work for counting the tokens that a document takes at least: a quarter of a second. */
const MISSING_WORK = 5 * MASK_WORK;

/** Steps of work for finding the tokens that lead to the end in time. */
const LEAD_WORK = 24_000;

/** Steps of work for finding text that must come next. */
const FORCED_WORK = 10_000;

/** Steps of work for writing out a shortest end: a second. */
const COMPLETION_WORK = MOST_MASK_WORK;

/** Most bytes of an end that is written out. */
const MAX_COMPLETION = 1 << 16;

/** All bytes, those that end something open first. */
const ENDING_FIRST: ReadonlySet<number> = new Set([
  ...new TextEncoder().encode('"]},:'),
  ...Array(256).keys(),
]);

export interface MaskOptions {
  /**
   * Number of tokens that can still come: the mask then has only those after which the document can
   * become complete in time. If it cannot anyway, that changes nothing.
   */
  readonly remaining?: number;
}

/** A machine, and what finds out more of its states. */
class Tools {
  readonly machine: Machine;
  readonly masks: TokenMasks;
  readonly completion: Completion;
  readonly ends: SpelledEnds;

  constructor(rules: Rules, table: TokenTable) {
    this.machine = new Machine(rules);
    this.masks = new TokenMasks(this.machine, table);
    this.completion = new Completion(this.machine);
    this.ends = new SpelledEnds(this.machine, table, this.completion);
  }
}

/** What the matchers of one grammar and vocabulary share. */
export class MatcherContext {
  rules: Rules;
  readonly table: TokenTable;
  /** Steps of work for a mask. */
  readonly maskWork: number;
  tools: Tools;

  constructor(rules: Rules, table: TokenTable, maskWork = MASK_WORK) {
    this.rules = rules;
    this.table = table;
    this.maskWork = maskWork;
    this.tools = new Tools(rules, table);
  }

  /** Makes a new machine, unless another one than that of `tools` is current already. */
  renew(tools: Tools): void {
    if (tools !== this.tools) return;
    if (this.rules.isFull) this.rules = this.rules.renewed();
    this.tools = new Tools(this.rules, this.table);
  }
}

/** A mask as far as it was found. */
interface FoundMask {
  readonly bits: Uint32Array<ArrayBuffer>;
  /** Whether some tokens are missing because the budget was spent. */
  readonly isPartial: boolean;
}

/** A position in a document. */
interface Position {
  readonly state: State;
  /** Number of bytes before it. */
  readonly length: number;
}

/** Checks and steers one document. */
export class Matcher {
  readonly #context: MatcherContext;
  #tools: Tools;
  #position: Position;
  /** The empty mask, for questions that the budget was not enough for. */
  readonly #nothing: FoundMask;
  #document = new Uint8Array(256);
  #isEnded = false;
  #isAhead = false;

  constructor(context: MatcherContext) {
    this.#context = context;
    this.#tools = context.tools;
    this.#position = { state: this.#tools.machine.start, length: 0 };
    this.#nothing = { bits: new Uint32Array(Math.ceil(context.table.size / 32)), isPartial: true };
  }

  /**
   * A copy of this matcher, to look ahead with. It accepts tokens that no mask has allowed, so it
   * refuses tokens for which it would need more work than for a mask.
   */
  fork(): Matcher {
    const fork = new Matcher(this.#context);
    fork.#isAhead = true;
    fork.#tools = this.#tools;
    fork.#position = this.#position;
    fork.#document = this.#document.slice(0, Math.max(256, this.#position.length));
    fork.#isEnded = this.#isEnded;
    return fork;
  }

  /** Whether the document may end here. */
  get isComplete(): boolean {
    return this.#tools.machine.isComplete(this.#position.state);
  }

  /** The bytes so far. Valid until the next call. */
  get written(): Uint8Array {
    return this.#textBefore(this.#position);
  }

  /** Whether an end token was accepted: no token may follow. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * The tokens that may come: bit t of word t >> 5 for token t. Read only, and valid until the next
   * call. Never empty before the end, if every byte is a token.
   */
  mask({ remaining = Infinity }: MaskOptions = {}): Uint32Array<ArrayBuffer> {
    if (this.#isEnded) return new Uint32Array(Math.ceil(this.#context.table.size / 32));
    const within = remaining < Infinity && this.mayEndWithin(remaining) && this.#within(remaining);
    if (within) return within;
    for (let steps = this.#context.maskWork; steps <= MOST_MASK_WORK; steps *= 2) {
      const { bits, isPartial } = this.#limited(() => this.#look(), this.#nothing, steps);
      if (bits.some((word) => word !== 0)) return bits;
      if (!isPartial) throw new DeadEndError();
      // Results are kept, so the next attempt gets further.
    }
    throw new MachineError(
      "its patterns take too long to find what may come next: simplify them, or the bounds of lengths",
    );
  }

  /** The tokens that may come, as far as they are found within the budget. */
  #look(): FoundMask {
    const { bits, deferred, isPartial } = this.#tools.masks.of(this.#position.state);
    if (deferred.length === 0) return { bits, isPartial };
    const all = bits.slice();
    const isCut = this.#addDeferred(all, [...deferred]);
    return { bits: all, isPartial: isPartial || isCut };
  }

  /**
   * The tokens after which the document can become complete in time, as it can now; undefined if none
   * are found within the budget.
   */
  #within(remaining: number): Uint32Array<ArrayBuffer> | undefined {
    const { table, rules: { work } } = this.#context;
    const runTo = (node: number) => node === 0 ? this.#position : this.#run(table.pathTo(node));
    const goal = {
      limit: remaining - 1,
      ends: this.#tools.ends,
      reach: (node: number) => runTo(node).state,
      before: (node: number) => this.#textBefore(runTo(node)),
    };
    const bits = work.limited(
      LEAD_WORK,
      () => this.#tools.masks.within(this.#position.state, goal),
    );
    return bits.some((word) => word !== 0) ? bits : undefined;
  }

  /**
   * The number of tokens that complete the document: never fewer than it needs, and seldom more.
   * Infinity if it is not found in time, or no tokens of the vocabulary spell the end.
   */
  missing(): number {
    const position = this.#position;
    const find = () => this.#tools.ends.of(position.state, () => this.#textBefore(position));
    const end = this.#limited(find, undefined, MISSING_WORK);
    return end?.isSpelled ? end.tokens : Infinity;
  }

  /** Whether the document can become complete within a number of tokens. */
  mayEndWithin(tokens: number): boolean {
    return this.#mayEndWithin(tokens, this.#position);
  }

  /** Whether the document can become complete within a number of tokens after some that may come. */
  mayEndAfter(tokens: readonly number[], left: number): boolean {
    const { table } = this.#context;
    let position = this.#position;
    for (const token of tokens) {
      if (table.endTokens.has(token)) return true;
      position = this.#run(table.bytesOf(token), position);
    }
    return position.state !== DEAD && this.#mayEndWithin(left, this.#settled(position));
  }

  #mayEndWithin(tokens: number, position: Position): boolean {
    const before = () => this.#textBefore(position);
    const fits = () => this.#tools.ends.fits(position.state, tokens, before);
    return this.#limited(fits, false, END_WORK);
  }

  #textBefore({ length }: Position): Uint8Array {
    return this.#document.subarray(0, length);
  }

  /** The result of `find` within a number of steps of work, or `otherwise` if they are not enough. */
  #limited<T>(find: () => T, otherwise: T, steps: number): T {
    const { work } = this.#context.rules;
    return work.limited(steps, () => unlessOutOfWork(find, otherwise));
  }

  /** Accepts a token. Returns false, and changes nothing, if the token is not allowed. */
  accept(token: number): boolean {
    if (!this.#isAhead) return this.#accept(token);
    const before = this.#position;
    const isTaken = this.#limited(() => this.#accept(token), undefined, this.#context.maskWork);
    if (isTaken === undefined) this.#position = before;
    return isTaken ?? false;
  }

  #accept(token: number): boolean {
    const { table } = this.#context;
    if (this.#isEnded) return false;
    if (table.endTokens.has(token)) {
      this.#isEnded = this.isComplete;
      return this.#isEnded;
    }
    if (!table.isText(token)) return false;
    return this.acceptBytes(table.bytesOf(token));
  }

  /** Whether some bytes may come next. */
  allows(bytes: Uint8Array): boolean {
    return this.#run(bytes).state !== DEAD;
  }

  /** Accepts bytes as if tokens had brought them. */
  acceptBytes(bytes: Uint8Array): boolean {
    const position = this.#run(bytes);
    if (position.state === DEAD) return false;
    this.#position = this.#settled(position);
    if (this.#tools.machine.size > MAX_STATES || this.#tools.machine.rules.isFull) this.#renew();
    return true;
  }

  /**
   * The text that must come next, up to where there is a choice, the document may end, or finding
   * out takes too long.
   */
  forced(): Uint8Array {
    const bytes: number[] = [];
    this.#limited(() => this.#force(bytes), undefined, FORCED_WORK);
    return Uint8Array.from(bytes);
  }

  #force(bytes: number[]): void {
    for (let position = this.#position; bytes.length < MAX_FORCED;) {
      if (this.#tools.machine.isComplete(position.state)) break;
      const possible = this.#nextBytes(position);
      if (possible.length !== 1 || possible[0] === CONTROL) break;
      bytes.push(possible[0]!);
      position = this.#advance(position, possible[0]!);
    }
  }

  /**
   * A short text that completes the document; undefined if it would be too long or takes too long
   * to find.
   */
  completion(): Uint8Array | undefined {
    return this.#limited(() => this.#complete(), undefined, COMPLETION_WORK);
  }

  #complete(): Uint8Array | undefined {
    let position = this.#position;
    let cost = this.#tools.completion.cost(position.state);
    const limit = 2 * cost + 4096;
    if (cost > MAX_COMPLETION) return undefined;
    const bytes: number[] = [];
    while (!this.#tools.machine.isComplete(position.state)) {
      if (bytes.length > limit) return undefined;
      const byte = this.#nearing(position, cost);
      if (byte === undefined) return undefined;
      bytes.push(byte);
      position = this.#advance(position, byte);
      cost = this.#tools.completion.cost(position.state);
    }
    return Uint8Array.from(bytes);
  }

  /**
   * A byte that brings the end nearer, or else the one that moves it away least, since items may
   * repeat.
   */
  #nearing(position: Position, cost: number): number | undefined {
    let least = Infinity;
    let best: number | undefined;
    for (const byte of ENDING_FIRST) {
      const { state } = this.#advance(position, byte);
      const after = state === DEAD ? Infinity : this.#tools.completion.cost(state);
      if (after < cost) return byte;
      if (after < least) [least, best] = [after, byte];
    }
    return best;
  }

  /** At most two of the bytes that may come at a position. */
  #nextBytes(position: Position): number[] {
    const possible: number[] = [];
    for (let byte = 0; byte < 256 && possible.length < 2; byte++) {
      if (this.#advance(position, byte).state !== DEAD) possible.push(byte);
    }
    return possible;
  }

  /** The position after some bytes; its state is DEAD if they are not allowed. */
  #run(bytes: Uint8Array, from = this.#position): Position {
    let position = from;
    for (let index = 0; index < bytes.length && position.state !== DEAD; index++) {
      position = this.#advance(position, bytes[index]!);
    }
    return position;
  }

  #advance({ state, length }: Position, byte: number): Position {
    const { machine } = this.#tools;
    let next = machine.step(state, byte);
    if (next === UNRESOLVED) {
      const settled = machine.settle(state, this.#document.subarray(0, length), true);
      next = machine.step(settled, byte);
    }
    if (length === this.#document.length) {
      const longer = new Uint8Array(2 * length);
      longer.set(this.#document);
      this.#document = longer;
    }
    this.#document[length] = byte;
    return { state: next, length: length + 1 };
  }

  #settled(position: Position): Position {
    const settled = this.#tools.machine.settle(position.state, this.#textBefore(position), false);
    return { state: this.#tools.machine.thinned(settled), length: position.length };
  }

  #renew(): void {
    const { state, length } = this.#position;
    const old = this.#tools;
    this.#context.renew(old);
    this.#tools = this.#context.tools;
    this.#position = { state: this.#tools.machine.adopt(old.machine, state), length };
  }

  /**
   * Decides the tokens that depend on the text of a key or item. Returns whether the budget was
   * spent before that.
   */
  #addDeferred(bits: Uint32Array<ArrayBuffer>, deferred: number[]): boolean {
    const { table } = this.#context;
    let isCut = false;
    for (let node = deferred.pop(); node !== undefined; node = deferred.pop()) {
      try {
        const { state } = this.#run(table.pathTo(node));
        if (state === DEAD) continue;
        this.#tools.masks.addAt(bits, node);
        this.#tools.masks.addBelow(bits, node, state, deferred);
      } catch (error) {
        expectOutOfWork(error);
        isCut = true;
      }
    }
    return isCut || this.#tools.masks.isPartial;
  }
}
