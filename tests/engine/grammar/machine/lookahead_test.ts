// What a machine must know long before it matters: places of unique arrays that few values fit, and
// unions that stay undecided over many alternatives. Every way on is walked, byte by byte.

import { assert, assertEquals } from "@std/assert";
import { compileSchema } from "../../../../engine/grammar/mod.ts";
import { bytePairVocabulary } from "../fuzz/vocabularies.ts";
import { tokensOf } from "../small_tokenizer.ts";
import { fateOf, machineFor, object } from "./fake_automata.ts";

const { tokenizer } = bytePairVocabulary();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** All documents of a schema without white space; no mask on the way is empty. */
function allDocuments(schema: object): Set<string> {
  const compiled = compileSchema(schema, tokenizer, { whitespace: "none" });
  const found = new Set<string>();
  const open = [""];
  const known = new Set(open);
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const matcher = compiled.matcher();
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    for (const byte of bytes) assert(matcher.accept(byte));
    const tokens = tokensOf(matcher.mask());
    assert(tokens.length > 0, `nothing may follow ${decoder.decode(bytes)}`);
    if (tokens.some((token) => tokenizer.endOfGeneration.has(token))) {
      found.add(decoder.decode(bytes));
    }
    for (const token of tokens) {
      if (tokenizer.endOfGeneration.has(token)) continue;
      const next = text + String.fromCharCode(...tokenizer.tokenBytes(token));
      if (!known.has(next)) open.push(next);
      known.add(next);
    }
  }
  return found;
}

const UNIQUE: readonly [schema: object, documents: readonly string[]][] = [
  [{ prefixItems: [{ enum: ["a", "b"] }, { enum: ["a"] }], items: false, minItems: 2 }, [
    '["b","a"]',
  ]],
  [{ prefixItems: [{ enum: [1, 2] }], items: { enum: [1] }, minItems: 2 }, ["[2,1]"]],
  [{ prefixItems: [{ enum: ["é", 1] }, { enum: ["é"] }], items: false, minItems: 2 }, ['[1,"é"]']],
  [
    {
      prefixItems: [{ enum: [1, 2, 3] }, { enum: [1, 2] }, { enum: [[1], 1, 2] }],
      items: { enum: [2] },
      minItems: 4,
    },
    ["[3,1,[1],2]"],
  ],
  [
    { items: { enum: [1, 2, 3] }, contains: { const: 3 }, minItems: 2, maxItems: 2 },
    ["[1,3]", "[2,3]", "[3,1]", "[3,2]"],
  ],
];

for (const [schema, documents] of UNIQUE) {
  Deno.test(`items leave values for the places after them in ${JSON.stringify(schema)}`, () => {
    const found = allDocuments({ type: "array", uniqueItems: true, ...schema });
    assertEquals([...found].sort(), [...documents].sort());
  });
}

/** Arrays of unique items within unique items, with the number of their documents. */
const few = { type: "array", uniqueItems: true, items: { enum: [1, 2] } };
const one = {
  type: "object",
  propertyNames: { enum: ["a", "b"] },
  additionalProperties: { const: 1 },
};
const NESTED: readonly (readonly [schema: object, documents: number])[] = [
  // [], [1], [2], [1,2] and [2,1], up to two or three of them in any order.
  [{ items: few, maxItems: 2 }, 1 + 5 + 5 * 4],
  [{ items: { ...few, minItems: 1 }, minItems: 3, maxItems: 3 }, 4 * 3 * 2],
  [{ items: { ...few, minItems: 2 } }, 1 + 2 + 2],
  [{ items: { ...few, items: few, maxItems: 1 }, minItems: 6 }, 720],
  [{ items: { type: "object", properties: { a: few }, required: ["a"] }, maxItems: 2 }, 26],
  // {}, two of one key, and one of two, which is the same in either order but can be written in both.
  [{ items: one, maxItems: 1 }, 1 + 5],
  [{ items: one, minItems: 4 }, 24 * 2],
  [{
    prefixItems: [{ enum: [[1, 2], [1]] }, { ...few, minItems: 2 }, { const: [2, 1] }],
    minItems: 3,
    maxItems: 3,
  }, 1],
];

for (const [schema, documents] of NESTED) {
  Deno.test(`unique items within unique items are never a dead end in ${JSON.stringify(schema)}`, () => {
    const found = allDocuments({ type: "array", uniqueItems: true, maxItems: 6, ...schema });
    assertEquals(found.size, documents);
  });
}

/** A union of objects that only their last keys tell apart. */
function alternatives(count: number) {
  const objects = Array.from({ length: count }, (_, i) => object({ a: 1, [`b${i}`]: 1 }));
  return machineFor([{ objects }, { null: true }]);
}

Deno.test("a union of 500 objects is undecided up to the key that decides it", () => {
  const machine = alternatives(500);
  for (const last of [0, 255, 256, 499]) {
    assertEquals(fateOf(machine, `{"a":null,"b${last}":null}`), "complete");
  }
  assertEquals(fateOf(machine, '{"a":null,"b500"'), "refused");
});

Deno.test("of a union of too many objects some are given up, and the others lead to an end", () => {
  const machine = alternatives(3000);
  const matcher = machine.matcher();
  assert(matcher.acceptBytes(encoder.encode('{"a":null,')));
  const rest = decoder.decode(matcher.completion());
  assert(/^"b\d+":null\}$/.test(rest), rest);
  assertEquals(fateOf(machine, '{"a":null,' + rest), "complete");
  assertEquals(fateOf(machine, '{"a":null,"b3000"'), "refused");
});

Deno.test("items that differ only in the order of keys are equal", () => {
  const { matcher } = compileSchema({ type: "array", uniqueItems: true }, tokenizer, {
    anyOrder: true,
    whitespace: "none",
  });
  const mayCome = (text: string) => {
    const begun = matcher();
    return encoder.encode(text).every((byte) => begun.accept(byte));
  };
  assert(!mayCome('[{"a":1,"b":2},{"b":2,"a":1}'));
  assert(!mayCome('[[{"a":{"c":",}","d":[]}}],[{"a":{"d":[],"c":",}"}}]'));
  assert(!mayCome('[{"é":[1],"b":2,"\\"":{}},{"b":2,"\\"":{},"é":[1]}'));
  assert(mayCome('[{"a":1,"b":2},{"b":1,"a":2},{"b":2,"a":1,"c":3},[1,2],[2,1]]'));
});
