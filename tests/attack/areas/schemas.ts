// Formats: schemas that cost too much, contradict themselves, or are merely odd. Each is refused with
// the keyword, or the answer is a document of it, in the eyes of Ajv.

import { BOX_MODEL, compileSchema, loadTokenizer } from "../../../engine/mod.ts";
import { Draws } from "../../engine/grammar/fuzz/draws.ts";
import { judgeOf } from "../../engine/grammar/fuzz/judge.ts";
import { SchemaMaker } from "../../engine/grammar/fuzz/random_schema.ts";
import { SCHEMAS } from "../../engine/grammar/fuzz/schemas.ts";
import { HOSTILE } from "../../engine/grammar/hostile_schemas.ts";
import { type Area, type Case, recordsOf, type Trial } from "../trial.ts";

const tokenizer = await loadTokenizer(BOX_MODEL.path);
/**
 * Longest schema that is judged by Ajv, in characters. For longer ones Ajv takes longer than a
 * model.
 */
const JUDGED_LENGTH = 20_000;
/** Schemas that are drawn. */
const RANDOM = 250;
/** Numbers of things, most of which are too large for an answer. */
const COUNTS = [1e3, 65_536, 1e6, 1e9, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 1e300];

/** Patterns of Python, Rust, Go, Java or PCRE, and what they mean in JavaScript, with its flags. */
const DIALECTS: readonly (readonly [pattern: string, meaning: RegExp])[] = [
  ["\\A[a-z]{3}\\z", /^[a-z]{3}$/u],
  ["\\A\\d+\\Z", /^\d+$/u],
  ["(?i)^yes|no$", /^yes|no$/iu],
  ["^(?P<q>['\"])\\w{1,9}(?P=q)$", /^(['"])\w{1,9}\1$/u],
  [
    "^\\h*[[:alpha:]]+\\h*$",
    /^[\t \xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000]*[A-Za-z]+\s*$/u,
  ],
  ["(?x) ^ [a-f]+ \\- \\d # a comment", /^[a-f]+-\d/u],
  ["^\\Qa.b\\E++c?+$", /^a\.b+c?$/u],
  ["^(?>ab|a)c\\x{41}$", /^(?:ab|a)cA$/u],
  ["(?s)^a.b$(?-s)", /^a.b$/su],
  ["^[^]x]+\\pL\\p{^Lu}$", /^[^\]x]+\p{L}\P{Lu}$/u],
];

const list = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
const named = (count: number, make: (index: number) => unknown) =>
  Object.fromEntries(list(count, (index) => [`property_${index}`, make(index)]));

/** The bounds and sizes by which single requests have stopped a server, as random numbers. */
function large(draws: Draws): [string, () => unknown][] {
  const count = draws.one(COUNTS);
  const properties = draws.one([1000, 4000, 8000, 16_000]);
  const string = { type: "string" };
  const some = { type: "array", items: { type: "integer" } };
  return [
    ["minLength", () => ({ type: "string", minLength: count })],
    ["minLength of a pattern", () => ({ type: "string", pattern: "^[ab]+$", minLength: count })],
    ["maxLength", () => ({ type: "string", maxLength: count })],
    ["minItems", () => ({ ...some, minItems: count })],
    ["minItems of tuples", () => ({ ...some, prefixItems: [string, string], minItems: count })],
    ["maxItems", () => ({ ...some, maxItems: count })],
    ["minItems that are unique", () => ({ ...some, uniqueItems: true, minItems: count })],
    ["minContains", () => ({ ...some, contains: { const: 1 }, minContains: count })],
    ["minProperties", () => ({ type: "object", minProperties: count })],
    ["maxProperties", () => ({ type: "object", maxProperties: count })],
    ["a count in a pattern", () => ({ type: "string", pattern: `^a{${Math.min(count, 1e9)}}$` })],
    [
      "arrays in arrays that are long",
      () =>
        list(20, (x) => x).reduce<unknown>(
          (items) => ({ type: "array", minItems: 1000, items }),
          string,
        ),
    ],
    ["a large constant", () => ({ const: "c".repeat(draws.one([1e4, 1e5, 2e6])) })],
    ["constants", () => ({ enum: list(draws.one([1e4, 2e5]), (i) => `value ${i}`) })],
    ["an infinite constant", () => '{"const":1e400}'],
    ["an infinite member of an enum", () => '{"enum":[-1e400,[1e999]]}'],
    [
      `${properties} properties`,
      () => ({ type: "object", properties: named(properties, () => string) }),
    ],
    [`${properties} properties that are required`, () => ({
      type: "object",
      properties: named(properties, () => ({ type: "integer" })),
      required: list(properties, (i) => `property_${i}`),
    })],
    [`${properties} properties of two kinds`, () => ({
      type: "object",
      properties: named(properties, (i) => i % 2 ? string : { enum: [i, `${i}`] }),
      required: list(properties / 10, (i) => `property_${10 * i}`),
      additionalProperties: false,
    })],
    ["patterns of keys", () => ({
      type: "object",
      patternProperties: Object.fromEntries(list(12, (i) => [`^.*${i}.*x`, { minimum: i }])),
    })],
  ];
}

/** Asks for a document of the schema and has it judged, where a judge can read the schema. */
async function answerTo(
  trial: Trial,
  schema: unknown,
  tokens: number,
  isJudged = true,
): Promise<void> {
  const format = typeof schema === "string" ? schema : JSON.stringify(schema);
  const options = JSON.stringify({ num_predict: tokens, temperature: 1, seed: tokens });
  const body = `{"model":"quern:tiny","messages":[{"role":"user","content":"Give me one."}],` +
    `"stream":false,"options":${options},"format":${format}}`;
  const { status, text } = await trial.ask({ path: "/api/chat", body, seconds: 6 });
  if (status !== 200) {
    trial.check([0, 400, 413, 500, 503].includes(status), () => {
      return `${status} ${text} for ${format.slice(0, 300)}`;
    });
    return;
  }
  const [record] = recordsOf(text);
  const content = (record?.message as { content?: string } | undefined)?.content ?? "";
  const isCut = record?.done_reason === "length";
  if (!isJudged) {
    trial.check(isCut || recordsOf(content).length > 0, () => `no JSON: ${content}`);
    return;
  }
  const fault = faultOf(content, format, isCut ? tokens : Infinity);
  trial.check(fault === undefined, () => `${fault}: ${content} for ${format.slice(0, 400)}`);
}

/** The fault of an answer with this number of tokens. */
function faultOf(content: string, format: string, tokens: number): string | undefined {
  let fault: string | undefined;
  try {
    const document = JSON.parse(content);
    if (format.length <= JUDGED_LENGTH) fault = judgeOf(JSON.parse(format))?.(document);
  } catch (error) {
    fault = `no JSON, ${(error as Error).message}`;
  }
  // A document may begin with another document, such as 3700 with 37.
  const mayBeCut = fault !== undefined && tokens !== Infinity && !endsWithin(format, tokens);
  return mayBeCut ? undefined : fault;
}

/** Whether a short document of the schema has at most so many bytes: at most a token each. */
function endsWithin(format: string, tokens: number): boolean {
  const matcher = compileSchema(format, tokenizer).matcher();
  // A document that is far too long is not written out.
  if (!matcher.mayEndWithin(tokens)) return false;
  return (matcher.completion()?.length ?? Infinity) <= tokens;
}

/** Asks for a text of a pattern of another dialect; what it means is judged by JavaScript. */
async function textOf(
  trial: Trial,
  [pattern, meaning]: typeof DIALECTS[number],
  isSchema: boolean,
): Promise<void> {
  const format = {
    type: "object",
    properties: { text: { type: "string", pattern } },
    required: ["text"],
  };
  const body = JSON.stringify({
    model: "quern:tiny",
    messages: [{ role: "user", content: "Give me one." }],
    stream: false,
    options: { num_predict: 60, temperature: 1 },
    ...isSchema ? { format } : { pattern },
  });
  const { status, text } = await trial.ask({ path: "/api/chat", body, seconds: 6 });
  // The server may go away for another case.
  if (status === 0 || status === 503) return;
  trial.check(status === 200, () => `${status} ${text} for ${pattern}`);
  const [record] = recordsOf(text);
  if (status !== 200 || record?.done_reason === "length") return;
  const content = (record?.message as { content?: string } | undefined)?.content ?? "";
  const said = isSchema ? (recordsOf(content)[0]?.text as string | undefined) ?? "" : content;
  trial.check(meaning.test(said), () => `${JSON.stringify(said)} for ${pattern}`);
}

function caseOf(name: string, make: () => unknown, tokens: number, isJudged = true): Case {
  return {
    name,
    async run(trial) {
      let schema: unknown;
      try {
        const made = make();
        schema = typeof made === "string" ? made : JSON.stringify(made);
      } catch {
        return; // within itself: no client can send it
      }
      await answerTo(trial, schema, tokens, isJudged);
    },
  };
}

/** Formats. */
export const schemas: Area = {
  name: "schemas",
  weight: 4,
  cases({ seed, draws, count }) {
    const tokens = () => draws.one([4, 16, 40, 80]);
    const bounds = [...large(draws), ...large(draws)]
      .map(([name, make]) => caseOf(name, make, tokens()));
    // Schemas of many megabytes exceed the limit of bodies; texts that do not parse are not
    // schemas. A value that contains itself repeatedly has no end as text, so only the library can
    // be given it.
    const isText = (name: string) => !/do not end|twice in itself/.test(name);
    const hostile = HOSTILE.filter(([name]) => isText(name))
      .map(([name, make]) => caseOf(name, make, tokens(), false));
    const odd = SCHEMAS.map((schema, index) => caseOf(`schema ${index}`, () => schema, tokens()));
    const random = list(count(RANDOM), (index) => {
      const own = seed * 10_000 + index;
      const make = () => SchemaMaker.make(new Draws(own));
      return caseOf(`a schema that is drawn, ${own}`, make, tokens());
    });
    const dialects = DIALECTS.flatMap((pair) =>
      [true, false].map((isSchema): Case => ({
        name: `a pattern of another dialect, ${pair[0]}${isSchema ? ", in a schema" : ""}`,
        run: (trial) => textOf(trial, pair, isSchema),
      }))
    );
    const twice = [4, 16].map((clients): Case => ({
      name: `${clients} large schemas at once`,
      async run(trial) {
        const made = large(new Draws(seed + clients));
        await Promise.all(list(clients, (i) => answerTo(trial, made[i]![1](), 8)));
        return clients;
      },
    }));
    return [...bounds, ...hostile, ...odd, ...random, ...dialects, ...twice];
  },
};
