// Extraction: an instruction and a text of one to three sentences; the answer is a JSON object with
// the fields asked for, in the order asked for, or with all fields of the text in its order.

import { isDeepStrictEqual } from "node:util";
import { fill, type Random } from "../random.ts";
import type { Answer, Example, Skill, Split } from "../types.ts";
import { city, firstName, fullName } from "../words/names.ts";
import { blurred } from "../words/open_class.ts";
import { ADDITIONS, NAMING, OPEN, OPENINGS } from "../words/sentences.ts";
import { ITEMS, JOBS } from "../words/things.ts";
import {
  amount,
  company,
  date,
  email,
  enumerate,
  integer,
  phone,
  withArticle,
  type Written,
} from "../words/values.ts";
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

/** An amount, rarely written with two decimals, at times with a comma between the thousands. */
function price(random: Random, split: Split): Written {
  const value = amount(random, split);
  if (random.chance(0.05)) return { value, text: value.toFixed(2) };
  if (random.chance(0.3)) return { value, text: value.toLocaleString("en-US") };
  return plain(value);
}

const CURRENCIES: readonly [code: string, written: readonly string[]][] = [
  ["EUR", ["{amount} euros", "{amount} EUR", "€{amount}"]],
  ["USD", ["{amount} dollars", "{amount} USD", "${amount}"]],
  ["GBP", ["{amount} pounds", "{amount} GBP", "£{amount}"]],
  ["CHF", ["{amount} francs", "{amount} CHF", "CHF {amount}"]],
];

const FIELDS: Record<string, Field> = {
  person: {
    keys: ["person", "name", "full_name"],
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
    keys: ["city", "place", "town", "location"],
    schema: STRING,
    make: (random, split) => plain(city(random, split)),
  },
  date: { keys: ["date", "day"], schema: STRING, make: date },
  amount: {
    keys: ["amount", "price", "total", "cost"],
    schema: { type: "number" },
    make: price,
  },
  items: {
    keys: ["items", "products", "things", "list"],
    schema: { type: "array", items: STRING },
    make: (random, split) => {
      const value = ITEMS.sample(random.integer(2, 4), random, split);
      const last = value.length > 2 && random.chance(0.2) ? ", and " : " and ";
      return { value, text: enumerate(value, last) };
    },
  },
  email: {
    keys: ["email", "mail", "email_address"],
    schema: STRING,
    make: (random, split) => plain(email(random, split)),
  },
  phone: {
    keys: ["phone", "telephone", "phone_number"],
    schema: STRING,
    make: (random, split) => plain(phone(random, split)),
  },
  company: {
    keys: ["company", "employer", "firm"],
    schema: STRING,
    make: (random, split) => plain(company(random, split)),
  },
  job: {
    keys: ["job", "profession", "occupation"],
    schema: STRING,
    make: (random, split) => plain(JOBS.pick(random, split)),
  },
  currency: { keys: ["currency"], schema: STRING, make: () => plain("") },
};

/** A text and the facts in it, in its order; `currency` is the code of the amount, if any. */
interface Passage {
  text: string;
  facts: Map<string, Written>;
  currency?: string;
}

/** A key of the answer with its value and the schema of it. */
interface Entry {
  key: string;
  value: unknown;
  schema: Record<string, unknown>;
}

const MAX_FIELDS = 5;

export const extraction: Skill = {
  name: "extraction",

  example(random: Random, split: Split): Example {
    const passage = makePassage(random, split);
    const isNaming = random.chance(2 / 3);
    const entries = isNaming ? chooseEntries(random, passage) : [...passage.facts].map(
      ([field, { value }]) => entryOf(FIELDS[field]!.keys[0]!, field, value),
    );
    const instruction = isNaming
      ? nameFields(random, blurred(random.pickOf(NAMING, split), random, split), entries)
      : blurred(random.pickOf(OPEN, split), random, split);
    const value = Object.fromEntries(entries.map((entry) => [entry.key, entry.value]));
    return {
      ...place(random, instruction, passage.text, (user) => ({
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
  const sentences = [blurred(random.pickOf(OPENINGS, split), random, split)];
  for (const field of fieldsOf(sentences[0]!)) facts.set(field, FIELDS[field]!.make(random, split));
  const others = random.shuffle(Object.keys(ADDITIONS)).filter((field) => !facts.has(field));
  const room = MAX_FIELDS - facts.size;
  for (const field of others.slice(0, Math.min(room, random.pick([0, 0, 0, 1, 1, 2])))) {
    facts.set(field, FIELDS[field]!.make(random, split));
    sentences.push(blurred(random.pickOf(ADDITIONS[field]!, split), random, split));
  }
  const person = facts.get("person")?.text;
  if (person && facts.has("email") && random.chance(0.7)) {
    facts.set("email", plain(email(random, split, person)));
  }
  const [currency, written] = random.pick(CURRENCIES);
  const texts = Object.fromEntries([...facts].map(([field, { text }]) => [field, text]));
  if (texts.amount) texts.amount = fill(random.pick(written), { amount: texts.amount });
  if (texts.job) texts.aJob = withArticle(texts.job);
  const text = fill(sentences.join(" "), texts);
  return { text, facts, ...(texts.amount && { currency }) };
}

/** The fields that a sentence has places for, in its order. */
function fieldsOf(sentence: string): string[] {
  return [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name === "aJob" ? "job" : name!);
}

function entryOf(key: string, field: string, value: unknown): Entry {
  const { schema } = FIELDS[field]!;
  return {
    key,
    value,
    schema: value === null ? { ...schema, type: [schema.type, "null"] } : schema,
  };
}

/** Some of the facts under one of their names each, at times with one that the text lacks. */
function chooseEntries(random: Random, { facts, currency }: Passage): Entry[] {
  const count = random.integer(1, Math.min(MAX_FIELDS, facts.size));
  const values = new Map<string, unknown>(
    random.sample([...facts], count).map(([field, { value }]) => [field, value]),
  );
  if (currency && values.has("amount") && random.chance(0.3)) values.set("currency", currency);
  if (random.chance(0.05)) {
    const missing = Object.keys(ADDITIONS).filter((field) => !facts.has(field));
    values.set(random.pick(missing), null);
  }
  return [...values].map(([field, value]) => {
    const { keys } = FIELDS[field]!;
    return entryOf(random.chance(0.4) ? keys[0]! : random.pick(keys), field, value);
  });
}

/** Puts the names of the fields into the instruction, in one of the ways people write them. */
function nameFields(random: Random, instruction: string, entries: readonly Entry[]): string {
  const keys = entries.map(({ key }) => key);
  const styles = [
    () => enumerate(keys),
    () => keys.join(", "),
    () => keys.map((key) => `"${key}"`).join(", "),
    () => `the ${enumerate(keys)}`,
    () => enumerate(keys.map((key) => `the ${key}`)),
  ];
  // "The keys the age" would not be English.
  const isList = /(?:keys|fields:?) \{fields\}/i.test(instruction);
  return fill(instruction, { fields: random.pick(isList ? styles.slice(0, 3) : styles)() });
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
