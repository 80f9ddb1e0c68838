// A form of grammars between reading and program. Everything regular is joined into one language,
// so that stacks of the machine are only needed for recursion, control tokens and JSON documents.

import { GrammarError } from "../grammar.ts";
import type { LanguageId, Languages } from "../language/mod.ts";
import {
  type Instruction,
  type Position,
  type ProgramText,
  RETURN,
} from "../machine/rules/program.ts";
import type { TextAutomaton } from "../machine/texts/text_automaton.ts";
import { spellControl } from "../machine/token_table.ts";
import type { TypeId } from "../types.ts";

/** A text of a language. */
export interface TextPart {
  readonly type: "text";
  readonly language: LanguageId;
  /**
   * Approximate number of nodes of its expression; Infinity if it may not be part of a larger one.
   */
  readonly size: number;
  /** Most consecutive parts that may be empty: anywhere, and at the end. */
  readonly skips: number;
  readonly endSkips: number;
}

/** A part of a grammar. */
export type Part =
  | TextPart
  | { readonly type: "control"; readonly token: number }
  | { readonly type: "document"; readonly root: TypeId }
  | { readonly type: "rule"; readonly name: string }
  | { readonly type: "sequence"; readonly parts: readonly Part[] }
  | { readonly type: "choice"; readonly options: readonly Part[] }
  | { readonly type: "repeat"; readonly part: Part; readonly min: number; readonly max: number };

/** Largest language that others are joined to, because the time for derivatives grows with it. */
const MAX_SIZE = 4000;

/**
 * Most consecutive parts that may be empty, because from each part the text may skip to every later
 * one.
 */
const MAX_SKIPS = 24;

/** Most rounds of a repetition that is joined, because an automaton needs states for each round. */
const MAX_ROUNDS = 256;

/** Makes parts, joined into as few languages as is reasonable. */
export class Parts {
  readonly #languages: Languages;

  constructor(languages: Languages) {
    this.#languages = languages;
  }

  /** A text of a language. It is not joined if assertions refer to text beyond it. */
  text(language: LanguageId, size: number, inner = 0, innerEnd = inner): TextPart {
    const isAlone = !this.#languages.isClosed(language);
    const isSkipped = this.#languages.contains(language, "");
    const skips = Math.max(inner, Number(isSkipped));
    const endSkips = isSkipped ? skips : innerEnd;
    return { type: "text", language, size: isAlone ? Infinity : size, skips, endSkips };
  }

  /** Exactly this text. */
  literal(text: string): TextPart {
    return this.text(this.#languages.literal(text), text.length);
  }

  /** Whether a part is exactly the empty text. */
  isEmptyText(part: Part): boolean {
    return part.type === "text" && part.language === this.#languages.literal("");
  }

  sequence(parts: readonly Part[]): Part {
    const flat = parts.flatMap((part) => part.type === "sequence" ? part.parts : [part]);
    const joined: Part[] = [];
    for (const part of flat) {
      if (this.isEmptyText(part)) continue;
      const last = joined.at(-1);
      const both = last && this.#both(last, part);
      if (both) joined[joined.length - 1] = both;
      else joined.push(part);
    }
    if (joined.length === 0) return this.literal("");
    return joined.length === 1 ? joined[0]! : { type: "sequence", parts: joined };
  }

  /** Two consecutive texts as one; undefined if they should not be joined. */
  #both(first: Part, second: Part): TextPart | undefined {
    if (first.type !== "text" || second.type !== "text") return undefined;
    const size = first.size + second.size;
    const skips = Math.max(first.skips, first.endSkips + second.skips);
    if (size > MAX_SIZE || skips > MAX_SKIPS) return undefined;
    const isSkipped = this.#languages.contains(second.language, "");
    const endSkips = isSkipped ? first.endSkips + second.endSkips : second.endSkips;
    const language = this.#languages.sequence(first.language, second.language);
    return this.text(language, size, skips, endSkips);
  }

  choice(options: readonly Part[]): Part {
    const flat = options.flatMap((part) => part.type === "choice" ? part.options : [part]);
    const others: Part[] = [];
    let group: TextPart[] = [];
    const texts: TextPart[] = [];
    const close = () => {
      if (group.length === 0) return;
      const language = this.#languages.union(...group.map((part) => part.language));
      texts.push(this.text(language, sizeOf(group), Math.max(...group.map((one) => one.skips))));
      group = [];
    };
    for (const part of flat) {
      if (part.type !== "text" || part.size > MAX_SIZE) {
        others.push(part);
        continue;
      }
      if (sizeOf(group) + part.size > MAX_SIZE) close();
      group.push(part);
    }
    close();
    const all = [...texts, ...others];
    return all.length === 1 ? all[0]! : { type: "choice", options: all };
  }

  /** A repetition. */
  repeat(part: Part, min: number, max: number): Part {
    if (max === 0) return this.literal("");
    if (min === 1 && max === 1) return part;
    if (part.type !== "text" || part.size > MAX_SIZE) return { type: "repeat", part, min, max };
    const skips = part.skips + part.endSkips;
    if (max > 1 && skips > MAX_SKIPS) return { type: "repeat", part, min, max };
    const isLong = Math.max(min, max < Infinity ? max : 0) > MAX_ROUNDS;
    // Characters can be counted beside an automaton, and rounds of longer texts beside a position.
    if (isLong && this.#languages.lengths(part.language).max > 1) {
      return { type: "repeat", part, min, max };
    }
    const language = this.#languages.repeat(part.language, min, max);
    if (isLong) return { type: "text", language, size: Infinity, skips, endSkips: skips };
    return this.text(language, part.size + 1, max > 1 ? skips : part.skips);
  }
}

function sizeOf(parts: readonly TextPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}

// Makes instructions of parts, from the last to the first, because each one names its successor.
// Rules get their positions before their bodies, so that they can name each other.

/** Most instructions: a hundred megabytes. */
const MAX_INSTRUCTIONS = 1_000_000;

/** Greater counts become infinite: no text is that long, and the machine counts in 32 bits. */
const MOST_COUNTED = 2 ** 30;

/** The instructions of a grammar. */
export interface Emitted {
  readonly instructions: Instruction[];
  readonly start: Position;
  /** The first position of each rule. */
  readonly rules: ReadonlyMap<string, Position>;
}

/** Makes the instructions of a part, and of the rules that it names. */
export function emitProgram(
  root: Part,
  ruleOf: (name: string) => Part,
  languages: Languages,
): Emitted {
  const instructions: Instruction[] = [{ type: "return" }];
  const rules = new Map<string, Position>();
  const open: string[] = [];
  const add = (instruction: Instruction): Position => {
    if (instructions.length === MAX_INSTRUCTIONS) {
      throw new GrammarError(`it has more than ${MAX_INSTRUCTIONS} parts`);
    }
    return instructions.push(instruction) - 1;
  };

  const ruleAt = (name: string): Position => {
    let position = rules.get(name);
    if (position === undefined) {
      position = add({ type: "fork", targets: [] });
      rules.set(name, position);
      open.push(name);
    }
    return position;
  };
  const emit = (part: Part, next: Position): Position => {
    switch (part.type) {
      case "text":
        return add({ type: "text", text: textOf(languages, part.language), next });
      case "control": {
        const text = { automaton: controlAutomaton(part.token), min: 0, max: Infinity, least: 1 };
        return add({ type: "text", text, next });
      }
      case "document":
        return add({ type: "document", root: part.root, next });
      case "sequence":
        return part.parts.reduceRight((after, one) => emit(one, after), next);
      case "choice":
        return add({ type: "fork", targets: part.options.map((option) => emit(option, next)) });
      case "repeat": {
        const { min, max } = part;
        if (min === 0 && max === 1) {
          return add({ type: "fork", targets: [emit(part.part, next), next] });
        }
        return add({ type: "repeat", part: emit(part.part, RETURN), min, max, next });
      }
      case "rule": {
        const target = ruleAt(part.name);
        // A rule at the end of a rule need not return to it, so right recursion takes no stack.
        return next === RETURN ? target : add({ type: "call", target, next });
      }
    }
  };
  const start = emit(root, RETURN);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const body = emit(ruleOf(name), RETURN);
    instructions[rules.get(name)!] = { type: "fork", targets: [body] };
  }
  return { instructions, start, rules };
}

function textOf(languages: Languages, whole: number): ProgramText {
  const { language, min, max } = languages.withoutCount(whole);
  const automaton = languages.plainAutomaton(language);
  const isEmpty = min === 0 && automaton.accepts(automaton.start);
  const bounds = {
    min: Math.min(min, MOST_COUNTED),
    max: max < MOST_COUNTED ? max : Infinity,
  };
  return {
    automaton,
    language,
    ...bounds,
    least: languages.isEmpty(whole) ? Infinity : isEmpty ? 0 : 1,
  };
}

// Control tokens in the text of a literal, and the bytes that stand for them as an automaton.

/**
 * A literal in pieces: text, and the control tokens whose names it contains, the longest names
 * first.
 */
export function splitControls(
  text: string,
  controls: ReadonlyMap<string, number>,
): (string | number)[] {
  const pieces: (string | number)[] = [];
  const names = [...controls.keys()].filter((name) => text.includes(name))
    .sort((a, b) => b.length - a.length);
  let start = 0;
  for (let at = 0; at < text.length;) {
    const name = names.find((one) => text.startsWith(one, at));
    if (name === undefined) {
      at++;
      continue;
    }
    if (at > start) pieces.push(text.slice(start, at));
    pieces.push(controls.get(name)!);
    start = at += name.length;
  }
  if (start < text.length) pieces.push(text.slice(start));
  return pieces;
}

/** The automaton of one control token. State n + 1 comes after n of its bytes. */
export function controlAutomaton(token: number): TextAutomaton {
  const bytes = spellControl(token);
  const isEnd = (state: number) => state === bytes.length + 1;
  return {
    start: 1,
    step: (state, byte) => bytes[state - 1] === byte ? state + 1 : 0,
    accepts: isEnd,
    isBoundary: (state) => state === 1 || isEnd(state),
    shortest: (state) => isEnd(state) ? 0 : 1,
    completion: (state) => bytes.slice(state - 1),
  };
}
