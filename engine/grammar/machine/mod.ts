// The frame machine: documents of a schema's types, byte by byte and token by token. It knows
// neither JSON Schema nor tokenizers, only types, automata and a table of tokens.

import { Languages } from "../language/mod.ts";
import { hasOnlyIntegers, numberAutomaton } from "../number/mod.ts";
import type { SchemaTypes } from "../types.ts";
import { Matcher, MatcherContext } from "./matcher.ts";
import type { Program } from "./rules/program.ts";
import { type Automata, Rules, type WritingOptions } from "./rules/rules.ts";
import type { TokenTable } from "./token_table.ts";

export { DeadEndError, MachineError } from "./errors.ts";
export { type MaskOptions, Matcher } from "./matcher.ts";
export {
  type Instruction,
  type Position,
  type Program,
  type ProgramText,
  RETURN,
  weighPositions,
} from "./rules/program.ts";
export type { Automata, NumberAutomaton, WritingOptions } from "./rules/rules.ts";
export type { TextAutomaton } from "./texts/text_automaton.ts";
export { spellControl, type TokenSource, TokenTable } from "./token_table.ts";

/** Enforces the types of one schema on documents of one vocabulary. */
export interface GrammarMachine {
  /** Begins a document. */
  matcher(): Matcher;
  /** Steps of work that compiling and all masks took so far. */
  readonly steps: number;
  /**
   * Prepares the first mask and the ends of all types, which are needed anyway. Errors: as
   * {@linkcode createMachine}.
   */
  tryOut(): void;
}

interface MachineOptions extends WritingOptions {
  readonly table: TokenTable;
  /** Whether integers have a single spelling, even if numbers may be spelled in any way. */
  readonly integersAsSpelled?: boolean;
  /** Steps of work for a mask; for tests. */
  readonly maskWork?: number | undefined;
  /** The fraction of the usual memory in which masks may keep their results; for tests. */
  readonly keptShare?: number | undefined;
  /**
   * A grammar around documents of the types. Without one, there is one document of the root type.
   */
  readonly program?: Program;
}

/**
 * A machine for the types of a schema or a grammar. Errors: MachineError if they exceed its limits.
 */
export function createMachine(
  types: SchemaTypes,
  languages: Languages,
  options: MachineOptions,
): GrammarMachine {
  languages.settle();
  // Items are compared by their bytes, so equal numbers must be written alike.
  const comparesItems = types.types.some(({ arrays }) => arrays?.some(({ unique }) => unique));
  const writing = { ...options, asListed: !comparesItems };
  return createMachineOf(types, automataOf(languages, writing), options);
}

/** As {@linkcode createMachine}, with other automata. */
export function createMachineOf(
  types: SchemaTypes,
  automata: Automata,
  { table, maskWork, keptShare = 1, ...options }: MachineOptions,
): GrammarMachine {
  const rules = new Rules(types, automata, options);
  const context = new MatcherContext(rules, table, maskWork);
  return {
    matcher: () => new Matcher(context),
    get steps() {
      return rules.work.done;
    },
    tryOut() {
      const matcher = new Matcher(context);
      matcher.mask();
      matcher.mayEndWithin(Infinity);
      rules.work.release();
      rules.work.keptShare = keptShare;
    },
  };
}

function automataOf(
  languages: Languages,
  options: Pick<MachineOptions, "anyNumbers" | "integersAsSpelled"> & {
    readonly asListed: boolean;
  },
): Automata {
  const { anyNumbers = false, integersAsSpelled = false, asListed } = options;
  return {
    text: (language) => languages.automaton(language),
    plainText: (language) => languages.plainAutomaton(language),
    get isFull() {
      return languages.isFull;
    },
    renewed: () => automataOf(new Languages(languages), options),
    number: (set) =>
      numberAutomaton(set, {
        plain: !anyNumbers || integersAsSpelled && hasOnlyIntegers(set),
        asListed: asListed && !anyNumbers,
        work: languages.work,
      }),
    count: (language, limit) => languages.finite(language, limit)?.length ?? Infinity,
    work: languages.work,
  };
}
