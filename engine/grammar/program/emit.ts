// Makes instructions of parts, from the last to the first, because each one names its successor.
// Rules get their positions before their bodies, so that they can name each other.

import { GrammarError } from "../grammar.ts";
import type { Languages } from "../language/mod.ts";
import {
  type Instruction,
  type Position,
  type ProgramText,
  RETURN,
} from "../machine/rules/program.ts";
import { controlAutomaton } from "./control_tokens.ts";
import type { Part } from "./part.ts";

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
