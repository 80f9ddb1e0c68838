// Stacks within an object: between its keys and values, and within a key. What counts of the keys
// so far determines whether a key, a comma or the end may come.

import { EMPTY_TEXT } from "../collections.ts";
import type { WordAvoidance } from "../texts/word_avoidance.ts";
import { type Ends, type FrameContext, JsonFrames } from "./frame_kind.ts";
import { DECLARED_KEY, OBJECT, OTHER_KEY, Phase, VALUE } from "./layouts.ts";
import { settledTop } from "./settling.ts";
import { type Stack, type Stacks, UNRESOLVED_STACK } from "./stacks.ts";

// Stacks within a key of an object. A declared key is a range of the sorted keys, which every byte
// narrows. Any other key follows the automaton of its language, and must differ from the keys that
// the object has.

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
    const progress = stacks.field(stack, OBJECT.progress);
    if (byte === QUOTE) {
      const mayBegin = phase === Phase.OPEN || phase === Phase.COMMA;
      if (mayBegin) beginKey(stack, this, this.#otherKeys, out);
    } else if (byte === COLON) {
      if (phase === Phase.COLON) out.push(this.#afterColon(stack));
    } else if (byte === COMMA) {
      if (phase === Phase.NEXT && rules.mayGoOn(progress)) out.push(this.#afterComma(stack));
    } else if (byte === CLOSE_BRACE) {
      const mayClose = phase === Phase.OPEN || phase === Phase.NEXT;
      if (mayClose && rules.isComplete(progress)) out.push(stacks.parent(stack));
    }
  }

  override spaces(stack: Stack): number {
    return this.stacks.field(stack, OBJECT.spaces);
  }

  completion(stack: Stack, { values }: Ends): number {
    const { stacks } = this;
    const index = stacks.field(stack, OBJECT.rules);
    const phase = stacks.field(stack, OBJECT.phase);
    const progress = stacks.field(stack, OBJECT.progress);
    const ends = values.object(index);
    const others = othersOf(stacks, stack);
    if (phase === Phase.COLON) {
      return 1 + values.weight(stacks.field(stack, OBJECT.valueType)) + ends.rest(progress, others);
    }
    if (phase !== Phase.COMMA) {
      const rest = ends.rest(progress, others);
      // No comma comes before the first key.
      return phase === Phase.NEXT || rest === 1 ? rest : rest - 1;
    }
    const rules = this.rules.objects[index]!;
    const declared = 1 + ends.keys(progress, others).reduce((a, b) => Math.min(a, b), Infinity);
    if (!rules.mayHaveOther(progress)) return declared;
    const other = ends.other(others) - 1 + ends.rest(rules.afterOther(progress), others + 1);
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

/** Most keys of a range that are searched for the bytes that may come. */
const MAX_CANDIDATES = 64;

/** Bytes of the colon after a key. */
const COLON_BYTES = 1;

/** The kind of frames of declared keys. */
export class DeclaredKeyFrames extends JsonFrames {
  step(stack: Stack, byte: number, out: Stack[]): void {
    const { stacks } = this;
    const object = stacks.parent(stack);
    const rules = this.rules.objects[stacks.field(object, OBJECT.rules)]!;
    const progress = stacks.field(object, OBJECT.progress);
    const choices = rules.choices(progress);
    const depth = stacks.field(stack, DECLARED_KEY.depth);
    let first = stacks.field(stack, DECLARED_KEY.first);
    let end = stacks.field(stack, DECLARED_KEY.end);
    if (rules.keys[first]!.length === depth) {
      if (byte === QUOTE) {
        if (choices[first + 1] === choices[first]) return;
        const property = rules.properties[first]!;
        const { type } = rules.type.properties[property]!;
        const { elsewhere } = this.rules.spaces;
        out.push(afterKey(stacks, object, rules.after(progress, property), type, elsewhere));
        return;
      }
      first++;
    }
    first = lowerBound(rules.keys, first, end, depth, byte);
    end = lowerBound(rules.keys, first, end, depth, byte + 1);
    if (choices[end]! > choices[first]!) {
      out.push(stacks.withFrame(stack, DECLARED_KEY.frame(first, end, depth + 1)));
    }
  }

  override candidates(stack: Stack): number[] | undefined {
    const { stacks } = this;
    const first = stacks.field(stack, DECLARED_KEY.first);
    const end = stacks.field(stack, DECLARED_KEY.end);
    const depth = stacks.field(stack, DECLARED_KEY.depth);
    if (end - first > MAX_CANDIDATES) return undefined;
    const { keys } = this.rules.objects[stacks.field(stacks.parent(stack), OBJECT.rules)]!;
    return keys.slice(first, end).map((key) => key[depth] ?? QUOTE);
  }

  completion(stack: Stack, { values }: Ends): number {
    const { stacks } = this;
    const object = stacks.parent(stack);
    const ends = values.object(stacks.field(object, OBJECT.rules));
    const keys = ends.keys(stacks.field(object, OBJECT.progress), othersOf(stacks, object));
    const end = stacks.field(stack, DECLARED_KEY.end);
    let least = Infinity;
    for (let at = stacks.field(stack, DECLARED_KEY.first); at < end; at++) {
      if (keys[at]! < least) least = keys[at]!;
    }
    return least - stacks.field(stack, DECLARED_KEY.depth);
  }
}

/** The kind of frames of undeclared keys. */
export class OtherKeyFrames extends JsonFrames {
  readonly #avoidance: WordAvoidance;

  constructor(context: FrameContext, avoidance: WordAvoidance) {
    super(context);
    this.#avoidance = avoidance;
  }

  /** Begins an undeclared key, once for each language in which a key is left. */
  begin(settled: Stack, out: Stack[]): void {
    const { rules, stacks } = this;
    const isCompared = stacks.compares(stacks.parent(settled));
    const object = isCompared ? stacks.withField(settled, OBJECT.text, EMPTY_TEXT) : settled;
    const used = stacks.field(object, OBJECT.used);
    rules.others[stacks.field(object, OBJECT.rules)]!.forEach((index, which) => {
      const text = rules.texts[index]!;
      const { start } = text.automaton;
      if (!this.#avoidance.isPossible(text, start, 0, used)) return;
      out.push(stacks.push(OTHER_KEY.frame(index, start, used, which), object));
    });
  }

  step(stack: Stack, byte: number, out: Stack[]): void {
    const { stacks } = this;
    const index = stacks.field(stack, OTHER_KEY.text);
    const state = stacks.field(stack, OTHER_KEY.state);
    const avoided = stacks.field(stack, OTHER_KEY.avoided);
    const text = this.rules.texts[index]!;
    const { automaton } = text;
    const next = automaton.step(state, byte);
    if (next !== 0) {
      const rest = stacks.words.after(avoided, byte);
      if (next === state && rest === avoided) out.push(stack);
      else if (this.#avoidance.isPossible(text, next, 0, rest)) {
        const which = stacks.field(stack, OTHER_KEY.which);
        out.push(stacks.withFrame(stack, OTHER_KEY.frame(index, next, rest, which)));
      }
      return;
    }
    const mayClose = automaton.isBoundary(state) && automaton.accepts(state) &&
      !stacks.words.hasEmpty(avoided);
    if (byte === QUOTE && mayClose) out.push(this.closed(stack));
  }

  override candidates(_stack: Stack): undefined {
    return undefined;
  }

  completion(stack: Stack, ends: Ends): number {
    const { stacks } = this;
    const which = stacks.field(stack, OTHER_KEY.which);
    const object = stacks.parent(stack);
    const index = stacks.field(object, OBJECT.rules);
    const rules = this.rules.objects[index]!;
    const progress = rules.afterOther(stacks.field(object, OBJECT.progress));
    const value = ends.values.weight(rules.type.others[which]!.type);
    const rest = ends.values.object(index).rest(progress, othersOf(stacks, object) + 1);
    return this.#textCompletion(stack, ends) + 1 + COLON_BYTES + value + rest;
  }

  /** Fewest bytes that complete the key, without the quote after it. */
  #textCompletion(stack: Stack, { texts }: Ends): number {
    const { stacks } = this;
    const text = this.rules.texts[stacks.field(stack, OTHER_KEY.text)]!;
    const avoided = stacks.field(stack, OTHER_KEY.avoided);
    return texts.length(text, stacks.field(stack, OTHER_KEY.state), 0, avoided);
  }

  /** The stack after the quote that ends the key. */
  closed(stack: Stack): Stack {
    const { stacks } = this;
    const object = stacks.parent(stack);
    const rules = this.rules.objects[stacks.field(object, OBJECT.rules)]!;
    const progress = rules.afterOther(stacks.field(object, OBJECT.progress));
    const { type } = rules.type.others[stacks.field(stack, OTHER_KEY.which)]!;
    const after = afterKey(stacks, object, progress, type, this.rules.spaces.elsewhere);
    return stacks.withField(after, OBJECT.pending, 1);
  }
}

/** The number of undeclared keys that an object has. */
function othersOf(stacks: Stacks, object: Stack): number {
  return stacks.words.sizeOf(stacks.field(object, OBJECT.used)) +
    stacks.field(object, OBJECT.pending);
}

/** Begins a key of an object, after its quote. */
function beginKey(
  object: Stack,
  { rules, stacks }: Pick<FrameContext, "rules" | "stacks">,
  others: OtherKeyFrames,
  out: Stack[],
): void {
  const its = rules.objects[stacks.field(object, OBJECT.rules)]!;
  const progress = stacks.field(object, OBJECT.progress);
  const frame = stacks.frame(object);
  frame[OBJECT.phase] = Phase.KEY;
  frame[OBJECT.spaces] = 0;
  const inKey = stacks.withFrame(object, frame);
  const { length } = its.keys;
  if (its.choices(progress)[length]! > 0) {
    out.push(stacks.push(DECLARED_KEY.frame(0, length, 0), inKey));
  }
  if (!its.mayHaveOther(progress)) return;
  const settled = settledTop(inKey, stacks);
  if (settled === undefined) out.push(UNRESOLVED_STACK);
  else others.begin(settled, out);
}

/** The object after a key, whose value is of a type. */
function afterKey(
  stacks: Stacks,
  object: Stack,
  progress: number,
  type: number,
  spaces: number,
): Stack {
  const frame = stacks.frame(object);
  frame[OBJECT.phase] = Phase.COLON;
  frame[OBJECT.spaces] = spaces;
  frame[OBJECT.progress] = progress;
  frame[OBJECT.valueType] = type;
  return stacks.withFrame(object, frame);
}

/** The first of the sorted keys, from `first` on, whose byte at `depth` is at least `byte`. */
function lowerBound(
  keys: readonly Uint8Array[],
  first: number,
  end: number,
  depth: number,
  byte: number,
): number {
  while (first < end) {
    const middle = (first + end) >>> 1;
    if (keys[middle]![depth]! < byte) first = middle + 1;
    else end = middle;
  }
  return first;
}
