// Stacks within an array, between its items. The progress of the items so far determines which types
// the next item may have. If items are unique, the next one must differ from all before.

import { EMPTY_TEXT, NO_WORDS, UNKNOWN_TEXT } from "../collections.ts";
import { type ArrayRules, IMPOSSIBLE } from "../rules/array_rules.ts";
import { type Ends, type FrameContext, JsonFrames } from "./frame_kind.ts";
import { ARRAY, Phase, VALUE } from "./layouts.ts";
import type { ScarceItems, UniqueItems } from "./scarce_items.ts";
import { settledTop } from "./settling.ts";
import { type Stack, UNRESOLVED_STACK } from "./stacks.ts";
import type { ValueFrames } from "./value.ts";

const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;

/** The kind of frames of arrays. */
export class ArrayFrames extends JsonFrames {
  readonly #values: ValueFrames;
  readonly #unique: UniqueItems;
  readonly #scarce: ScarceItems;

  constructor(
    context: FrameContext,
    { values, unique, scarce }: {
      readonly values: ValueFrames;
      readonly unique: UniqueItems;
      readonly scarce: ScarceItems;
    },
  ) {
    super(context);
    this.#values = values;
    this.#unique = unique;
    this.#scarce = scarce;
  }

  step(ended: Stack, byte: number, out: Stack[]): void {
    const { stacks } = this;
    const stack = this.#unique.finished(ended);
    if (stack === undefined) return;
    if (this.rules.isSpace(byte)) {
      const left = stacks.field(stack, ARRAY.spaces);
      if (left > 0) out.push(stacks.withField(stack, ARRAY.spaces, left - 1));
      return;
    }
    const rules = this.rules.arrays[stacks.field(stack, ARRAY.rules)]!;
    const phase = stacks.field(stack, ARRAY.phase);
    const progress = stacks.field(stack, ARRAY.progress);
    if (byte === CLOSE_BRACKET) {
      if (phase !== Phase.COMMA && rules.isComplete(progress)) out.push(stacks.parent(stack));
    } else if (phase !== Phase.NEXT) {
      this.#items(stack, rules, (type, item) => this.#values.begin(type, item, byte, out));
    } else if (byte === COMMA) {
      const settled = settledTop(stack, stacks);
      if (settled === undefined) return void out.push(UNRESOLVED_STACK);
      const next = this.#afterComma(settled);
      const along = this.#unique.follow(ended, byte, next);
      let mayGoOn = false;
      if (along !== undefined) {
        this.#items(along, rules, (type, item) => {
          mayGoOn ||= this.#unique.isPossible(stacks.push(VALUE.frame(type, 0), item));
        });
      }
      if (mayGoOn) out.push(next);
    }
  }

  override spaces(stack: Stack): number {
    // White space ends the item that is being compared.
    const isCompared = this.stacks.field(stack, ARRAY.avoided) !== NO_WORDS;
    return isCompared ? 0 : this.stacks.field(stack, ARRAY.spaces);
  }

  completion(stack: Stack, { values }: Ends): number {
    const { stacks } = this;
    const rules = this.rules.arrays[stacks.field(stack, ARRAY.rules)]!;
    const phase = stacks.field(stack, ARRAY.phase);
    const progress = stacks.field(stack, ARRAY.progress);
    const ends = values.array(stacks.field(stack, ARRAY.rules));
    if (phase !== Phase.COMMA) {
      const items = ends.missing(progress);
      // No comma comes before the first item.
      return 1 + (phase === Phase.NEXT ? items : Math.max(items - 1, 0));
    }
    let least = Infinity;
    for (const part of rules.partsAt(progress)) {
      const after = rules.after(progress, part);
      if (after === IMPOSSIBLE) continue;
      least = Math.min(least, values.weight(part.type) + ends.missing(after) + 1);
    }
    return least;
  }

  #afterComma(stack: Stack): Stack {
    const frame = this.stacks.frame(stack);
    frame[ARRAY.phase] = Phase.COMMA;
    frame[ARRAY.spaces] = this.rules.spaces.after;
    return this.stacks.withFrame(stack, frame);
  }

  /** Calls `begin` with each type that the next item may have, and the array's stack. */
  #items(stack: Stack, rules: ArrayRules, begin: (type: number, item: Stack) => void): void {
    const frame = this.stacks.frame(stack);
    const index = frame[ARRAY.rules]!;
    const before = frame[ARRAY.progress]!;
    const used = frame[ARRAY.used]!;
    const { unique } = rules.type;
    for (const part of rules.partsAt(before)) {
      const progress = rules.after(before, part);
      if (progress === IMPOSSIBLE) continue;
      const item = [...frame];
      item[ARRAY.phase] = Phase.NEXT;
      item[ARRAY.spaces] = this.rules.spaces.elsewhere;
      item[ARRAY.progress] = progress;
      item[ARRAY.pending] = Number(unique);
      item[ARRAY.text] = unique && this.stacks.compares(this.stacks.parent(stack))
        ? EMPTY_TEXT
        : UNKNOWN_TEXT;
      item[ARRAY.avoided] = unique ? this.#scarce.avoided(index, progress, used) : NO_WORDS;
      begin(part.type, this.stacks.withFrame(stack, item));
    }
  }
}
