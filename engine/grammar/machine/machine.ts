// The states of a document as it is written: a state is a set of stacks, more than one only while
// a union is undecided. Steps are remembered in a flat table, a row of 256 for each state.

import { MachineError } from "./errors.ts";
import { IntegerLists } from "./collections/integer_lists.ts";
import type { Rules } from "./rules/rules.ts";
import { lastText } from "./frames/last_text.ts";
import { spellingsOf } from "./frames/spellings.ts";
import { Field, Kind, type Stack, Stacks, UNRESOLVED_STACK } from "./frames/stacks.ts";
import { StackUnions } from "./frames/stack_unions.ts";
import { Stepper } from "./frames/stepper.ts";
import type { TextPlace } from "./texts/text_rules.ts";
import { WordAvoidance } from "./texts/word_avoidance.ts";
import { NO_WORDS } from "./collections/word_sets.ts";

/** A state of a {@linkcode Machine}, by number. */
export type State = number;

/** What no continuation leads from. */
export const DEAD: State = 1;

/** What depends on the text of a key or item; {@linkcode Machine.settle} makes it depend on none. */
export const UNRESOLVED: State = 2;

/** Not stepped to yet; real states come after the special ones. */
const UNKNOWN = 0;
const FIRST = 3;

/** Rows of a piece of the table, as a power of two. */
const PIECE = 6;
const ROWS_MASK = (1 << PIECE) - 1;

/** Steps of work that a step of a state takes, and of each of its stacks. */
const STATE_STEPS = 6;
const STACK_STEPS = 4;

/** A byte that comes nowhere: it tells a row that is new. */
const NO_BYTE = 0xfe;

/**
 * Stacks that a state has after a token, which are the undecided alternatives of unions. The last ones of
 * more are given up: each of the others leads to an end, so that answers stay whole and valid, and none is
 * refused. Within a token none is given up, as a mask looks at some stacks apart from others, and would
 * not give up the same ones as a token that is taken.
 */
const MAX_STACKS = 2048;

/** Stacks within a token beyond which a mask leaves out what goes on so. */
const MAX_STACKS_OF_MASK = 2 * MAX_STACKS;

/** The same for tokens that are taken: more than a mask can allow in all its parts. */
const MAX_STACKS_OF_TOKEN = 256 * MAX_STACKS_OF_MASK;

/** What leads from a state back to it: characters of classes, and how many of them there may be. */
export interface Loop {
  readonly classes: number;
  readonly room: number;
  /** The state of the stack that loops, apart from the others. */
  readonly alone: State;
}

/** A state in two parts. */
export interface Split {
  readonly locals: readonly Stack[];
  readonly others: State;
}

/** Nothing leads back. */
export const NO_LOOP: Loop = { classes: 0, room: 0, alone: DEAD };

/** What settling one state goes by. */
interface Settling {
  readonly document: Uint8Array;
  readonly isEnded: boolean;
  readonly isInText: boolean;
  readonly known: Map<number, Stack>;
  /** The words of each level. */
  readonly words: Map<number, readonly Uint8Array[]>;
}

/** The last key of an open object, or the spellings of the last item of an array. */
function wordsAt(level: number, isObject: boolean, settling: Settling): readonly Uint8Array[] {
  let words = settling.words.get(level);
  if (!words) {
    const text = lastText(settling.document, { level, isObject, isInText: settling.isInText });
    words = isObject ? [text] : spellingsOf(text);
    settling.words.set(level, words);
  }
  return words;
}

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
  /** Rows in pieces, because to copy a table as it grows takes longer than a mask may. */
  readonly #pieces: Int32Array[] = [];
  /** Where a step's stacks are gathered. */
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

  /** The state of some stacks; DEAD of none. */
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

  /** The state after a token: the same, or fewer stacks where they are very many. */
  thinned(state: State): State {
    if (state < FIRST || this.#states.lengthOf(state - FIRST) <= MAX_STACKS) return state;
    return this.stateOf(this.stacksOf(state).slice(0, MAX_STACKS));
  }

  /** The state in which a document may be in any of some states. */
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

  /** The stacks of a state. */
  stacksOf(state: State): readonly Stack[] {
    return state < FIRST ? [] : this.#states.get(state - FIRST);
  }

  /** The state after a byte: DEAD where it may not come. */
  step(state: State, byte: number): State {
    const next = this.#pieces[state >>> PIECE]?.[((state & ROWS_MASK) << 8) | byte];
    return next === undefined || next === UNKNOWN ? this.#compute(state, byte) : next;
  }

  /** Whether the document is complete. */
  isComplete(state: State): boolean {
    return this.stacksOf(state).some((stack) => this.#stepper.isComplete(stack));
  }

  /** The stacks of a state whose top frames can be walked by themselves, and the state of the others. */
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

  /** How much white space may come that changes nothing but how much more may come. */
  spacesAt(state: State): number {
    return this.#spaces[state] ??= this.#findSpaces(state);
  }

  #findSpaces(state: State): number {
    const rooms = new Set(this.stacksOf(state).map((stack) => this.#stepper.spacesAt(stack)));
    return rooms.size === 1 ? [...rooms][0]! : 0;
  }

  /** Whether a stack is within a text, number or declared key that nothing but itself restricts. */
  #isLocal(stack: Stack): boolean {
    const kind = this.stacks.kind(stack);
    const isLocal = kind === Kind.KEY ||
      (kind === Kind.NUMBER && !this.#stepper.endsDocument(stack));
    return (isLocal && !this.stacks.compares(stack)) || this.isText(stack);
  }

  /** Whether a stack is within a text that nothing but itself restricts. */
  isText(stack: Stack): boolean {
    const { stacks } = this;
    const kind = stacks.kind(stack);
    if (!stacks.compares(stack)) return kind === Kind.STRING || kind === Kind.OTHER_KEY;
    // An item of unique strings is a text that avoids the others; what lies below must not care.
    return kind === Kind.STRING && this.#isUniqueItem(stack) &&
      !stacks.compares(stacks.parent(stacks.parent(stack)));
  }

  /** Where in the text on top of a stack it is. */
  textOf(stack: Stack): TextPlace {
    const { stacks } = this;
    const [kind, index, state, third] = stacks.frame(stack) as [number, number, number, number];
    const text = this.rules.texts[index]!;
    if (kind === Kind.OTHER_KEY) return { text, state, characters: 0, avoided: third };
    const avoided = this.#isUniqueItem(stack)
      ? stacks.words.withoutQuote(stacks.field(stacks.parent(stack), Field.LAST))
      : NO_WORDS;
    return { text, state, characters: third, avoided };
  }

  /** Whether the text on top is compared with other items of its array. */
  #isUniqueItem(stack: Stack): boolean {
    const { stacks } = this;
    const parent = stacks.parent(stack);
    return stacks.kind(parent) === Kind.ARRAY && stacks.field(parent, Field.LAST) !== NO_WORDS;
  }

  /** The state after the text on top of a stack. */
  afterText(stack: Stack): State {
    return this.stateOf([this.#stepper.closed(stack)]);
  }

  /**
   * A state that no token of `longest` bytes tells from the given one: in a text of a grammar whose
   * characters all lead back, only the way to the nearest limit of their number matters.
   */
  rounded(state: State, longest: number): State {
    if (!this.rules.program) return state;
    const [stack, another] = this.stacksOf(state);
    const isText = stack !== undefined && this.stacks.kind(stack) === Kind.TEXT;
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
      : this.stateOf([this.stacks.withField(stack, 3, rounded)]);
  }

  /** The state of another machine for the same rules, or for those that these rules renew. */
  adopt(other: Machine, state: State): State {
    const change = (frame: number[]) => {
      if (other.rules !== this.rules) this.#translate(frame, other.rules);
    };
    return this.stateOf(
      other.stacksOf(state).map((stack) => this.stacks.adopt(other.stacks, stack, change)),
    );
  }

  /** Puts the state of an automaton of these rules where a frame has one of others. */
  #translate(frame: number[], others: Rules): void {
    const [kind, index, state] = frame as [number, number, number];
    if (kind === Kind.STRING || kind === Kind.OTHER_KEY || kind === Kind.TEXT) {
      const other = others.texts[index]!.automaton;
      const own = this.rules.texts[index]!.automaton;
      if (own !== other) frame[2] = own.adopt!(other, state);
    } else if (kind === Kind.NUMBER) {
      const own = this.rules.numbers[index]!;
      const other = others.numbers[index]!;
      if (own !== other) frame[2] = own.adopt!(other, state);
    }
  }

  /** Bytes that lead from a state back to it, but for the number of characters. */
  loopOf(state: State): Loop {
    return this.#loops[state] ??= this.#findLoop(state);
  }

  /**
   * The state with the last key of each open object and the item that has just ended among those
   * that may not come again, after a document so far; `isEnded`: whether a number on top is known to
   * have ended.
   */
  settle(state: State, document: Uint8Array, isEnded: boolean): State {
    const stacks = this.stacksOf(state);
    if (!stacks.some((stack) => this.stacks.isPending(stack))) return state;
    const settlings = [false, true].map((isInText): Settling => {
      return { document, isEnded, isInText, known: new Map(), words: new Map() };
    });
    return this.stateOf(stacks.map((stack) => {
      const isInText = this.stacks.kind(stack) === Kind.STRING || this.stacks.isKey(stack);
      return this.#settle(stack, 0, true, settlings[Number(isInText)]!);
    }));
  }

  /** `level` containers are above the stack; `canEnd`: nothing but a number that may have ended is. */
  #settle(stack: Stack, level: number, canEnd: boolean, settling: Settling): Stack {
    const { stacks } = this;
    // Stacks that several others stand on are settled once.
    const key = 2 * stack + Number(canEnd);
    const known = settling.known.get(key);
    if (known !== undefined) return known;
    const frames: number[][] = [];
    let below = stack;
    for (
      ;
      stacks.isPending(below) && stacks.kind(below) !== Kind.EITHER;
      below = stacks.parent(below)
    ) {
      const frame = stacks.frame(below);
      const kind = stacks.kind(below);
      const isItemOver = canEnd;
      canEnd &&= settling.isEnded && kind === Kind.NUMBER;
      frames.push(frame);
      if (kind !== Kind.OBJECT && kind !== Kind.ARRAY) continue;
      const isDue = frame[Field.PENDING] === 1 && (kind === Kind.OBJECT || isItemOver);
      if (isDue) {
        for (const word of wordsAt(level, kind === Kind.OBJECT, settling)) {
          frame[Field.USED] = stacks.words.add(frame[Field.USED]!, word);
        }
        frame[Field.PENDING] = 0;
      }
      level++;
    }
    let settled = below;
    if (stacks.isPending(below)) {
      const members = stacks.members(below);
      settled = this.#unions.either(
        members.map((one) => this.#settle(one, level, canEnd, settling)),
      );
    }
    for (const frame of frames.reverse()) settled = stacks.push(frame, settled);
    settling.known.set(key, settled);
    return settled;
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

  /** Marks what is dead for certain, so that it is not computed byte by byte. */
  #beginRow(state: State, row: Int32Array): void {
    row[NO_BYTE] = DEAD;
    const candidates = new Set<number>();
    for (const stack of this.stacksOf(state)) {
      const bytes = this.#stepper.candidates(stack);
      if (!bytes) return;
      for (const byte of bytes) candidates.add(byte);
    }
    for (let byte = 0; byte < 256; byte++) if (!candidates.has(byte)) row[byte] = DEAD;
  }

  #findLoop(state: State): Loop {
    let best = NO_LOOP;
    for (const stack of this.stacksOf(state)) {
      if (!this.isText(stack) && this.stacks.kind(stack) !== Kind.TEXT) continue;
      const { text, state: at, characters, avoided } = this.textOf(stack);
      if (avoided !== NO_WORDS) continue;
      const classes = text.loopsAt(at);
      const room = text.roomAt(at, characters);
      if (best.classes === 0) best = { classes, room, alone: this.stateOf([stack]) };
    }
    return best;
  }
}
