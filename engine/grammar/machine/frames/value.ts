// Stacks before a value: its first byte tells which JSON type it has.

import { LITERALS } from "../rules/rules.ts";
import { type Ends, JsonFrames } from "./frame_kind.ts";
import { ARRAY, LITERAL, NUMBER, OBJECT, STRING, VALUE } from "./layouts.ts";
import type { Stack } from "./stacks.ts";

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/** The kind of frames before values. */
export class ValueFrames extends JsonFrames {
  step(stack: Stack, byte: number, out: Stack[]): void {
    const { stacks } = this;
    if (this.rules.isSpace(byte)) {
      const left = stacks.field(stack, VALUE.spaces);
      if (left > 0) out.push(stacks.withField(stack, VALUE.spaces, left - 1));
      return;
    }
    this.begin(stacks.field(stack, VALUE.type), stacks.parent(stack), byte, out);
  }

  override spaces(stack: Stack): number {
    return this.stacks.field(stack, VALUE.spaces);
  }

  completion(stack: Stack, { values }: Ends): number {
    return values.weight(this.stacks.field(stack, VALUE.type));
  }

  /** Adds the stacks of a value of a type that begins with a byte. */
  begin(type: number, parent: Stack, byte: number, out: Stack[]): void {
    const { rules, stacks } = this;
    const value = rules.value(type);
    const { elsewhere } = rules.spaces;
    if (byte === QUOTE) {
      if (value.text < 0) return;
      const text = rules.texts[value.text]!;
      if (text.isPossible) {
        out.push(stacks.push(STRING.frame(value.text, text.automaton.start, 0), parent));
      }
    } else if (byte === OPEN_BRACE) {
      for (const index of value.objects) {
        const { start } = rules.objects[index]!;
        if (!rules.objects[index]!.isFeasible(start)) continue;
        out.push(stacks.push(OBJECT.frame(index, elsewhere, start), parent));
      }
    } else if (byte === OPEN_BRACKET) {
      for (const index of value.arrays) {
        const { start } = rules.arrays[index]!;
        if (!rules.arrays[index]!.isFeasible(start)) continue;
        out.push(stacks.push(ARRAY.frame(index, elsewhere, start), parent));
      }
    } else {
      for (const word of value.literals) {
        if (LITERALS[word]![0] === byte) out.push(stacks.push(LITERAL.frame(word, 1), parent));
      }
      if (value.number < 0) return;
      const automaton = rules.numbers[value.number]!;
      const next = automaton.step(automaton.start, byte);
      if (next !== 0) out.push(stacks.push(NUMBER.frame(value.number, next), parent));
    }
  }
}
