// The states of a document while it is written. A state is a set of stacks, of which there are
// several only while a union is undecided. Transitions are cached in a flat table with a row of 256
// for each state.

import { MachineError } from "./errors.ts";
import { ARRAY, DECLARED_KEY, NUMBER, OTHER_KEY, STRING, TEXT } from "./frames/layouts.ts";
import type { Ends } from "./frames/frame_kind.ts";
import type { Rules } from "./rules/rules.ts";
import { settle } from "./frames/settling.ts";
import { type Stack, Stacks, UNRESOLVED_STACK } from "./frames/stacks.ts";
import { StackUnions } from "./frames/stack_unions.ts";
import { Stepper } from "./frames/stepper.ts";
import type { TextPosition } from "./texts/text_rules.ts";
import { WordAvoidance } from "./texts/word_avoidance.ts";
import { IntegerLists, NO_WORDS } from "./collections.ts";

/** A state of a {@linkcode Machine}, by number. */
export type State = number;

/** The dead end. */
export const DEAD: State = 1;

/**
 * The state of what depends on the text of a key or item; {@linkcode Machine.settle} resolves that.
 */
export const UNRESOLVED: State = 2;

/** A transition that is not known yet. Ordinary states come after the special ones. */
const UNKNOWN = 0;
const FIRST = 3;

/** Rows of a piece of the table, as a power of two. */
const PIECE = 6;
const ROWS_MASK = (1 << PIECE) - 1;

/** Steps of work for a transition of a state, and for each of its stacks. */
const STATE_STEPS = 6;
const STACK_STEPS = 4;

/** A byte that is never allowed: its transition shows whether a row is new. */
const NO_BYTE = 0xfe;

/**
 * Most stacks that a state has after a token: the undecided alternatives of unions. Further ones
 * are given up. Each of the others leads to an end, so answers stay complete and valid, and no
 * schema is refused. None are given up within a token, because a mask examines some stacks apart
 * from others and would not give up the same ones as a token that is accepted.
 */
const MAX_STACKS = 2048;

/** Most stacks within a token. Beyond that a mask leaves out the tokens that continue so. */
const MAX_STACKS_OF_MASK = 2 * MAX_STACKS;

/** Most stacks within a token that is accepted: more than a mask can allow in all its parts. */
const MAX_STACKS_OF_TOKEN = 256 * MAX_STACKS_OF_MASK;

/** The characters that lead from a state back to it: their classes, and their number at most. */
export interface Loop {
  readonly classes: number;
  readonly most: number;
  /** The state of the stack that loops, without the other stacks. */
  readonly alone: State;
}

/** A state in two parts. */
export interface Split {
  readonly locals: readonly Stack[];
  readonly others: State;
}

/** The frames that contain a state of a text's automaton. */
const TEXT_LAYOUTS = [STRING, OTHER_KEY, TEXT] as const;

/** The absence of a loop. */
export const NO_LOOP: Loop = { classes: 0, most: 0, alone: DEAD };

/** States of the documents of one schema. */
export class Machine {
  readonly rules: Rules;
  readonly stacks = new Stacks();
  readonly avoidance: WordAvoidance;
  readonly start: State;
  readonly #stepper: Stepper;
  readonly #unions: StackUnions;
  readonly #states = new IntegerLists();
  readonly #unionsOfStates = new Map<string, State>();
  /** The table in pieces, because copying it when it grows would take longer than a mask may. */
  readonly #pieces: Int32Array[] = [];
  /** A list for the stacks of a step. */
  readonly #out: Stack[] = [];
  readonly #splits: (Split | undefined)[] = [];
  readonly #loops: (Loop | undefined)[] = [];
  readonly #spaces: (number | undefined)[] = [];

  constructor(rules: Rules) {
    this.rules = rules;
    this.avoidance = new WordAvoidance(this.stacks.words, rules.work);
    this.#unions = new StackUnions(this.stacks, rules.work);
    this.#stepper = new Stepper(rules, this.stacks, this.#unions, this.avoidance);
    this.start = this.stateOf([this.#stepper.start()]);
  }

  /** Number of states so far. */
  get size(): number {
    return this.#states.size;
  }

  /** The state of some stacks; DEAD if there are none. */
  stateOf(stacks: readonly Stack[]): State {
    if (stacks.length === 0) return DEAD;
    stacks = this.#unions.join(stacks);
    this.rules.work.bound(stacks.length, MAX_STACKS_OF_MASK);
    if (stacks.length > MAX_STACKS_OF_TOKEN) {
      throw new MachineError("its unions leave too many alternatives open at once: simplify them");
    }
    const list = stacks.length === 1 ? stacks : [...new Set(stacks)].sort((a, b) => a - b);
    return FIRST + this.#states.intern(list);
  }

  /** The state after a token: the same, or fewer stacks if there are very many. */
  thinned(state: State): State {
    if (state < FIRST || this.#states.lengthOf(state - FIRST) <= MAX_STACKS) return state;
    return this.stateOf(this.stacksOf(state).slice(0, MAX_STACKS));
  }

  /** The union of states. */
  anyOf(states: readonly State[]): State {
    if (states.length === 1) return states[0]!;
    const key = states.join();
    let state = this.#unionsOfStates.get(key);
    if (state === undefined) {
      state = this.stateOf(states.flatMap((one) => this.stacksOf(one)));
      this.#unionsOfStates.set(key, state);
    }
    return state;
  }

  stacksOf(state: State): readonly Stack[] {
    return state < FIRST ? [] : this.#states.get(state - FIRST);
  }

  /** The state after a byte; DEAD if the byte is not allowed. */
  step(state: State, byte: number): State {
    const next = this.#pieces[state >>> PIECE]?.[((state & ROWS_MASK) << 8) | byte];
    return next === undefined || next === UNKNOWN ? this.#compute(state, byte) : next;
  }

  /** Whether the document is complete. */
  isComplete(state: State): boolean {
    return this.stacksOf(state).some((stack) => this.#stepper.isComplete(stack));
  }

  /**
   * The stacks of a state whose top frames can be walked by themselves, and the state of the
   * others.
   */
  split(state: State): Split {
    let split = this.#splits[state];
    if (!split) {
      const stacks = this.stacksOf(state);
      const locals = stacks.filter((stack) => this.#isLocal(stack));
      split = locals.length === 0
        ? { locals, others: state }
        : { locals, others: this.stateOf(stacks.filter((stack) => !this.#isLocal(stack))) };
      this.#splits[state] = split;
    }
    return split;
  }

  /** Bytes of white space that may come and change nothing but how many more may come. */
  spacesAt(state: State): number {
    return this.#spaces[state] ??= this.#findSpaces(state);
  }

  #findSpaces(state: State): number {
    const counts = new Set(this.stacksOf(state).map((stack) => this.#stepper.spaces(stack)));
    return counts.size === 1 ? [...counts][0]! : 0;
  }

  /** Whether a stack is within a text, number or declared key that depends on nothing else. */
  #isLocal(stack: Stack): boolean {
    const kind = this.stacks.kind(stack);
    const isLocal = kind === DECLARED_KEY.kind ||
      (kind === NUMBER.kind && !this.#stepper.endsDocument(stack));
    return (isLocal && !this.stacks.compares(stack)) || this.isText(stack);
  }

  /** Whether a stack is within a text that depends on nothing else. */
  isText(stack: Stack): boolean {
    const { stacks } = this;
    const kind = stacks.kind(stack);
    if (!stacks.compares(stack)) return kind === STRING.kind || kind === OTHER_KEY.kind;
    // A unique item that is a string is a text that must differ from the others; lower frames must
    // not compare it.
    return kind === STRING.kind && this.#isUniqueItem(stack) &&
      !stacks.compares(stacks.parent(stacks.parent(stack)));
  }

  /** The position within the text on top of a stack. */
  textOf(stack: Stack): TextPosition {
    const { stacks } = this;
    const kind = stacks.kind(stack);
    if (kind === OTHER_KEY.kind) {
      return {
        text: this.rules.texts[stacks.field(stack, OTHER_KEY.text)]!,
        state: stacks.field(stack, OTHER_KEY.state),
        characters: 0,
        avoided: stacks.field(stack, OTHER_KEY.avoided),
      };
    }
    const fields = kind === STRING.kind ? STRING : TEXT;
    return {
      text: this.rules.texts[stacks.field(stack, fields.text)]!,
      state: stacks.field(stack, fields.state),
      characters: stacks.field(stack, fields.characters),
      avoided: this.#isUniqueItem(stack)
        ? stacks.words.withoutQuote(stacks.field(stacks.parent(stack), ARRAY.avoided))
        : NO_WORDS,
    };
  }

  /** Whether the text on top is compared with other items of its array. */
  #isUniqueItem(stack: Stack): boolean {
    const { stacks } = this;
    const parent = stacks.parent(stack);
    return stacks.kind(parent) === ARRAY.kind && stacks.field(parent, ARRAY.avoided) !== NO_WORDS;
  }

  /** Fewest bytes that complete the top frame of a stack; for a key, the key and its object. */
  completion(stack: Stack, ends: Ends): number {
    return this.#stepper.completion(stack, ends);
  }

  /** The state after the text on top of a stack. */
  afterText(stack: Stack): State {
    return this.stateOf([this.#stepper.closed(stack)]);
  }

  /**
   * A state that behaves like the given one for tokens of at most `longest` bytes. In a text of a
   * grammar in which all characters lead back, only the nearest limit of their number matters.
   */
  rounded(state: State, longest: number): State {
    if (!this.rules.program) return state;
    const [stack, another] = this.stacksOf(state);
    const isText = stack !== undefined && this.stacks.kind(stack) === TEXT.kind;
    if (!isText || another !== undefined) return state;
    const { text, state: at, characters } = this.textOf(stack);
    const isUniform = text.isBounded && text.automaton.accepts(at) &&
      text.nextOf(at).every((next) => next === at);
    if (!isUniform) return state;
    const limit = characters < text.min ? text.min : text.max;
    const nearest = limit === Infinity ? characters : limit - longest - 1;
    const least = characters < text.min ? 0 : text.min;
    const rounded = Math.max(characters, least, nearest);
    return rounded === characters
      ? state
      : this.stateOf([this.stacks.withField(stack, TEXT.characters, rounded)]);
  }

  /**
   * The state that corresponds to a state of another machine for the same rules, or for those that
   * these rules renew.
   */
  adopt(other: Machine, state: State): State {
    const change = (frame: number[]) => {
      if (other.rules !== this.rules) this.#translate(frame, other.rules);
    };
    return this.stateOf(
      other.stacksOf(state).map((stack) => this.stacks.adopt(other.stacks, stack, change)),
    );
  }

  /** Replaces the state of an automaton of other rules in a frame by that of these rules. */
  #translate(frame: number[], others: Rules): void {
    const kind = frame[0]!;
    if (kind === NUMBER.kind) {
      const own = this.rules.numbers[frame[NUMBER.rules]!]!;
      const other = others.numbers[frame[NUMBER.rules]!]!;
      if (own !== other) frame[NUMBER.state] = own.adopt!(other, frame[NUMBER.state]!);
      return;
    }
    const fields = TEXT_LAYOUTS.find((layout) => layout.kind === kind);
    if (!fields) return;
    const own = this.rules.texts[frame[fields.text]!]!.automaton;
    const other = others.texts[frame[fields.text]!]!.automaton;
    if (own !== other) frame[fields.state] = own.adopt!(other, frame[fields.state]!);
  }

  /** The bytes that lead from a state back to it, except for the number of characters. */
  loopOf(state: State): Loop {
    return this.#loops[state] ??= this.#findLoop(state);
  }

  /**
   * The state after settling: the last key of each open object, and the item that has just ended,
   * are added to those that must not come again.
   *
   * @param document the document so far
   * @param isEnded whether a number on top is known to have ended
   */
  settle(state: State, document: Uint8Array, isEnded: boolean): State {
    const stacks = this.stacksOf(state);
    if (!stacks.some((stack) => this.stacks.isPending(stack))) return state;
    const settled = settle(stacks, {
      stacks: this.stacks,
      unions: this.#unions,
      document,
      isEnded,
    });
    return this.stateOf(settled);
  }

  #compute(state: State, byte: number): State {
    const out = this.#out;
    out.length = 0;
    const list = state - FIRST;
    const count = state < FIRST ? 0 : this.#states.lengthOf(list);
    this.rules.work.charge(STATE_STEPS + STACK_STEPS * count);
    for (let index = 0; index < count; index++) {
      this.#stepper.step(this.#states.at(list, index), byte, out);
    }
    const isUnresolved = out.length > 0 && out.includes(UNRESOLVED_STACK);
    const next = isUnresolved ? UNRESOLVED : this.stateOf(out);
    const piece = this.#pieces[state >>> PIECE] ??= new Int32Array(256 << PIECE);
    const row = (state & ROWS_MASK) << 8;
    if (piece[row | NO_BYTE] === UNKNOWN) this.#beginRow(state, piece.subarray(row, row + 256));
    piece[row | byte] = next;
    return next;
  }

  /** Marks certain dead ends at once, so that they are not computed byte by byte. */
  #beginRow(state: State, row: Int32Array): void {
    const all = this.stacksOf(state).map((stack) => this.#stepper.candidates(stack));
    if (all.every((bytes) => bytes !== undefined)) {
      row.fill(DEAD);
      for (const bytes of all) for (const byte of bytes) row[byte] = UNKNOWN;
    }
    row[NO_BYTE] = DEAD;
  }

  #findLoop(state: State): Loop {
    let best = NO_LOOP;
    for (const stack of this.stacksOf(state)) {
      if (!this.isText(stack) && this.stacks.kind(stack) !== TEXT.kind) continue;
      const { text, state: at, characters, avoided } = this.textOf(stack);
      if (avoided !== NO_WORDS) continue;
      const classes = text.loops(at);
      const most = text.charactersLeft(at, characters);
      if (best.classes === 0) best = { classes, most, alone: this.stateOf([stack]) };
    }
    return best;
  }
}
