// What a tool's schema asks of its arguments holds in families that do not write them as one JSON text,
// too: random calls under the mask are read, streamed and not, and judged by Ajv. What such a family
// does not hold is named.

import { ANSWER_FAMILIES } from "../../../../../engine/chat/answers/families/mod.ts";
import { compileGrammar, type Matcher } from "../../../../../engine/grammar/mod.ts";
import { judgeOf } from "../../../grammar/fuzz/judge.ts";
import { randomNumbers, smallTokenizer, tokensOf } from "../../../grammar/small_tokenizer.ts";
import { share } from "../../../../share.ts";
import { formatOf } from "./format_of.ts";
import { readAnswer } from "./read_answer.ts";
import { assert, assertEquals } from "@std/assert";

const SCHEMAS: Record<string, unknown>[] = [
  { type: "string", pattern: "^[a-z]{2}-\\d+$" },
  { type: "string", pattern: "(?:ab|<)+" },
  { type: "string", pattern: "^(?!x)[x-z]*$", maxLength: 6 },
  { type: "string", format: "date" },
  { type: "string", format: "uuid" },
  { type: "string", minLength: 3, maxLength: 5 },
  { type: "string", minLength: 2, maxLength: 300 },
  { type: "string", maxLength: 0 },
  { type: "string", minLength: 2, maxLength: 9000 },
  { enum: ["up", "b c", "5", "null", '"q"', "[1]", "</parameter>"] },
  { const: "5" },
  { enum: ["up", 5, null, true, "7", 1.5], type: ["string", "integer", "null"] },
  { type: ["string", "null"], pattern: "^n" },
  { type: ["string", "integer"], maxLength: 3, minimum: 5, maximum: 900 },
  { anyOf: [{ type: "string", pattern: "^[tf]" }, { type: "boolean" }] },
  {
    anyOf: [{ type: "string", format: "time" }, { type: "integer", minimum: 10 }, { type: "null" }],
  },
  { allOf: [{ type: "string", minLength: 2 }, { pattern: "^x" }] },
  { type: "string", maxLength: 2, not: { pattern: "^[ -~]" } },
  { type: ["string", "array"], maxLength: 4, items: { type: "integer" }, maxItems: 2 },
  { type: ["string", "object"], minLength: 1, properties: { a: { enum: ["x"] } } },
  { type: "string", if: { minLength: 3 }, then: { pattern: "^a" }, else: { pattern: "^b" } },
  { $ref: "#/$defs/code" },
  { $ref: "#/$defs/code", maxLength: 4 },
  { $ref: "#/properties/other" },
  { type: "array", items: { $ref: "#/$defs/code" }, minItems: 1, maxItems: 3 },
  {
    type: "object",
    properties: { code: { $ref: "#/$defs/code" }, size: { type: "integer", maximum: 3 } },
    required: ["code"],
    additionalProperties: false,
  },
];

const tokenizer = smallTokenizer(
  [
    ...['"', '"}', "ab", "x", "5", "-", "null", "true", "[", "]", "{", "<", "</", "xyz", "é", " a"],
    ..."abcdefghijklmnopqrstuvwxyz0123456789",
    "</parameter>",
    "\n",
  ],
  [],
);

/** What no family holds that writes arguments one by one, by the pointers of all. */
const UNHELD: [parameters: Record<string, unknown>, keywords: string[]][] = [
  [{ properties: { a: {} }, minProperties: 1, maxProperties: 2 }, [
    " maxProperties",
    " minProperties",
  ]],
  [{ properties: { a: {} }, patternProperties: { "^a": { maxLength: 1 } } }, [
    " patternProperties",
  ]],
  [{ properties: { a: {} }, dependentRequired: { a: ["b"] } }, [" dependentRequired"]],
  [{ properties: { a: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] }, [" anyOf"]],
  [{ $ref: "#/$defs/one", $defs: { one: { propertyNames: { maxLength: 2 } } } }, [
    "/$defs/one propertyNames",
  ]],
  [{ properties: { a: { type: "string" } }, required: ["b"], additionalProperties: false }, []],
];

/** Schemas that are not held by families that write the members of nested values one by one, too. */
const UNHELD_WITHIN: typeof UNHELD = [
  [{ properties: { a: { type: "array", uniqueItems: true, minItems: 2 } } }, [
    "/properties/a uniqueItems",
  ]],
  [{ properties: { "a/b": { items: { type: "object", properties: {}, maxProperties: 1 } } } }, [
    "/properties/a~1b/items maxProperties",
  ]],
  [{ properties: { a: { anyOf: [{ type: "array" }, { type: "null" }] } } }, [
    "/properties/a anyOf",
  ]],
];

/** A tool whose arguments have some of the schemas. */
function toolOf(schemas: readonly unknown[], isRequired: () => boolean) {
  const names = schemas.map((_, index) => `value${index}`);
  const parameters = {
    type: "object",
    properties: {
      ...Object.fromEntries(names.map((name, index) => [name, schemas[index]])),
      other: { type: "string", pattern: "^o{1,3}$" },
    },
    required: names.filter(isRequired),
    additionalProperties: false,
    $defs: { code: { type: "string", pattern: "^[A-Z]\\d{2,6}$" } },
  };
  return { name: "f", parameters };
}

/** A random text that a mask allows, with some tokens more than the shortest. */
function walk(matcher: Matcher, random: () => number, more: number): string {
  const bytes: number[] = [];
  // The token of the end is not counted.
  const fewest = matcher.missing();
  assert(fewest < Infinity, "the shortest text is found in time");
  for (let left = fewest + more; left > 0 && !matcher.isEnded; left--) {
    const tokens = tokensOf(matcher.mask({ remaining: left }));
    const many = tokens.filter((token) => token >= 256);
    const from = many.length > 0 && random() < 0.7 ? many : tokens;
    const token = from[Math.floor(random() * from.length)]!;
    assert(matcher.accept(token));
    if (!tokenizer.isControl(token)) bytes.push(...tokenizer.tokenBytes(token));
  }
  assert(matcher.isEnded || matcher.isComplete, "a text ends in the tokens that are left");
  return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
}

/** Schemas of one tool. */
const GROUP = 5;

for (const [index, family] of ANSWER_FAMILIES.entries()) {
  const format = formatOf(family);
  const { name, calls: syntax } = format;
  if (!syntax?.unheld) continue;
  Deno.test(`the family ${name} writes arguments that fit their schemas`, () => {
    const random = randomNumbers(7);
    // Every day each family has some of the schemas, and all families together have all.
    const stride = share(3, 1);
    for (let first = index % stride * GROUP; first < SCHEMAS.length; first += stride * GROUP) {
      const tool = toolOf(SCHEMAS.slice(first, first + GROUP), () => random() < 0.7);
      assertEquals(syntax.unheld!(tool), []);
      const judge = judgeOf(tool.parameters)!;
      const grammar = syntax.grammar([tool], { parallel: false });
      const compiled = compileGrammar({ root: grammar }, tokenizer);
      for (let i = 0; i < share(3, 40); i++) {
        const answer = walk(compiled.matcher(), random, 60);
        const { calls } = readAnswer(format, "", answer, [tool], { piece: 5 });
        const streamed = readAnswer(format, "", answer, [tool], { piece: 3, streaming: true });
        assertEquals(streamed.calls, calls, answer);
        assertEquals(calls.map(([name]) => name), ["f"], answer);
        assertEquals(judge(calls[0]![1]), undefined, answer);
      }
    }
  });
}

for (const family of ANSWER_FAMILIES) {
  const { name, calls } = formatOf(family);
  if (!calls?.unheld) continue;
  Deno.test(`the family ${name} names what it does not hold`, () => {
    const named = (parameters: unknown) =>
      calls.unheld!({ name: "f", parameters }).map((one) => `${one.pointer} ${one.keyword}`).sort();
    for (const [parameters, keywords] of UNHELD) assertEquals(named(parameters), keywords);
    const isNested = ["gemma4", "function-gemma", "minimax-m3"].includes(name);
    for (const [parameters, keywords] of UNHELD_WITHIN) {
      assertEquals(named(parameters), isNested ? keywords : []);
    }
  });
}
