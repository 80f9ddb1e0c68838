// How much a mask does, and how much is done between two looks at the flag that calls work off: in steps
// of work as compilers and masks count them, 300 ns each, and in operations on decimals, which sets of
// numbers are made by.

import { assert } from "@std/assert";
import { CancelFlag, cancellable } from "../../../engine/cancellation.ts";
import { compileSchema } from "../../../engine/grammar/mod.ts";
import { Decimal } from "../../../engine/grammar/json/mod.ts";
import { Work } from "../../../engine/grammar/language/mod.ts";
import { smallTokenizer, tokensOf } from "./small_tokenizer.ts";

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const LETTERS = ["a", "b", "7", "0", ".", "-", " ", "é", '"'];
/** Thousands of tokens of some letters. */
const tokensFrom = (letters: readonly string[]) => [
  ...new Set(
    list(
      3000,
      (index) =>
        list(
          2 + index % 9,
          (at) => letters[(Math.imul(index + 7, 2654435761) >>> (3 * at + 1)) % letters.length],
        ).join(""),
    ),
  ),
];
const tokenizer = smallTokenizer(tokensFrom(LETTERS), []);

/** As in the vocabularies of models, few of its tokens have a quote. */
const fewQuotes = smallTokenizer([...tokensFrom(LETTERS.slice(0, -1)), '","', 'a"', '7":'], []);

/** Steps of work between two looks, which are a few milliseconds: a look each 1024, and those of one count. */
const MOST_STEPS = 8192;

/** Steps of a mask, 300 ns each: its budgets, a quarter to go on among what is known, and what is in its midst. */
const MOST_MASK_STEPS = 90_000;

/** Steps of a mask that nothing makes hard. */
const MOST_OPEN_STEPS = 6000;

/** Steps of writing an end out: its budget, and what is in its midst. */
const MOST_COMPLETION_STEPS = 2_200_000;

/** Notes the most steps between two looks. */
class Watch extends CancelFlag {
  #steps = 0;
  mostSteps = 0;
  /** All steps so far. */
  total = 0;

  count(steps: number): void {
    this.total += steps;
    this.#steps += steps;
    this.mostSteps = Math.max(this.mostSteps, this.#steps);
  }

  override throwIfAborted(): void {
    this.#steps = 0;
  }
}

/** Counts what is worked by anybody, until it is put back. */
function counting(watch: Watch, work: () => void): void {
  const { spend } = Work.prototype;
  const { compare, floorAt } = Decimal.prototype;
  Work.prototype.spend = function (steps) {
    watch.count(steps);
    spend.call(this, steps);
  };
  Decimal.prototype.compare = function (other) {
    watch.count(1);
    return compare.call(this, other);
  };
  Decimal.prototype.floorAt = function (exponent) {
    watch.count(1);
    return floorAt.call(this, exponent);
  };
  try {
    work();
  } finally {
    Work.prototype.spend = spend;
    Object.assign(Decimal.prototype, { compare, floorAt });
  }
}

const text = (pattern: string, more: object = {}) => ({ type: "string", pattern, ...more });

const CASES: Readonly<Record<string, unknown>> = {
  "numbers one by one": { enum: list(20_000, (index) => 1.5 * index) },
  "multiples of a large prime": {
    type: "array",
    items: { type: "integer", multipleOf: 1_000_000_007, minimum: -1e15 },
    minItems: 3,
  },
  "multiples that are none of others": {
    type: "array",
    items: { type: "number", multipleOf: 0.007, not: { multipleOf: 0.35 }, minimum: 1e-20 },
    minItems: 3,
  },
  "intervals": {
    anyOf: list(2000, (index) => ({ type: "number", minimum: 2 * index, maximum: 2 * index + 1 })),
  },
  "digits by the hundred": {
    type: "array",
    items: { type: "number", minimum: 1e290 },
    minItems: 2,
  },
  "unique texts": {
    type: "array",
    uniqueItems: true,
    minItems: 20,
    items: text("^(a|b|.{3}a.{9})*$"),
  },
  "keys of overlapping patterns": {
    type: "object",
    minProperties: 3,
    patternProperties: Object.fromEntries(
      list(5, (at) => [`^.*${LETTERS[at]}.*b`, { minimum: at }]),
    ),
  },
  "keys that need each other": {
    type: "object",
    minProperties: 40,
    dependentRequired: Object.fromEntries(list(300, (at) => [`a${at}`, [`a${(7 * at) % 300}`]])),
  },
  "objects of many kinds": {
    anyOf: list(100, (at) => ({
      type: "object",
      properties: { kind: { const: `k${at}` }, [`p${at}`]: { type: "string" } },
      required: ["kind"],
    })),
  },
  "look-aheads": text(`^${list(12, (at) => `(?=.*a.{${at + 1}}b)`).join("")}.*$`),
  "long names": { type: "string", format: "idn-hostname", minLength: 20 },
  "texts of which one matches": { oneOf: list(20, (at) => text(`a.{${at}}b`)) },
  "constants of 200 objects": {
    anyOf: list(200, (at) => ({
      type: "object",
      properties: { kind: { const: `k${at}` } },
      required: ["kind"],
    })),
  },
};

for (const [name, schema] of Object.entries(CASES)) {
  Deno.test(`compileSchema() and masks of ${name} take few steps, and never many without a look`, () => {
    const watch = new Watch();
    counting(watch, () =>
      cancellable([watch], () => {
        const matcher = compileSchema(JSON.stringify(schema), tokenizer).matcher();
        const least = matcher.completion()?.length ?? 50;
        for (let count = 0; count < 12 && !matcher.isEnded; count++) {
          const before = watch.total;
          const tokens = tokensOf(matcher.mask({ remaining: Math.ceil(1.05 * least) + 2 - count }));
          const steps = watch.total - before;
          assert(steps <= MOST_MASK_STEPS, `mask ${count} takes ${steps} steps`);
          assert(matcher.accept(tokens[Math.imul(count + 1, 40_503) % tokens.length]!));
        }
      }));
    assert(watch.mostSteps > 0);
    assert(watch.mostSteps <= MOST_STEPS, `${watch.mostSteps} steps`);
  });
}

Deno.test("the first mask of unique items counts no more values of an item than there are items", () => {
  const watch = new Watch();
  counting(watch, () => {
    const few = { enum: [1, 2, 3] };
    const items = {
      type: "object",
      properties: { key0: { type: "boolean" }, key1: few, key2: few },
      required: ["key0"],
    };
    const schema = { type: "array", uniqueItems: true, minItems: 2, items };
    const matcher = compileSchema(schema, tokenizer).matcher();
    assert(matcher.accept(tokenizer.encode("[")[0]!));
    const before = watch.total;
    assert(tokensOf(matcher.mask()).length > 0);
    const steps = watch.total - before;
    assert(steps <= MOST_OPEN_STEPS, `${steps} steps`);
  });
});

/** Texts that can be completed whatever is written, though their patterns lead to thousands of states. */
const OPEN: Readonly<Record<string, unknown>> = {
  "look-aheads": CASES["look-aheads"],
  "a distant past": text("a.{100}b.{100}c"),
  "all of 20 distances": { allOf: list(20, (at) => text(`a.{${at}}b`)) },
  "any of 20 distances": { anyOf: list(20, (at) => text(`a.{${at}}b`)) },
  "distances in a text of 40 to 900 characters": {
    allOf: list(9, (at) => text(`b.{${at + 2}}7|é{${at}}`)),
    minLength: 40,
    maxLength: 900,
  },
};

for (const [name, schema] of Object.entries(OPEN)) {
  Deno.test(`masks of ${name} take few steps and allow all that needs no escape`, () => {
    const watch = new Watch();
    counting(watch, () => {
      const matcher = compileSchema(JSON.stringify(schema), fewQuotes).matcher();
      matcher.accept(fewQuotes.encode('"')[0]!);
      const plain = list(fewQuotes.vocabularySize, (token) => token)
        .filter((token) => token >= 0x20 && /^[^"\\\p{C}\uFFFD]+$/u.test(fewQuotes.piece(token)))
        .filter((token) => !fewQuotes.endOfGeneration.has(token));
      for (let count = 0; count < 6; count++) {
        const before = watch.total;
        const tokens = new Set(tokensOf(matcher.mask()));
        const steps = watch.total - before;
        assert(steps <= MOST_OPEN_STEPS, `mask ${count} takes ${steps} steps`);
        const missing = plain.filter((token) => !tokens.has(token));
        assert(missing.length === 0, `${missing.length} tokens are missing`);
        assert(matcher.accept(plain[Math.imul(count + 1, 40_503) % plain.length]!));
      }
    });
  });
}

/** Texts that are begun, whose pattern remembers what came many characters ago. */
const BEGUN: readonly (readonly [pattern: string, minLength: number, text: string])[] = [
  ["^.*a.{20}$", 60, "abaab7a0ab"],
  ["^.*a.{20}$", 60, "0aa.ba-aab7aaa"],
  ["^.*a.{16}$", 48, "abaab7a0ab"],
];

Deno.test("completion() of a text that is begun finds an end in a bounded number of steps", () => {
  for (const [pattern, minLength, begun] of BEGUN) {
    const watch = new Watch();
    counting(watch, () => {
      const matcher = compileSchema(text(pattern, { minLength }), tokenizer).matcher();
      const write = (bytes: Iterable<number>) => {
        for (const byte of bytes) assert(matcher.accept(byte));
      };
      write(new TextEncoder().encode(`"${begun}`));
      const before = watch.total;
      const end = matcher.completion();
      const steps = watch.total - before;
      assert(steps <= MOST_COMPLETION_STEPS, `${pattern} after ${begun}: ${steps} steps`);
      assert(end, `${pattern} after ${begun}: no end in ${steps} steps`);
      write(end);
      assert(matcher.isComplete);
    });
  }
});

Deno.test("completion() of an end that is not found gives up after a bounded number of steps", () => {
  const watch = new Watch();
  counting(watch, () => {
    const pattern = text("^.*[ab].{40}b.{40}$", { minLength: 60 });
    const matcher = compileSchema(pattern, tokenizer).matcher();
    const before = watch.total;
    matcher.completion();
    assert(watch.total - before <= MOST_COMPLETION_STEPS, `${watch.total - before} steps`);
  });
});
