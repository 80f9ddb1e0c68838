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
const tokenizer = smallTokenizer(
  [
    ...new Set(
      list(
        3000,
        (index) =>
          list(
            2 + index % 9,
            (at) => LETTERS[(Math.imul(index + 7, 2654435761) >>> (3 * at + 1)) % LETTERS.length],
          ).join(""),
      ),
    ),
  ],
  [],
);

/** Steps of work between two looks, which are a few milliseconds: a look each 1024, and those of one count. */
const MOST_STEPS = 8192;

/** Steps of a mask, 300 ns each: its budget, a quarter to go on among what is known, and what is in its midst. */
const MOST_MASK_STEPS = 200_000;

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

Deno.test("completion() of an end that is hard to find gives up after a bounded number of steps", () => {
  for (const pattern of ["^.*a.{20}$", "^.*[ab].{40}b.{40}$"]) {
    const watch = new Watch();
    counting(watch, () => {
      const matcher = compileSchema(text(pattern, { minLength: 60 }), tokenizer).matcher();
      const before = watch.total;
      matcher.completion();
      const steps = watch.total - before;
      assert(steps <= MOST_COMPLETION_STEPS, `${pattern}: ${steps} steps`);
    });
  }
});
