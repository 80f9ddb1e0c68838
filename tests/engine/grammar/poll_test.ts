// How much is done between two looks at the flag that calls work off: what compilers and masks count of
// it is bounded exactly, and what they do not count by the time of the processor.

import process from "node:process";
import { assert } from "@std/assert";
import { CancelFlag, cancellable } from "../../../engine/cancellation.ts";
import { compileSchema } from "../../../engine/grammar/mod.ts";
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

/** Steps of work between two looks: those after which is asked, and those of one count at most. */
const MOST_STEPS = 8192;

/** Milliseconds of the processor: 100 on an idle machine. */
const MOST_TIME = 300;

/** Notes the most steps of work, and the most time, between two looks. */
class Watch extends CancelFlag {
  #steps = 0;
  #seen = processorTime();
  mostSteps = 0;
  mostTime = 0;
  looks = 0;

  count(steps: number): void {
    this.#steps += steps;
  }

  override throwIfAborted(): void {
    this.mostSteps = Math.max(this.mostSteps, this.#steps);
    this.#steps = 0;
    // To ask for the time takes long, and looks are many.
    if (++this.looks % 16 !== 0) return;
    const now = processorTime();
    this.mostTime = Math.max(this.mostTime, now - this.#seen);
    this.#seen = now;
  }
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
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
  Deno.test(`compileSchema() and masks of ${name} never go on for long without a look`, () => {
    const watch = new Watch();
    const { spend } = Work.prototype;
    Work.prototype.spend = function (steps: number) {
      watch.count(steps);
      spend.call(this, steps);
    };
    try {
      cancellable([watch], () => {
        const matcher = compileSchema(JSON.stringify(schema), tokenizer).matcher();
        const least = matcher.completion()?.length ?? 50;
        for (let count = 0; count < 12 && !matcher.isEnded; count++) {
          const tokens = tokensOf(matcher.mask({ remaining: Math.ceil(1.1 * least) + 2 - count }));
          assert(matcher.accept(tokens[Math.imul(count + 1, 40_503) % tokens.length]!));
        }
      });
    } finally {
      Work.prototype.spend = spend;
    }
    assert(watch.mostSteps <= MOST_STEPS, `${watch.mostSteps} steps`);
    assert(watch.mostTime < MOST_TIME, `${watch.mostTime} ms`);
  });
}
