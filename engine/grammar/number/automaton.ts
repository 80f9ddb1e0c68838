// The automaton of the JSON numbers (RFC 8259, section 6) of a set, over their bytes. States are
// made when a walk reaches them; from every state except 0 a member can be reached. Exact
// arithmetic on the digits so far (mantissa.ts) decides which bytes may follow; a flat table caches
// this.

import type { Decimal } from "../json/mod.ts";
import { Work } from "../language/mod.ts";
import { NumberError } from "./multiples.ts";
import { Mantissa, type Reading } from "./mantissa.ts";
import { HalfLine } from "./half_line.ts";
import { complement, exactly, intersect, isEmptyNumbers, type NumberSet } from "./number_set.ts";
import { readable, Written, writtenMembers } from "./written.ts";

/** The characters of numbers. */
const CHARACTERS = "0123456789.-+eE";
const SYMBOLS = new Int8Array(256).fill(-1);
for (let symbol = 0; symbol < CHARACTERS.length; symbol++) {
  SYMBOLS[CHARACTERS.charCodeAt(symbol)] = symbol;
}

/** Entries per state in the table. */
const ROW = 16;
const UNKNOWN = -1;
/** Most states, which limits memory. Only sets with very long periods need so many. */
const MAX_STATES = 1 << 18;

/** Steps of work for a new state, in addition to the search for what may follow. */
const STATE_STEPS = 12;

/** A deterministic automaton over the bytes of JSON numbers. State 0 is a dead end. */
export interface NumberAutomaton {
  /** Where a number begins. */
  readonly start: number;
  /** The state after one more byte; 0 if no number continues with it. Errors: OutOfWork. */
  step(state: number, byte: number): number;
  /** Whether the bytes so far are a member. */
  accepts(state: number): boolean;
  /** The length of {@linkcode completion} in bytes. */
  shortest(state: number): number;
  /** The fewest bytes that complete a member; without an exponent if that is possible. */
  completion(state: number): Uint8Array;
  /** Whether so many states are kept that masks may add nothing. */
  readonly isFull: boolean;
  /** The state that corresponds to a state of another automaton of the same set. */
  adopt(other: unknown, state: number): number;
}

/** Sets within these bounds certainly have an automaton. */
const USUAL_DIGITS = 20;
const USUAL_PERIOD = 10n;

export interface NumberAutomatonOptions {
  /**
   * Whether each member has only one spelling: without an exponent, a sign of 0, or zeros at the
   * end of a fraction. Then numbers are equal if their bytes are. Default: false.
   */
  readonly plain?: boolean;
  /**
   * Whether the one spelling of a member that a schema lists is how it is written there, such as
   * 1.0 or 1e21; for `plain`. Default: false.
   */
  readonly asListed?: boolean;
  /** Counts the work, which masks limit. Without it nothing is limited. */
  readonly work?: Work;
}

/**
 * The automaton of the spellings of all members that are still members when they are read as
 * doubles.
 *
 * @throws NumberError if the set is empty, or only has members with more than 309 digits
 */
export function numberAutomaton(
  set: NumberSet,
  options: NumberAutomatonOptions = {},
): NumberAutomaton {
  if (isEmptyNumbers(set)) throw new NumberError("Spell a set of numbers: it is empty");
  return new Automaton(set, options);
}

/**
 * Whether {@linkcode numberAutomaton} takes a set.
 *
 * @throws NumberError if it does not
 */
export function checkSpelling(set: NumberSet): void {
  const isUsual =
    set.cuts.every((cut) => cut.magnitude <= USUAL_DIGITS && cut.exponent >= -USUAL_DIGITS) &&
    set.between.every((piece) => piece.period <= USUAL_PERIOD && piece.scale <= USUAL_DIGITS);
  if (!isUsual) numberAutomaton(set, { plain: true, asListed: true });
}

function without(set: NumberSet, members: readonly Decimal[]): NumberSet {
  return members.length === 0 ? set : intersect(set, complement(exactly(members)));
}

class Automaton implements NumberAutomaton {
  readonly start: number;
  readonly #readings: (Reading | undefined)[] = [undefined];
  readonly #states = new Map<string, number>();
  readonly #work: Work;
  #table = new Int32Array(64 * ROW).fill(UNKNOWN);

  constructor(
    set: NumberSet,
    { plain = false, asListed = false, work = new Work() }: NumberAutomatonOptions,
  ) {
    this.#work = work;
    const written = asListed ? writtenMembers(set) : [];
    const others = without(set, written);
    const reading = isEmptyNumbers(others)
      ? undefined
      : new Beginning(...HalfLine.split(readable(others), plain, work), plain);
    const texts = written.map((member) => member.written!).sort();
    this.start = this.#stateOf(texts.length > 0 ? new Written(texts, reading) : reading!);
  }

  step(state: number, byte: number): number {
    const symbol = SYMBOLS[byte]!;
    if (symbol < 0 || state === 0) return 0;
    const known = this.#table[state * ROW + symbol]!;
    if (known !== UNKNOWN) return known;
    const next = this.#readings[state]!.next(CHARACTERS[symbol]!);
    const target = next === undefined ? 0 : this.#stateOf(next);
    this.#table[state * ROW + symbol] = target;
    return target;
  }

  get isFull(): boolean {
    return this.#work.isFull(this.#readings.length, MAX_STATES);
  }

  adopt(other: unknown, state: number): number {
    if (!(other instanceof Automaton)) {
      throw new TypeError("Cannot adopt a state: it is of no number");
    }
    const reading = other.#readings[state];
    return reading === undefined ? 0 : this.#stateOf(reading);
  }

  accepts(state: number): boolean {
    return this.#readings[state]?.accepts ?? false;
  }

  shortest(state: number): number {
    return this.#readings[state]?.shortest ?? Infinity;
  }

  completion(state: number): Uint8Array {
    const bytes = new Uint8Array(this.shortest(state));
    for (let index = 0; index < bytes.length; index++) {
      const left = bytes.length - index - 1;
      const symbol = Array.from(CHARACTERS).findIndex((character) =>
        this.shortest(this.step(state, character.charCodeAt(0))) === left
      );
      bytes[index] = CHARACTERS.charCodeAt(symbol);
      state = this.step(state, bytes[index]!);
    }
    return bytes;
  }

  #stateOf(reading: Reading): number {
    const { key } = reading;
    let state = this.#states.get(key);
    if (state === undefined) {
      this.#work.charge(STATE_STEPS);
      this.#work.keep(this.#readings.length, MAX_STATES, "states of numbers");
      state = reading.isLive ? this.#readings.length : 0;
      this.#states.set(key, state);
      if (state > 0) this.#readings.push(reading);
      if (this.#readings.length * ROW > this.#table.length) this.#grow();
    }
    return state;
  }

  #grow(): void {
    const table = new Int32Array(2 * this.#table.length).fill(UNKNOWN);
    table.set(this.#table);
    this.#table = table;
  }
}

/** A number without digits so far. */
class Beginning implements Reading {
  readonly #half: HalfLine;
  readonly #negative: HalfLine | undefined;
  readonly #plain: boolean;
  readonly key: string;
  readonly accepts = false;
  readonly shortest: number;

  /** @param negative the numbers that may follow a sign; undefined after a sign */
  constructor(half: HalfLine, negative: HalfLine | undefined, plain: boolean) {
    this.#half = half;
    this.#negative = negative;
    this.#plain = plain;
    this.key = negative === undefined ? "sign" : "start";
    const next = Array.from("0123456789-", (character) => this.next(character));
    this.shortest = 1 + Math.min(...next.map((reading) => reading?.shortest ?? Infinity));
  }

  get isLive(): boolean {
    return this.shortest < Infinity;
  }

  next(character: string): Reading | undefined {
    if (character >= "0" && character <= "9") {
      return Mantissa.begin(this.#half, this.#plain, Number(character));
    }
    if (character !== "-" || this.#negative === undefined) return undefined;
    return new Beginning(this.#negative, undefined, this.#plain);
  }
}
