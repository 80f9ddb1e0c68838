// Stacks within an object, between its keys and values. The ledger of the keys so far determines
// whether a key, a comma or the end may come.

import { type Ends, type FrameContext, JsonFrames } from "./frame_kind.ts";
import { beginKey, type OtherKeyFrames, othersOf } from "./keys.ts";
import { OBJECT, Phase, VALUE } from "./layouts.ts";
import type { Stack } from "./stacks.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_BRACE = 0x7d;

/** The kind of frames of objects. */
export class ObjectFrames extends JsonFrames {
  readonly #otherKeys: OtherKeyFrames;

  constructor(context: FrameContext, otherKeys: OtherKeyFrames) {
    super(context);
    this.#otherKeys = otherKeys;
  }

  step(stack: Stack, byte: number, out: Stack[]): void {
    const { stacks } = this;
    if (this.rules.isSpace(byte)) {
      const left = stacks.field(stack, OBJECT.spaces);
      if (left > 0) out.push(stacks.withField(stack, OBJECT.spaces, left - 1));
      return;
    }
    const rules = this.rules.objects[stacks.field(stack, OBJECT.rules)]!;
    const phase = stacks.field(stack, OBJECT.phase);
    const ledger = stacks.field(stack, OBJECT.ledger);
    if (byte === QUOTE) {
      const mayBegin = phase === Phase.OPEN || phase === Phase.COMMA;
      if (mayBegin) beginKey(stack, this, this.#otherKeys, out);
    } else if (byte === COLON) {
      if (phase === Phase.COLON) out.push(this.#afterColon(stack));
    } else if (byte === COMMA) {
      if (phase === Phase.NEXT && rules.mayGoOn(ledger)) out.push(this.#afterComma(stack));
    } else if (byte === CLOSE_BRACE) {
      const mayClose = phase === Phase.OPEN || phase === Phase.NEXT;
      if (mayClose && rules.isComplete(ledger)) out.push(stacks.parent(stack));
    }
  }

  override spaces(stack: Stack): number {
    return this.stacks.field(stack, OBJECT.spaces);
  }

  completion(stack: Stack, { values }: Ends): number {
    const { stacks } = this;
    const index = stacks.field(stack, OBJECT.rules);
    const phase = stacks.field(stack, OBJECT.phase);
    const ledger = stacks.field(stack, OBJECT.ledger);
    const ends = values.object(index);
    const others = othersOf(stacks, stack);
    if (phase === Phase.COLON) {
      return 1 + values.weight(stacks.field(stack, OBJECT.valueType)) + ends.rest(ledger, others);
    }
    if (phase !== Phase.COMMA) {
      const rest = ends.rest(ledger, others);
      // No comma comes before the first key.
      return phase === Phase.NEXT || rest === 1 ? rest : rest - 1;
    }
    const rules = this.rules.objects[index]!;
    const declared = 1 + ends.keys(ledger, others).reduce((a, b) => Math.min(a, b), Infinity);
    if (!rules.mayHaveOther(ledger)) return declared;
    const other = ends.other(others) - 1 + ends.rest(rules.afterOther(ledger), others + 1);
    return Math.min(declared, other);
  }

  #afterColon(stack: Stack): Stack {
    const { stacks } = this;
    const { after, elsewhere } = this.rules.spaces;
    const frame = stacks.frame(stack);
    const type = frame[OBJECT.valueType]!;
    frame[OBJECT.phase] = Phase.NEXT;
    frame[OBJECT.spaces] = elsewhere;
    frame[OBJECT.valueType] = -1;
    return stacks.push(VALUE.frame(type, after), stacks.withFrame(stack, frame));
  }

  #afterComma(stack: Stack): Stack {
    const frame = this.stacks.frame(stack);
    frame[OBJECT.phase] = Phase.COMMA;
    frame[OBJECT.spaces] = this.rules.spaces.after;
    return this.stacks.withFrame(stack, frame);
  }
}
