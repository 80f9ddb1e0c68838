// Masks of texts that have to end in so many tokens: exactly those tokens after which the shortest end is
// near enough, found without a walk through all tokens.

import { assert, assertEquals } from "@std/assert";
import { compileSchema } from "../../../../engine/grammar/mod.ts";
import { Machine } from "../../../../engine/grammar/machine/machine.ts";
import { bytePairVocabulary } from "../fuzz/vocabularies.ts";

const { tokenizer } = bytePairVocabulary();
const encoder = new TextEncoder();

const long = { type: "string", minLength: 120 };
const object = (properties: object) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

/** A schema, and how a document of it begins. */
const CASES: readonly (readonly [name: string, schema: object, start: string])[] = [
  ["a long string", long, '"the value'],
  ["a long string of letters", { type: "string", pattern: "^[a-z ]{100,}$" }, '"the value'],
  ["one of two long strings", object({ a: long, b: long }), '{"a": "the value'],
  [
    "a string of bounded length",
    { type: "string", minLength: 100, maxLength: 110 },
    '"the value é',
  ],
  ["one of many strings", { type: "array", items: { type: "string" }, minItems: 60 }, '["a", "the'],
  [
    "the first of many keys",
    object(Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`key${at}`, {
      type: "string",
    }]))),
    '{"key0": "the',
  ],
  [
    "a long string or null in one of many objects",
    {
      type: "array",
      items: object({ a: { anyOf: [long, { type: "null" }] }, b: { type: "integer" } }),
      minItems: 3,
    },
    '[{"a": "the value',
  ],
];

function begin(schema: object, start: string) {
  const matcher = compileSchema(schema, tokenizer).matcher();
  for (const byte of encoder.encode(start)) assert(matcher.accept(byte), start);
  return matcher;
}

for (const [name, schema, start] of CASES) {
  Deno.test(`a mask of ${name} has the tokens that leave a near enough end`, () => {
    const all = begin(schema, start).mask().slice();
    const missing = begin(schema, start).completion()!.length;
    const after = new Map<number, number>();
    // To find the end after each of them takes long: every fourth stands for all.
    for (let token = 0; token < tokenizer.vocabularySize; token += 4) {
      if (tokenizer.endOfGeneration.has(token) || !(all[token >>> 5]! >>> (token & 31) & 1)) {
        continue;
      }
      const matcher = begin(schema, start);
      assert(matcher.accept(token));
      after.set(token, matcher.completion()!.length);
    }
    for (const slack of [-3, -1, 0, 1, 2, 5, 6, 8, 40]) {
      const limit = missing + slack;
      const expected = [...after].filter(([, left]) => left <= limit).map(([token]) => token);
      if (expected.length === 0) continue;
      const mask = begin(schema, start).mask({ remaining: limit + 2 });
      const found = [...after.keys()].filter((token) => mask[token >>> 5]! >>> (token & 31) & 1);
      const pieces = (tokens: number[]) => tokens.map((token) => tokenizer.piece(token)).join(" ");
      assertEquals(pieces(found), pieces(expected), `${slack} bytes more than are missing`);
    }
  });

  Deno.test(`a mask of ${name} takes few steps`, () => {
    const matcher = begin(schema, start);
    const missing = matcher.completion()!.length;
    const { step } = Machine.prototype;
    let steps = 0;
    Machine.prototype.step = function (state, byte) {
      steps++;
      return step.call(this, state, byte);
    };
    try {
      for (const slack of [-60, 0, 4, 30, 3 * missing]) {
        matcher.mask({ remaining: missing + slack });
        steps = 0;
        matcher.mask({ remaining: missing + slack });
        assert(steps < 200, `${steps} steps with ${slack} bytes more than are missing`);
      }
    } finally {
      Machine.prototype.step = step;
    }
  });
}
