// What the frame on top of a stack allows by itself, wherever it occurs. Texts, numbers and
// declared keys have walks of their own, which need no states of the machine. What follows the
// frame is left to the context.

import { DECLARED_KEY, NUMBER, OBJECT } from "../frames/layouts.ts";
import type { Stack } from "../frames/stacks.ts";
import type { Machine, State } from "../machine.ts";
import type { TextPlace } from "../texts/text_rules.ts";
import type { TokenTable } from "../tokens/token_table.ts";
import { addKeys } from "./key_walk.ts";
import { NumberWalk } from "./number_walk.ts";
import { type TextMask, TextWalk } from "./text_walk.ts";

/** The nodes where tokens leave a frame, and the state after it. */
export interface Exits {
  readonly nodes: readonly number[];
  readonly after: () => State;
}

/** A mask that applies in many states. */
export interface LocalMask {
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
  readonly #texts: TextWalk;
  readonly #numbers: NumberWalk;
  readonly #ofTexts = new Map<string, TextMask[]>();
  readonly #ofNumbers = new Map<string, LocalMask>();
  /** Called before a mask is made that will be kept. */
  readonly #reserve: () => void;

  /** Whether {@linkcode add} has left out tokens because the budget was spent. Callers reset it. */
  get isPartial(): boolean {
    return this.#texts.isPartial || this.#numbers.isPartial;
  }

  set isPartial(isPartial: boolean) {
    this.#texts.isPartial = this.#numbers.isPartial = isPartial;
  }

  constructor(machine: Machine, table: TokenTable, reserve: () => void) {
    this.#machine = machine;
    this.#table = table;
    this.#texts = new TextWalk(table, machine);
    this.#numbers = new NumberWalk(table, machine.rules.work);
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
  addNarrow(bits: Uint32Array, stack: Stack): Exits | undefined {
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
   * Sets the bits of the tokens below a node that stay within the frame. Returns where others leave
   * it.
   */
  add(bits: Uint32Array, node: number, stack: Stack): readonly Exits[] {
    const { stacks, rules } = this.#machine;
    const kind = stacks.kind(stack);
    if (kind === DECLARED_KEY.kind) return this.#addKeys(bits, node, stack);
    const nodes = kind === NUMBER.kind
      ? this.#numbers.add(
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

  #ofText(place: TextPlace): TextMask {
    const { text, state, characters, avoided } = place;
    const key = `${this.#machine.rules.texts.indexOf(text)},${state},${avoided}`;
    let masks = this.#ofTexts.get(key);
    let mask = masks?.find(({ fewest, most }) => fewest <= characters && characters <= most);
    if (!mask) {
      this.#reserve();
      mask = this.#texts.whole(place);
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
      const wasPartial = this.#numbers.isPartial;
      this.#numbers.isPartial = false;
      const exits = this.#numbers.add(bits, 0, rules.numbers[index]!, state);
      const { isPartial } = this.#numbers;
      this.#numbers.isPartial ||= wasPartial;
      mask = { bits, exits, isPartial };
      if (!isPartial) this.#ofNumbers.set(key, mask);
    }
    return mask;
  }

  #addKeys(bits: Uint32Array, node: number, stack: Stack): Exits[] {
    const machine = this.#machine;
    const { stacks } = machine;
    const first = stacks.field(stack, DECLARED_KEY.first);
    const end = stacks.field(stack, DECLARED_KEY.end);
    const depth = stacks.field(stack, DECLARED_KEY.depth);
    const object = stacks.parent(stack);
    const rules = machine.rules.objects[stacks.field(object, OBJECT.rules)]!;
    const { keys } = rules;
    const choices = rules.choices(stacks.field(object, OBJECT.ledger));
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
