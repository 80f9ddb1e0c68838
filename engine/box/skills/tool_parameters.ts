// The parameters of the tools in the catalogue: what each kind may be called, its JSON Schema, and
// values as a user says them and as a call has them. Also what tools give back.

import type { Random } from "../random.ts";
import type { Split } from "../types.ts";
import { city, firstName, fullName } from "../words/names.ts";
import type { OpenClass } from "../words/open_class.ts";
import {
  CHORES,
  COUNTRIES,
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
  /** Five names; the last is held out. */
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
  city: strings("The city", "city location place city_name town", city),
  cityFrom: strings("Where it starts", "from origin start from_city departure", city),
  cityTo: strings("Where it ends", "to destination end to_city arrival", city),
  person: strings("The person", "to recipient person contact name", firstName),
  guest: strings("The full name", "name guest customer booked_by person", fullName),
  firm: strings("The company", "company firm name stock company_name", company),
  message: listed("What it says", "message text body content note", MESSAGES),
  chore: listed("What is to be done", "text task what title content", CHORES),
  title: listed("The title of the song", "title song track name song_name", TITLES),
  word: listed("The word", "word term text input entry", WORDS),
  topic: listed("What to look for", "query topic q search_text text", TOPICS),
  country: listed("The country", "country country_name nation state land", COUNTRIES),
  language: listed(
    "The language to translate into",
    "language target to target_language lang",
    LANGUAGES,
  ),
  room: listed("The room", "room place location where room_name", ROOMS),
  item: listed("The product", "item product article name thing", ITEMS),
  hobby: listed("What it is about", "event title subject name activity", HOBBIES),
  weekday: strings(
    "The day of the week",
    "day date when weekday on",
    (random) => random.pick(WEEKDAYS),
  ),
  time: strings("The time, as in 07:30", "time at start_time hour when", time),
  minutes: integers("How many minutes", "minutes duration length time duration_minutes", 2, 90),
  people: integers("How many people", "people guests seats persons party_size", 2, 20),
  count: integers("How many", "count quantity number amount how_many", 2, 60),
  percent: integers("In percent", "level percent value volume strength", 1, 100),
  degrees: integers("How many degrees", "degrees temperature value number temp", 5, 90),
  warmth: integers("In degrees Celsius", "degrees temperature value target temp", 5, 30),
  size: integers("The number", "value number length amount size", 2, 500),
  least: integers("The smallest number", "min low from minimum least", 1, 50),
  most: integers("The largest number", "max high to maximum most", 51, 999),
  first: integers("The first number", "a x first left number1", 2, 999),
  second: integers("The second number", "b y second right number2", 2, 999),
  money: {
    meaning: "How much money",
    names: names("amount value sum money price"),
    make: (random, split) => typed("number", amount(random, split)),
  },
  currencyFrom: currencies(
    "The currency of the amount, as in EUR",
    "from source from_currency base currency_from",
    [
      ["EUR", "euros"],
      ["USD", "dollars"],
      ["GBP", "pounds"],
    ],
  ),
  currencyTo: currencies(
    "The currency wanted, as in EUR",
    "to target to_currency into currency_to",
    [
      ["JPY", "yen"],
      ["CHF", "francs"],
      ["INR", "rupees"],
    ],
  ),
  unit: choice("The unit of the answer", "unit units scale format temperature_unit", [
    "celsius",
    "fahrenheit",
  ]),
  state: choice("On or off", "on state switch_on power turned_on", ["on", "off"], 0.5),
  lock: choice("Whether to lock it or to unlock it", "locked lock state closed status", [
    "lock",
    "unlock",
  ], 0),
  scale: choice("The scale wanted", "to target_unit to_scale unit target", [
    "celsius",
    "fahrenheit",
  ]),
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
    keys: names("temperature temp degrees value celsius"),
    make: (random, split) =>
      (10 * integer(random, split, 1, 38) + (random.chance(0.25) ? random.integer(1, 9) : 0)) / 10,
  },
  sky: wordsGiven("sky conditions weather description summary", SKIES),
  clock: { keys: names("time local_time now clock current_time"), make: time },
  number: numbersGiven("result value answer number output", 2, 9999),
  price: { keys: names("price amount cost value total"), make: amount },
  distance: numbersGiven("distance km kilometres length distance_km", 11, 9000),
  inhabitants: numbersGiven("population inhabitants people count residents", 1000, 99_999_999),
  mayor: { keys: names("mayor name person full_name result"), make: fullName },
  code: numbersGiven("code dialling_code prefix phone_code number", 20, 999),
  translation: wordsGiven("translation text result translated output", FOREIGN_WORDS),
  meaning: wordsGiven("definition meaning description text explanation", MEANINGS),
  minutesGiven: numbersGiven("minutes duration travel_minutes time eta", 5, 300),
  humidity: numbersGiven("humidity percent value relative_humidity level", 10, 100),
  stock: numbersGiven("stock quantity available count in_stock", 1, 900),
  headline: wordsGiven("headline title news text top_story", HEADLINES),
  phoneGiven: {
    keys: names("phone number phone_number telephone tel"),
    make: (random, split) => `555-${integer(random, split, 1000, 9999)}`,
  },
  page: wordsGiven("title result page top_result text", TITLES),
};
