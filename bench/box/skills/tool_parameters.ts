// The parameters of the tools in the catalogue: what each kind may be called, its JSON Schema, and
// values as a user says them and as a call has them. Also what tools give back.

import type { Random } from "../random.ts";
import type { Split } from "../types.ts";
import { city, firstName, fullName } from "../words/names.ts";
import type { OpenClass } from "../words/open_class.ts";
import {
  CHORES,
  FOREIGN_WORDS,
  HEADLINES,
  HOBBIES,
  ITEMS,
  LANGUAGES,
  MEANINGS,
  MESSAGES,
  ROOMS,
  SKIES,
  TITLES,
  TOPICS,
  WEEKDAYS,
  WORDS,
} from "../words/things.ts";
import { amount, company, integer, time, type Written } from "../words/values.ts";

/** A value and the schema that it fits. */
export interface Typed extends Written {
  schema: Record<string, unknown>;
}

/** A kind of parameter. */
export interface Kind {
  /** What a description of the parameter says. */
  meaning: string;
  /** What a tool may call it. */
  names: readonly string[];
  make(random: Random, split: Split): Typed;
}

type Make<T> = (random: Random, split: Split) => T;

const names = (text: string): readonly string[] => text.split(" ");

function typed(type: string, value: string | number, text = String(value)): Typed {
  return { schema: { type }, value, text };
}

function strings(meaning: string, text: string, make: Make<string>): Kind {
  return {
    meaning,
    names: names(text),
    make: (random, split) => typed("string", make(random, split)),
  };
}

function listed(meaning: string, text: string, words: OpenClass): Kind {
  return strings(meaning, text, (random, split) => words.pick(random, split));
}

function integers(meaning: string, text: string, least: number, most: number): Kind {
  return {
    meaning,
    names: names(text),
    make: (random, split) => typed("integer", integer(random, split, least, most)),
  };
}

function currencies(
  meaning: string,
  text: string,
  list: readonly (readonly [string, string])[],
): Kind {
  return {
    meaning,
    names: names(text),
    make: (random) => typed("string", ...random.pick(list)),
  };
}

/** A choice between words; some tools take the first of two words as true. */
function choice(meaning: string, text: string, values: readonly string[], asBoolean = 0): Kind {
  return {
    meaning,
    names: names(text),
    make: (random) => {
      const value = random.pick(values);
      if (random.chance(asBoolean)) {
        return { schema: { type: "boolean" }, value: value === values[0], text: value };
      }
      return { schema: { type: "string", enum: [...values] }, value, text: value };
    },
  };
}

export const KINDS: Record<string, Kind> = {
  city: strings("The city", "city location place", city),
  cityFrom: strings("Where it starts", "from origin start", city),
  cityTo: strings("Where it ends", "to destination end", city),
  person: strings("The person", "to recipient person", firstName),
  guest: strings("The full name", "name guest customer", fullName),
  firm: strings("The company", "company firm name", company),
  message: listed("What it says", "message text body", MESSAGES),
  chore: listed("What is to be done", "text task what", CHORES),
  title: listed("The title of the song", "title song track", TITLES),
  word: listed("The word", "word term text", WORDS),
  topic: listed("What to look for", "query topic q", TOPICS),
  language: listed(
    "The language to translate into",
    "language target to",
    LANGUAGES,
  ),
  room: listed("The room", "room place location", ROOMS),
  item: listed("The product", "item product article", ITEMS),
  hobby: listed("What it is about", "event title subject", HOBBIES),
  weekday: strings(
    "The day of the week",
    "day date when",
    (random) => random.pick(WEEKDAYS),
  ),
  time: strings("The time, as in 07:30", "time at start_time", time),
  minutes: integers("How many minutes", "minutes duration length", 2, 90),
  people: integers("How many people", "people guests seats", 2, 20),
  count: integers("How many", "count quantity number", 2, 60),
  percent: integers("In percent", "level percent value", 1, 100),
  warmth: integers("In degrees Celsius", "degrees temperature value", 5, 30),
  first: integers("The first number", "a x first", 2, 999),
  second: integers("The second number", "b y second", 2, 999),
  money: {
    meaning: "How much money",
    names: names("amount value sum"),
    make: (random, split) => typed("number", amount(random, split)),
  },
  currencyFrom: currencies(
    "The currency of the amount, as in EUR",
    "from source from_currency",
    [
      ["EUR", "euros"],
      ["USD", "dollars"],
      ["GBP", "pounds"],
    ],
  ),
  currencyTo: currencies(
    "The currency wanted, as in EUR",
    "to target to_currency",
    [
      ["JPY", "yen"],
      ["CHF", "francs"],
      ["INR", "rupees"],
    ],
  ),
  state: choice("On or off", "on state switch_on", ["on", "off"], 0.5),
};

/** A value that a tool gives back, under one of several keys. */
export interface Given {
  keys: readonly string[];
  make: Make<string | number>;
}

function numbersGiven(text: string, least: number, most: number): Given {
  return { keys: names(text), make: (random, split) => integer(random, split, least, most) };
}

function wordsGiven(text: string, words: OpenClass): Given {
  return { keys: names(text), make: (random, split) => words.pick(random, split) };
}

export const GIVEN: Record<string, Given> = {
  temperature: {
    keys: names("temperature temp degrees"),
    make: (random, split) =>
      (10 * integer(random, split, 1, 38) + (random.chance(0.25) ? random.integer(1, 9) : 0)) / 10,
  },
  sky: wordsGiven("sky conditions weather", SKIES),
  clock: { keys: names("time local_time now"), make: time },
  number: numbersGiven("result value answer", 2, 9999),
  price: { keys: names("price amount cost"), make: amount },
  distance: numbersGiven("distance km kilometres", 11, 9000),
  inhabitants: numbersGiven("population inhabitants people", 1000, 99_999_999),
  translation: wordsGiven("translation text result", FOREIGN_WORDS),
  meaning: wordsGiven("definition meaning description", MEANINGS),
  minutesGiven: numbersGiven("minutes duration travel_minutes", 5, 300),
  stock: numbersGiven("stock quantity available", 1, 900),
  headline: wordsGiven("headline title news", HEADLINES),
  phoneGiven: {
    keys: names("phone number phone_number"),
    make: (random, split) => `555-${integer(random, split, 1000, 9999)}`,
  },
  page: wordsGiven("title result page", TITLES),
};
