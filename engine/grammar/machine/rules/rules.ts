// The rules of a schema's types in the form that the machine uses: automata, and what has come of objects and arrays, with
// indices instead of types. They are made when needed, and kept as long as the schema.

import { type LanguageId, Work } from "../../language/mod.ts";
import type { NumberSet } from "../../number/mod.ts";
import type { ObjectType, SchemaTypes, StringType, TypeId } from "../../types.ts";
import type { TextAutomaton } from "../texts/text_automaton.ts";
import { TextRules } from "../texts/text_rules.ts";
import { ArrayRules } from "./array_rules.ts";
import { ObjectRules } from "./object_rules.ts";
import type { Position, Program } from "./program.ts";

/** A deterministic automaton over the bytes of a number. Only state 0 is a dead end. */
export interface NumberAutomaton {
  readonly start: number;
  step(state: number, byte: number): number;
  accepts(state: number): boolean;
  /** Fewest bytes to acceptance. */
  completion(state: number): Uint8Array;
  /** Whether so many states are kept that masks may add nothing. */
  readonly isFull?: boolean;
  /** The state that corresponds to a state of another automaton of the same set. */
  adopt?(other: NumberAutomaton, state: number): number;
}

/** The source of the automata of a schema's languages and sets. */
export interface Automata {
  text(language: LanguageId): TextAutomaton;
  number(set: NumberSet): NumberAutomaton;
  /** The number of strings of a language; Infinity if there are more than `limit`. */
  count(language: LanguageId, limit: number): number;
  /** Counts the work for languages, which masks limit. Without it nothing is limited. */
  readonly work?: Work;
  /** Automata of plain texts, without escapes; missing if there are none. */
  plainText?(language: LanguageId): TextAutomaton;
  /** Whether so much is kept about texts that masks may add nothing. */
  readonly isFull?: boolean;
  /** This source without the results of masks. */
  renewed?(): Automata;
}

/** The way in which documents are written. */
export interface WritingOptions {
  /**
   * Spaces: none; at most one after a colon or comma (the default); or white space wherever JSON
   * allows it, at most 64 bytes at a time.
   */
  readonly whitespace?: "none" | "single" | "free";
  /** Whether declared keys may come in any order, and between others. Default false. */
  readonly anyOrder?: boolean;
  /** Whether numbers may have exponents, and fractions that are not needed. Default false. */
  readonly anyNumbers?: boolean;
}

/** What is enforced, besides the way of writing. */
export interface RulesOptions extends WritingOptions {
  /**
   * A grammar around documents of the types. Without one, there is one document of the root type.
   */
  readonly program?: Program | undefined;
}

/** Most bytes of white space at one position. */
const MAX_SPACES = 64;

/** Most strings of a language that are counted, to notice when keys run out. */
const MAX_COUNTED = 256;

/** What a type allows, by indices into the rules. */
export interface ValueRules {
  /** Indices of LITERALS. */
  readonly literals: readonly number[];
  /** -1 if there are none. */
  readonly number: number;
  /** -1 if there are none. */
  readonly text: number;
  readonly arrays: readonly number[];
  readonly objects: readonly number[];
}

const encoder = new TextEncoder();

/** The literals of JSON. */
export const LITERALS: readonly Uint8Array[] = ["null", "true", "false"].map((word) =>
  encoder.encode(word)
);

/** The rules of all types of a schema. */
export class Rules {
  readonly types: SchemaTypes;
  readonly program: Program | undefined;
  /** Bytes of white space after a colon or comma, and elsewhere. */
  readonly spaces: { readonly after: number; readonly elsewhere: number };
  readonly anyWhitespace: boolean;
  /** Counts the work for languages, which masks limit. */
  readonly work: Work;
  readonly numbers: NumberAutomaton[] = [];
  readonly texts: TextRules[] = [];
  readonly arrays: ArrayRules[] = [];
  readonly objects: ObjectRules[] = [];
  /** By object: the languages of the other keys, as indices of texts. */
  readonly others: (readonly number[])[] = [];
  readonly #options: RulesOptions;
  readonly #automata: Automata;
  readonly #anyOrder: boolean;
  readonly #values = new Map<TypeId, ValueRules>();
  readonly #numberIndices = new Map<NumberSet, number>();
  readonly #textIndices = new Map<string, number>();
  /** By text: the source of its automaton. */
  readonly #sources: ((automata: Automata) => TextAutomaton)[] = [];
  readonly #programTexts: (number | undefined)[] = [];
  #hasUniqueItems: boolean | undefined;

  constructor(types: SchemaTypes, automata: Automata, options: RulesOptions = {}) {
    const { whitespace = "single", anyOrder = false } = options;
    this.types = types;
    this.#options = options;
    this.program = options.program;
    this.#automata = automata;
    this.work = automata.work ?? new Work();
    this.#anyOrder = anyOrder;
    this.anyWhitespace = whitespace === "free";
    this.spaces = {
      after: whitespace === "free" ? MAX_SPACES : Number(whitespace === "single"),
      elsewhere: whitespace === "free" ? MAX_SPACES : 0,
    };
  }

  /** Whether so many results are kept that masks may add nothing. */
  get isFull(): boolean {
    return this.#automata.isFull === true || this.numbers.some(({ isFull }) => isFull === true);
  }

  /** These rules, with their indices, without the results of masks. */
  renewed(): Rules {
    // Whatever is made on demand must exist now, so that an index keeps its meaning.
    this.types.types.forEach((_, id) => this.value(id));
    this.program?.instructions.forEach(({ type }, at) => type === "text" && this.programText(at));
    const rules = new Rules(
      this.types,
      this.#automata.renewed?.() ?? this.#automata,
      this.#options,
    );
    for (const [set, index] of this.#numberIndices) {
      rules.#numberIndices.set(set, index);
      const number = this.numbers[index]!;
      rules.numbers[index] = number.isFull ? rules.#automata.number(set) : number;
    }
    this.texts.forEach(({ min, max }, index) => rules.#addText(this.#sources[index]!, min, max));
    for (const [key, index] of this.#textIndices) rules.#textIndices.set(key, index);
    for (const [id, value] of this.#values) rules.#values.set(id, value);
    rules.arrays.push(...this.arrays);
    rules.objects.push(...this.objects);
    rules.others.push(...this.others);
    rules.#programTexts.push(...this.#programTexts);
    return rules;
  }

  /** Whether items of some array must differ. */
  get hasUniqueItems(): boolean {
    return this.#hasUniqueItems ??= this.types.types.some(({ arrays = [] }) =>
      arrays.some(({ unique }) => unique)
    );
  }

  /** Whether a byte is white space that may be written between tokens of JSON. */
  isSpace(byte: number): boolean {
    return byte === 0x20 ||
      (this.anyWhitespace && (byte === 0x0a || byte === 0x0d || byte === 0x09));
  }

  /** Whether a type has more strings than `limit`. */
  hasManyStrings(id: TypeId, limit: number): boolean {
    const { strings } = this.types.types[id]!;
    return strings !== undefined && this.#automata.count(strings.language, limit) > limit;
  }

  /** What a type allows. */
  value(id: TypeId): ValueRules {
    let value = this.#values.get(id);
    if (!value) {
      const type = this.types.types[id]!;
      value = {
        literals: [
          ...(type.null ? [0] : []),
          ...(type.booleans ?? []).map((truth) => truth ? 1 : 2),
        ],
        number: type.numbers === undefined ? -1 : this.#number(type.numbers),
        text: type.strings === undefined ? -1 : this.#text(type.strings),
        arrays: (type.arrays ?? []).map((array) =>
          this.arrays.push(new ArrayRules(array, this.work)) - 1
        ),
        objects: (type.objects ?? []).map((object) => this.#object(object)),
      };
      this.#values.set(id, value);
    }
    return value;
  }

  /** The text at a position of the program, as an index of `texts`. */
  programText(position: Position): number {
    let index = this.#programTexts[position];
    if (index === undefined) {
      const one = this.program!.instructions[position]!;
      if (one.type !== "text") throw new TypeError(`Position ${position} has no text`);
      const { automaton, language, min, max } = one.text;
      const source = (automata: Automata) =>
        language === undefined ? automaton : automata.plainText?.(language) ?? automaton;
      index = this.#addText(source, min, max);
      this.#programTexts[position] = index;
    }
    return index;
  }

  #number(set: NumberSet): number {
    let index = this.#numberIndices.get(set);
    if (index === undefined) {
      index = this.numbers.push(this.#automata.number(set)) - 1;
      this.#numberIndices.set(set, index);
    }
    return index;
  }

  #text({ language, min, max }: StringType): number {
    const key = `${language},${min},${max}`;
    let index = this.#textIndices.get(key);
    if (index === undefined) {
      index = this.#addText((automata) => automata.text(language), min, max);
      this.#textIndices.set(key, index);
    }
    return index;
  }

  #addText(source: (automata: Automata) => TextAutomaton, min: number, max: number): number {
    this.#sources.push(source);
    return this.texts.push(new TextRules(source(this.#automata), min, max, this.work)) - 1;
  }

  #object(type: ObjectType): number {
    const index = this.objects.push(
      new ObjectRules(type, {
        spell: spellContent,
        others: type.others.reduce(
          (sum, { keys }) => sum + this.#automata.count(keys, MAX_COUNTED),
          0,
        ),
        ordered: !this.#anyOrder,
        work: this.work,
      }),
    ) - 1;
    this.others[index] = type.others.map(({ keys: language }) =>
      this.#text({ language, min: 0, max: Infinity })
    );
    return index;
  }
}

/** The bytes of a text as the content of a JSON string, with the necessary escapes only. */
export function spellContent(text: string): Uint8Array {
  const content = JSON.stringify(text);
  const bytes = new Uint8Array(content.length - 2);
  for (let i = 0; i < bytes.length; i++) {
    const unit = content.charCodeAt(i + 1);
    // A call of the encoder takes a microsecond, which is long for thousands of short keys.
    if (unit >= 0x80) return encoder.encode(content.slice(1, -1));
    bytes[i] = unit;
  }
  return bytes;
}
