// Automata of simple languages for the tests of the machine, and types made by hand: the machine is
// tested apart from patterns and schemas.

import { createMachineOf, type GrammarMachine } from "../../../../engine/grammar/machine/mod.ts";
import type { Automata, WritingOptions } from "../../../../engine/grammar/machine/rules/rules.ts";
import type { TextAutomaton } from "../../../../engine/grammar/machine/texts/text_automaton.ts";
import { TokenTable } from "../../../../engine/grammar/machine/token_table.ts";
import { numberAutomaton } from "../../../../engine/grammar/number/mod.ts";
import type { ArrayType, ObjectType, ValueType } from "../../../../engine/grammar/types.ts";

/** A language by its characters: `step` gives undefined where no member goes on so. */
export interface CharacterLanguage {
  readonly step: (prefix: string, character: string) => string | undefined;
  readonly accepts: (prefix: string) => boolean;
  /** Fewest further characters, as the shortest text. */
  readonly completion: (prefix: string) => string;
  readonly members?: readonly string[];
  /** All characters that any member has; missing: all that there are. */
  readonly alphabet?: string;
}

/** All strings. */
export const ANY: CharacterLanguage = {
  step: () => "",
  accepts: () => true,
  completion: () => "",
};

/** Strings of characters that a pattern matches one by one. */
export function ofCharacters(pattern: RegExp): CharacterLanguage {
  return {
    step: (_, character) => pattern.test(character) ? "" : undefined,
    accepts: () => true,
    completion: () => "",
    alphabet: [...Array(0x180).keys()].map((code) => String.fromCharCode(code))
      .filter((character) => pattern.test(character)).join(""),
  };
}

/** Some words. */
export function words(...members: string[]): CharacterLanguage {
  const after = (prefix: string) => members.filter((member) => member.startsWith(prefix));
  return {
    step: (prefix, character) =>
      after(prefix + character).length > 0 ? prefix + character : undefined,
    accepts: (prefix) => members.includes(prefix),
    completion: (prefix) =>
      after(prefix).sort((a, b) => a.length - b.length)[0]!.slice(prefix.length),
    members,
    alphabet: members.join(""),
  };
}

const encoder = new TextEncoder();
const CONTROLS = [...Array(32).keys()].map((code) => String.fromCharCode(code));

/** The bytes of a character in a JSON string, in as few as must be. */
function spell(character: string): number[] {
  return [...encoder.encode(JSON.stringify(character).slice(1, -1))];
}

/** Bytes of UTF-8 as those of a character that stands for it and its like. */
function standIn(bytes: readonly number[]): readonly number[] {
  const [first = 0, ...rest] = bytes;
  if (first < 0x80) return first > 0x1f && first !== 0x22 && first !== 0x5c ? [0x78] : bytes;
  if (first < 0xc2 || first > 0xf4) return [0];
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const [low, high] = first === 0xe0
    ? [0xa0, 0xbf]
    : first === 0xed
    ? [0x80, 0x9f]
    : first === 0xf0
    ? [0x90, 0xbf]
    : first === 0xf4
    ? [0x80, 0x8f]
    : [0x80, 0xbf];
  const isLegal = rest.every((byte, at) =>
    byte >= (at === 0 ? low : 0x80) && byte <= (at === 0 ? high : 0xbf)
  );
  if (!isLegal) return [0];
  if (rest.length === 0 && (low !== 0x80 || high !== 0xbf)) return bytes;
  const left = length - bytes.length;
  return left === 0 ? [0x78] : left === 1 ? [0xc3] : left === 2 ? [0xe1] : [0xf1];
}

/** The automaton over the bytes of a JSON string's content that a language has. */
export function automatonOf(language: CharacterLanguage): TextAutomaton {
  const states: { prefix: string; bytes: number[] }[] = [{ prefix: "dead", bytes: [] }];
  const ids = new Map<string, number>();
  const idOf = (prefix: string, bytes: number[]) => {
    const key = JSON.stringify([prefix, bytes]);
    let id = ids.get(key);
    if (id === undefined) ids.set(key, id = states.push({ prefix, bytes }) - 1);
    return id;
  };
  const table = new Map<number, number>();
  const alphabet = language.alphabet;
  const spellings = [...(alphabet ?? ["x", '"', "\\", ...CONTROLS])]
    .map((character) => ({ character, bytes: spell(character) }));
  const find = (state: number, byte: number): number => {
    const { prefix, bytes } = states[state]!;
    const longer = [...bytes, byte];
    const like = alphabet ? longer : standIn(longer);
    if (!alphabet && like[0]! >= 0x80) return idOf(prefix, [...like]);
    const goOn = spellings.filter(({ character, bytes: spelling }) =>
      like.every((one, at) => spelling[at] === one) &&
      language.step(prefix, character) !== undefined
    );
    if (goOn.length === 0) return 0;
    const whole = goOn.find(({ bytes: spelling }) => spelling.length === like.length);
    return whole ? idOf(language.step(prefix, whole.character)!, []) : idOf(prefix, [...like]);
  };
  const step = (state: number, byte: number): number => {
    const key = state * 256 + byte;
    let next = table.get(key);
    if (next === undefined) table.set(key, next = find(state, byte));
    return next;
  };
  const finish = (state: number): number[] => {
    const path: number[] = [];
    while (states[state]!.bytes.length > 0) {
      for (let byte = 0; byte < 256; byte++) {
        const next = step(state, byte);
        if (next === 0) continue;
        path.push(byte);
        state = next;
        break;
      }
    }
    const rest = JSON.stringify(language.completion(states[state]!.prefix)).slice(1, -1);
    return [...path, ...encoder.encode(rest)];
  };
  return {
    start: idOf("", []),
    step,
    accepts: (state) =>
      state !== 0 && states[state]!.bytes.length === 0 && language.accepts(states[state]!.prefix),
    isBoundary: (state) => states[state]!.bytes.length === 0,
    shortest: (state) => {
      const { prefix, bytes } = states[state]!;
      if (bytes.length === 0) return [...language.completion(prefix)].length;
      const end = finish(state);
      let at = state;
      let characters = 0;
      for (const byte of end) {
        at = step(at, byte);
        if (states[at]!.bytes.length === 0) characters++;
      }
      return characters;
    },
    completion: (state) => Uint8Array.from(finish(state)),
  };
}

/** Automata of languages by their place in a list. */
export function automata(...languages: CharacterLanguage[]): Automata {
  const made = languages.map(automatonOf);
  return {
    text: (language) => made[language]!,
    number: (set) => numberAutomaton(set, { plain: true }),
    count: (language, limit) => {
      const members = languages[language]!.members;
      return members && members.length <= limit ? members.length : Infinity;
    },
  };
}

/** An array type, of any items of a type by default. */
export function array(type: Partial<ArrayType>): ArrayType {
  return { prefix: [], min: 0, max: Infinity, unique: false, contains: [], ...type };
}

/** An object type; of a property "a?" the key is "a". */
export function object(
  properties: Record<string, number>,
  type: Partial<Omit<ObjectType, "properties">> = {},
): ObjectType {
  return {
    properties: Object.entries(properties).map(([name, of]) => ({
      key: name.replace(/\?$/, ""),
      type: of,
      required: !name.endsWith("?"),
    })),
    others: [],
    min: 0,
    max: Infinity,
    clauses: [],
    ...type,
  };
}

/** Tokens for tests: every byte, then some texts, then the end. */
export function tableOf(...texts: (string | Uint8Array)[]): TokenTable {
  const tokens = [
    ...[...Array(256).keys()].map((byte) => Uint8Array.of(byte)),
    ...texts.map((text) => typeof text === "string" ? encoder.encode(text) : text),
  ];
  return TokenTable.of({
    size: tokens.length + 1,
    bytesOf: (token) => tokens[token] ?? encoder.encode("<end>"),
    endTokens: [tokens.length],
    isControl: (token) => token >= tokens.length,
  });
}

const BYTES = tableOf();

/** A machine for types, of which the first is the root. */
export function machineFor(
  types: readonly ValueType[],
  languages: readonly CharacterLanguage[] = [ANY],
  options: WritingOptions & { table?: TokenTable } = {},
): GrammarMachine {
  return createMachineOf({ types, root: 0 }, automata(...languages), { table: BYTES, ...options });
}

/** What becomes of a text as a document. */
export function fateOf(
  machine: GrammarMachine,
  text: string | Uint8Array,
): "refused" | "open" | "complete" {
  const matcher = machine.matcher();
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  if (!matcher.acceptBytes(bytes)) return "refused";
  return matcher.isComplete ? "complete" : "open";
}
