// The check of request bodies beside Ajv's, and how long it keeps others waiting.

import { Ajv } from "ajv";
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { createSchema } from "../../../../server/http/api/models/schema.ts";
import { chatSchema, generateSchema } from "../../../../server/http/api/ollama/schema.ts";
import type { NamedSchema } from "../../../../server/http/api/openapi/operation.ts";
import { operations } from "../../../../server/http/api/routes.ts";
import { createValidator } from "../../../../server/http/body/validate.ts";
import { Draws } from "../../../engine/grammar/fuzz/draws.ts";
import { parseExactJson } from "../../../../tokenizer/mod.ts";
import { threadTime } from "../../../cpu_time.ts";
import { longestTurn } from "../../../turns.ts";

/** Bodies for each schema. */
const BODIES = 300;
/** A slice of 8 ms, and what the collector of garbage adds. Ajv takes over 100 ms. */
const LONGEST_TURN = 40;

const bodies = [
  ...new Map(
    operations.flatMap(({ body }): [string, NamedSchema][] => body ? [[body.name, body]] : []),
  ).values(),
];

/** What may stand where something else is due. */
const VALUES = [
  ...[null, true, 0, 1, -1, 1.5, Infinity, "", "text", [], {}, [null], [{}], { a: 1 }, ["a", 1]],
  ...[{ type: "text", text: "a" }, [{ type: "text", text: 3 }], [[]], {
    role: "user",
    content: [],
  }],
];

/** The names of all members that a schema speaks of. */
function namesIn(schema: unknown, names = new Set<string>()): Set<string> {
  if (typeof schema !== "object" || schema === null) return names;
  if ("properties" in schema) Object.keys(schema.properties!).forEach((name) => names.add(name));
  Object.values(schema).forEach((part) => namesIn(part, names));
  return names;
}

/** A body with some members changed, removed or added, at any depth. */
function mutated(value: unknown, names: readonly string[], draws: Draws): unknown {
  if (draws.oneIn(12)) return draws.one(VALUES);
  if (Array.isArray(value)) return value.map((item) => mutated(item, names, draws));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(() => !draws.oneIn(15))
    .map(([name, member]) => [name, mutated(member, names, draws)]);
  for (let more = draws.below(3); more > 0; more--) {
    members.push([draws.one(names), draws.one(VALUES)]);
  }
  return Object.fromEntries(members);
}

async function faultOf(validate: (body: unknown) => Promise<unknown>, body: unknown) {
  return await validate(body).then(() => undefined, ({ message }: Error) => message);
}

function compareWithAjv({ name, schema, example }: NamedSchema, seed: number): void {
  Deno.test(`bodies of ${name} are refused where Ajv refuses them`, async () => {
    const draws = new Draws(seed);
    const names = [...namesIn(schema)];
    const ajv = new Ajv({ strict: false, strictNumbers: true });
    const judge = ajv.compile(schema);
    const validate = createValidator(schema);
    const seen = { right: 0, wrong: 0 };
    for (let count = 0; count < BODIES; count++) {
      const body = count === 0 ? example : mutated(example, names, draws);
      const fault = await faultOf(validate, body);
      const told = `${JSON.stringify(body)}: ${fault}; Ajv: ${ajv.errorsText(judge.errors)}`;
      assertEquals(fault === undefined, judge(body), told);
      seen[fault === undefined ? "right" : "wrong"]++;
    }
    assert(seen.right > 0 && seen.wrong > 0, JSON.stringify(seen));
  });
}
bodies.forEach(compareWithAjv);

Deno.test("the first request of each kind waits for no schema to be compiled", async () => {
  const before = threadTime();
  for (const { schema, example } of bodies) await createValidator(schema)(example);
  const time = threadTime() - before;
  assert(time < 40, `${bodies.length} schemas took ${time} ms of CPU time, Ajv some 400`);
});

Deno.test("others have their turns while large bodies are checked", async () => {
  const large: [object, unknown][] = [
    [generateSchema, { model: "m", context: Array(1e6).fill(1) }],
    [chatSchema, {
      model: "m",
      messages: Array.from({ length: 60_000 }, () => ({ role: "user", content: "a", images: [] })),
    }],
  ];
  for (const [schema, body] of large) {
    const validate = createValidator(schema);
    let least = Infinity;
    for (let round = 0; round < 3 && least > LONGEST_TURN; round++) {
      const [time] = await longestTurn(() => validate(body));
      least = Math.min(least, time);
    }
    assert(least < LONGEST_TURN, `a turn took ${least} ms of CPU time`);
  }
});

Deno.test("numbers are doubles where a schema names their type, and keep their text elsewhere", async () => {
  const text = '{"options":{"temperature":1.0,"top_k":1e1,"seed":9007199254740993,"stop":[]},' +
    '"top_logprobs":2.0,"format":{"const":1.0},"tools":[{"function":{"name":"f","parameters":' +
    '{"maximum":18446744073709551615}}}],"keep_alive":1.5e2,"user":1.0}';
  const body = await createValidator(chatSchema)(parseExactJson(text));
  assertEquals(
    JSON.stringify(body),
    text.replace('1.0,"top_k":1e1,"seed":9007199254740993', '1,"top_k":10,"seed":9007199254740992')
      .replace("2.0", "2").replace("1.5e2", "150"),
  );
  const parameters = { temperature: 0.5, num_ctx: 4096, stop: ["a"] };
  const created = await createValidator(createSchema)(
    parseExactJson('{"parameters":{"temperature":0.50,"num_ctx":4.096e3,"stop":["a"]}}'),
  );
  assertEquals(created, { parameters });
});

Deno.test("a number that keeps its text is no object", async () => {
  const validate = createValidator(chatSchema);
  for (const text of ["1.0", '{"options":1.0}', '{"tools":[1.0]}', '{"messages":[{"role":1.0}]}']) {
    assertMatch(await faultOf(validate, parseExactJson(text)) ?? "", /must be of type/);
  }
  for (const text of ['{"options":{"temperature":1e999}}', '{"options":{"top_k":1.5}}']) {
    assertMatch(await faultOf(validate, parseExactJson(text)) ?? "", /must be of type/);
  }
});

Deno.test("a schema with a keyword that is not implemented makes no validator", () => {
  assertThrows(() => createValidator({ pattern: "a" }), TypeError, '"pattern" is not implemented');
  const other = { $defs: { A: {} }, items: { $ref: "#/$defs/B" } };
  assertThrows(() => createValidator(other), TypeError, "#/$defs/B");
  assertThrows(() => createValidator({ type: "float" }), TypeError, '"float" is no type');
});

Deno.test("the first fault is named, with the way to it", async () => {
  const validate = createValidator(chatSchema);
  const faults: [unknown, string][] = [
    [[], "request body must be of type object"],
    [{ model: 1 }, "model must be of type string"],
    [{ messages: [{ role: "user" }, { content: "a" }] }, 'messages[1] lacks "role"'],
    [{ options: { seed: "a" } }, 'option "seed" must be of type'],
  ];
  for (const [body, fault] of faults) {
    const told = await faultOf(validate, body);
    assert(told?.startsWith(fault), `${told}, not ${fault}`);
  }
});
