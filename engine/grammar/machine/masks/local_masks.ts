// What the frame on top of a stack allows by itself, wherever it occurs. Texts, numbers and
// declared keys have walks of their own, which need no states of the machine. What follows the
// frame is left to the context.

import { DECLARED_KEY, NUMBER, OBJECT } from "../frames/layouts.ts";
import type { Stack } from "../frames/stacks.ts";
import type { Machine, State } from "../machine.ts";
import type { NumberAutomaton } from "../rules/rules.ts";
import { NO_WORDS } from "../collections.ts";
import type { TextPosition } from "../texts/text_rules.ts";
import type { TokenTable } from "../token_table.ts";
import { type TextMask, TextWalk } from "./text_walk.ts";
import type { TrieWalk } from "./trie_walk.ts";

/** The nodes behind which tokens go on outside of a frame, and the state after it. */
export interface Exits {
  readonly nodes: readonly number[];
  readonly after: () => State;
}

/** A mask that applies in many states. */
export interface LocalMask {
  /** The tokens that stay within the frame, or end with it. */
  readonly bits: Uint32Array<ArrayBuffer>;
  readonly exits: readonly number[];
  /** Whether some tokens are missing because the budget was spent. */
  readonly isPartial: boolean;
}

const QUOTE = 0x22;

/** Masks of the frames of one machine. */
export class LocalMasks {
  readonly #machine: Machine;
  readonly #table: TokenTable;
  readonly #walk: TrieWalk;
  readonly #texts: TextWalk;
  readonly #ofTexts = new Map<string, TextMask[]>();
  readonly #ofNumbers = new Map<string, LocalMask>();
  /** Called before a mask is made that will be kept. */
  readonly #reserve: () => void;

  constructor(machine: Machine, walk: TrieWalk, reserve: () => void) {
    this.#machine = machine;
    this.#walk = walk;
    this.#table = walk.table;
    this.#texts = new TextWalk(walk, machine);
    this.#reserve = reserve;
  }

  /**
   * The mask of the text or number on top of a stack; undefined for keys, whose masks are seldom
   * the same.
   */
  whole(stack: Stack): LocalMask | undefined {
    switch (this.#machine.stacks.kind(stack)) {
      case DECLARED_KEY.kind:
        return undefined;
      case NUMBER.kind:
        return this.#ofNumber(stack);
      default:
        return this.#ofText(this.#machine.textOf(stack));
    }
  }

  /** As {@linkcode add} from the root, if a text is on top in which only few bytes may come. */
  addNarrow(bits: Uint32Array<ArrayBuffer>, stack: Stack): Exits | undefined {
    if (!this.#machine.isText(stack)) return undefined;
    const nodes = this.#texts.addNarrow(bits, this.#machine.textOf(stack));
    return nodes && { nodes, after: () => this.after(stack) };
  }

  /** The state after the text or number on top of a stack. */
  after(stack: Stack): State {
    const { stacks } = this.#machine;
    return stacks.kind(stack) === NUMBER.kind
      ? this.#machine.stateOf([stacks.parent(stack)])
      : this.#machine.afterText(stack);
  }

  /**
   * Sets the bits of the tokens below a node that stay within the frame, or end with it. Returns where
   * others leave it.
   */
  add(bits: Uint32Array<ArrayBuffer>, node: number, stack: Stack): readonly Exits[] {
    const { stacks, rules } = this.#machine;
    const kind = stacks.kind(stack);
    if (kind === DECLARED_KEY.kind) return this.#addKeys(bits, node, stack);
    const nodes = kind === NUMBER.kind
      ? addNumbers(
        this.#walk,
        bits,
        node,
        rules.numbers[stacks.field(stack, NUMBER.rules)]!,
        stacks.field(stack, NUMBER.state),
      )
      : this.#texts.add(bits, node, this.#machine.textOf(stack));
    return nodes.length === 0 ? [] : [{ nodes, after: () => this.after(stack) }];
  }

  /** Drops all masks. */
  clear(): void {
    this.#ofTexts.clear();
    this.#ofNumbers.clear();
  }

  #ofText(position: TextPosition): TextMask {
    const { text, state, characters, avoided } = position;
    const key = `${this.#machine.rules.texts.indexOf(text)},${state},${avoided}`;
    let masks = this.#ofTexts.get(key);
    let mask = masks?.find(({ fewest, most }) => fewest <= characters && characters <= most);
    if (!mask) {
      this.#reserve();
      mask = avoided === NO_WORDS
        ? this.#texts.whole(position)
        : this.#texts.avoiding(this.#ofText({ ...position, avoided: NO_WORDS }), position);
      if (mask.isPartial) return mask;
      masks = this.#ofTexts.get(key);
      if (!masks) this.#ofTexts.set(key, masks = []);
      masks.push(mask);
    }
    return mask;
  }

  #ofNumber(stack: Stack): LocalMask {
    const { stacks, rules } = this.#machine;
    const index = stacks.field(stack, NUMBER.rules);
    const state = stacks.field(stack, NUMBER.state);
    const key = `${index},${state}`;
    let mask = this.#ofNumbers.get(key);
    if (!mask) {
      this.#reserve();
      const bits = new Uint32Array(Math.ceil(this.#table.size / 32));
      let exits: readonly number[] = [];
      const isPartial = this.#walk.leavesOut(() => {
        exits = addNumbers(this.#walk, bits, 0, rules.numbers[index]!, state);
      });
      mask = { bits, exits, isPartial };
      if (!isPartial) this.#ofNumbers.set(key, mask);
    }
    return mask;
  }

  #addKeys(bits: Uint32Array<ArrayBuffer>, node: number, stack: Stack): Exits[] {
    const machine = this.#machine;
    const { stacks } = machine;
    const first = stacks.field(stack, DECLARED_KEY.first);
    const end = stacks.field(stack, DECLARED_KEY.end);
    const depth = stacks.field(stack, DECLARED_KEY.depth);
    const object = stacks.parent(stack);
    const rules = machine.rules.objects[stacks.field(object, OBJECT.rules)]!;
    const { keys } = rules;
    const choices = rules.choices(stacks.field(object, OBJECT.progress));
    const exits = addKeys(this.#table, bits, node, { keys, choices, first, end, depth });
    return exits.map(({ node, key }) => ({
      nodes: [node],
      after: () => {
        const whole = DECLARED_KEY.frame(key, key + 1, keys[key]!.length);
        return machine.step(machine.stateOf([stacks.withFrame(stack, whole)]), QUOTE);
      },
    }));
  }
}

/**
 * Sets the bits of the tokens below a node that stay within the number, whose state there is
 * `state`. Returns the nodes at which it may end and other bytes follow.
 */
function addNumbers(
  walk: TrieWalk,
  bits: Uint32Array<ArrayBuffer>,
  node: number,
  automaton: NumberAutomaton,
  state: number,
): number[] {
  const { table } = walk;
  const { depths } = table;
  const exits: number[] = [];
  // By depth: the state, and the node as long as it is not among the exits.
  const states: number[] = [];
  const path: (number | undefined)[] = [];
  states[depths[node]!] = state;
  path[depths[node]!] = node;
  walk.below(node, (child, depth, byte) => {
    const before = states[depth - 1]!;
    const next = automaton.step(before, byte);
    if (next === 0) {
      const last = path[depth - 1];
      if (last !== undefined && automaton.accepts(before)) {
        path[depth - 1] = undefined;
        exits.push(last);
      }
      return false;
    }
    table.addTokensAt(bits, child);
    states[depth] = next;
    path[depth] = child;
    return true;
  });
  return exits;
}

/**
 * A range of sorted keys. A key may come if the count in `choices` is greater after it than before.
 */
interface KeyRange {
  readonly keys: readonly Uint8Array[];
  readonly choices: Int32Array;
  readonly first: number;
  readonly end: number;
  /** Bytes that all keys of the range share and that have come. */
  readonly depth: number;
}

/** A quote that ends a key, and behind which tokens go on. */
interface KeyExit {
  readonly node: number;
  /** The index of the key among the sorted ones. */
  readonly key: number;
}

/** Sets the bits of the tokens below a node that stay within the keys, or end one. Returns the exits. */
function addKeys(
  table: TokenTable,
  bits: Uint32Array<ArrayBuffer>,
  node: number,
  { keys, choices, first, end, depth }: KeyRange,
): KeyExit[] {
  const { bytes, ends, firsts } = table;
  const exits: KeyExit[] = [];
  const walk = (from: number, low: number, high: number, at: number): void => {
    const ended = keys[low]!.length === at ? low++ : -1;
    const mayEnd = ended >= 0 && choices[ended + 1]! > choices[ended]!;
    for (let child = from + 1; child < ends[from]!; child = ends[child]!) {
      const byte = bytes[child]!;
      if (byte === QUOTE && mayEnd) {
        table.addTokensAt(bits, child);
        if (!table.isLeaf(child)) exits.push({ node: child, key: ended });
      }
      while (low < high && keys[low]![at]! < byte) low++;
      const begin = low;
      while (low < high && keys[low]![at] === byte) low++;
      if (choices[low] === choices[begin]) continue;
      table.addTokens(bits, firsts[child]!, firsts[child + 1]!);
      if (ends[child]! > child + 1) walk(child, begin, low, at + 1);
    }
  };
  if (first < end) walk(node, first, end, depth);
  return exits;
}
