// Extraction: an instruction and a text of one to three sentences; the answer is a JSON object with
// the fields asked for, in the order asked for, or with all fields of the text in an order of their own.

import { isDeepStrictEqual } from "node:util";
import { capitalize, fill, type Random } from "../random.ts";
import type { Answer, Example, Skill, Split } from "../types.ts";
import { city, firstName, fullName } from "../words/names.ts";
import { ADDITIONS, NAMING, OPEN, OPENINGS } from "../words/sentences.ts";
import { ITEMS } from "../words/things.ts";
import { amount, date, enumerate, integer, type Written } from "../words/values.ts";
import { writeJson } from "./json.ts";

/** A kind of fact. */
interface Field {
  /** What it may be called, the usual key first. */
  keys: readonly string[];
  schema: Record<string, unknown>;
  make(random: Random, split: Split): Written;
}

const STRING = { type: "string" };

const plain = (value: string | number): Written => ({ value, text: String(value) });

const CURRENCIES: readonly string[] = [
  "{amount} euros",
  "{amount} EUR",
  "€{amount}",
  "{amount} dollars",
  "{amount} USD",
  "${amount}",
  "{amount} pounds",
  "{amount} GBP",
  "£{amount}",
  "{amount} francs",
  "{amount} CHF",
];

const FIELDS: Record<string, Field> = {
  person: {
    keys: ["person", "name"],
    schema: STRING,
    make: (random, split) =>
      plain(random.chance(0.8) ? fullName(random, split) : firstName(random, split)),
  },
  age: {
    keys: ["age"],
    schema: { type: "integer" },
    make: (random, split) => plain(integer(random, split, 18, 99)),
  },
  city: {
    keys: ["city", "place"],
    schema: STRING,
    make: (random, split) => plain(city(random, split)),
  },
  date: { keys: ["date", "day"], schema: STRING, make: date },
  amount: {
    keys: ["amount", "price"],
    schema: { type: "number" },
    make: (random, split) => plain(amount(random, split)),
  },
  items: {
    keys: ["items", "products"],
    schema: { type: "array", items: STRING },
    make: (random, split) => {
      const value = ITEMS.sample(random.integer(2, 4), random, split);
      const last = value.length > 2 && random.chance(0.2) ? ", and " : " and ";
      return { value, text: enumerate(value, last) };
    },
  },
};

/** A text and the facts in it. */
interface Passage {
  text: string;
  facts: Map<string, Written>;
}

/** A key of the answer with its value and the schema of it. */
interface Entry {
  key: string;
  value: unknown;
  schema: Record<string, unknown>;
}

const MAX_FIELDS = 4;

export const extraction: Skill = {
  name: "extraction",

  example(random: Random, split: Split): Example {
    const passage = makePassage(random, split);
    const isNaming = random.chance(0.75);
    const entries = isNaming
      ? chooseEntries(random, passage)
      : Object.keys(FIELDS).filter((field) => passage.facts.has(field)).map((field) =>
        entryOf(FIELDS[field]!.keys[0]!, field, passage)
      );
    const instruction = random.phraseOf(isNaming ? NAMING : OPEN, split);
    const value = Object.fromEntries(entries.map((entry) => [entry.key, entry.value]));
    return {
      ...place(random, nameFields(random, instruction, entries), passage.text, (user) => ({
        user,
        answer: { text: writeJson(value) },
        check: (answer) => isSame(answer, value),
      })),
      format: {
        type: "object",
        properties: Object.fromEntries(entries.map(({ key, schema }) => [key, schema])),
        required: entries.map(({ key }) => key),
      },
    };
  },
};

function makePassage(random: Random, split: Split): Passage {
  const facts = new Map<string, Written>();
  const sentences = [opening(random, split)];
  for (const field of fieldsOf(sentences[0]!)) facts.set(field, FIELDS[field]!.make(random, split));
  const others = random.shuffle(Object.keys(ADDITIONS)).filter((field) => !facts.has(field));
  const room = MAX_FIELDS - facts.size;
  for (const field of others.slice(0, Math.min(room, random.pick([0, 0, 0, 1, 1, 2])))) {
    facts.set(field, FIELDS[field]!.make(random, split));
    sentences.push(random.phraseOf(ADDITIONS[field]!, split));
  }
  const texts = Object.fromEntries([...facts].map(([field, { text }]) => [field, text]));
  if (texts.amount) texts.amount = fill(random.pick(CURRENCIES), { amount: texts.amount });
  return { text: fill(sentences.map(capitalize).join(" "), texts), facts };
}

/** A wording that tells at least two fields, and none twice. */
function opening(random: Random, split: Split): string {
  for (;;) {
    const phrase = random.phraseOf(OPENINGS, split);
    const fields = fieldsOf(phrase);
    const isFit = new Set(fields).size === fields.length && fields.length <= MAX_FIELDS;
    if (isFit && fields.length > 1) return phrase;
  }
}

/** The fields that a sentence has places for, in its order. */
function fieldsOf(sentence: string): string[] {
  return [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

function entryOf(key: string, field: string, { facts }: Passage): Entry {
  return { key, value: facts.get(field)!.value, schema: FIELDS[field]!.schema };
}

/** Some of the facts, mostly all of them, under one of their names each. */
function chooseEntries(random: Random, passage: Passage): Entry[] {
  const { size } = passage.facts;
  const fields = random.shuffle([...passage.facts.keys()]);
  return fields.slice(0, random.chance(0.5) ? size : random.integer(1, size)).map((field) => {
    const { keys } = FIELDS[field]!;
    return entryOf(random.chance(0.7) ? keys[0]! : random.pick(keys), field, passage);
  });
}

/** Puts the names of the fields into the instruction, in one of the ways people write them. */
function nameFields(random: Random, instruction: string, entries: readonly Entry[]): string {
  const keys = entries.map(({ key }) => key);
  const styles = [
    () => enumerate(keys),
    () => keys.join(", "),
    () => keys.map((key) => `"${key}"`).join(", "),
    () => enumerate(keys.map((key) => `the ${key}`)),
  ];
  return fill(instruction, { fields: random.pick(styles)() });
}

/** Puts the instruction before the text, after it or into the system prompt. */
function place(
  random: Random,
  instruction: string,
  text: string,
  turnOf: (user: string) => Example["turns"][number],
): Pick<Example, "system" | "turns"> {
  const spot = random.next();
  if (spot < 0.2) return { system: instruction.replace(/:$/, "."), turns: [turnOf(text)] };
  const between = random.pick(["\n", "\n", "\n\n", " ", " "]);
  if (spot < 0.45) return { turns: [turnOf(text + between + instruction.replace(/:$/, "."))] };
  const isQuoted = random.chance(0.1);
  return { turns: [turnOf(instruction + between + (isQuoted ? `"${text}"` : text))] };
}

/** Whether the answer is the object, whatever the order of its members. */
function isSame(answer: Answer, expected: Record<string, unknown>): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(answer.text ?? ""), expected);
  } catch {
    return false;
  }
}
