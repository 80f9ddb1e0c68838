// Answers under a format, on a real model: they are whole documents, alone and beside others, with
// few tokens and with many, and a schema that cannot be enforced is refused before anything runs.

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  compileSchema,
  EngineError,
  loadModel,
  RequestError,
  SchemaError,
} from "../../../engine/mod.ts";
import { compileFormat, Constraint } from "../../../engine/generate/constraint.ts";
import { UniqueItems } from "../../../engine/grammar/machine/frames/scarce_items.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";

const schema = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 20 },
    age: { type: "integer", minimum: 0, maximum: 150 },
    tags: { type: "array", items: { enum: ["red", "green", "blue"] }, maxItems: 3 },
  },
  required: ["name", "age", "tags"],
};

const model = await loadModel(tinyPath, tinyLoad);
globalThis.addEventListener("unload", () => model.close());

function answer(seed: number, maxTokens: number, finish = true) {
  return readAnswer(model.generate({
    prompt: "hello",
    format: { schema },
    temperature: 1,
    seed,
    maxTokens,
    finish,
  }));
}

/** Fails unless a text is a document of the schema, written in its order. */
function checkDocument(text: string): void {
  const { name, age, tags, ...rest } = JSON.parse(text);
  assertEquals(rest, {});
  assert(typeof name === "string" && [...name].length <= 20, text);
  assert(Number.isInteger(age) && age >= 0 && age <= 150, text);
  assert(tags.length <= 3 && tags.every((tag: string) => /^(red|green|blue)$/.test(tag)), text);
  assert(/^\{"name":.*, ?"age":.*, ?"tags":.*\}$/s.test(text), text);
}

Deno.test("answers of a schema are its documents, and end where nothing may follow", async () => {
  for (let seed = 1; seed <= 5; seed++) {
    const { text, tokens, done } = await answer(seed, 100);
    checkDocument(text);
    assertEquals(done?.reason, "stop");
    assertEquals(done?.usage.completionTokens, tokens.length);
    assertEquals(text, model.tokenizer.decode(tokens));
  }
});

Deno.test("an answer tells which formats of its schema nobody knows", async () => {
  const known = { type: "string", format: "date" };
  const odd = { type: "string", format: "stardate", maxLength: 3 };
  const format = { schema: { type: "array", prefixItems: [known, odd, odd], minItems: 3 } };
  const { done } = await readAnswer(model.generate({ prompt: "hi", format, maxTokens: 200 }));
  const told = (place: string) =>
    `Cannot enforce the schema at ${place} ("format"): no format "stardate" is known, ` +
    'so it restricts nothing; a "pattern" would';
  assertEquals(done?.notes, [told("/prefixItems/1"), told("/prefixItems/2")]);
});

Deno.test("an answer that runs out of tokens is led to its end, unless that is turned off", async () => {
  // Each byte is a token for this model.
  const shortest = '{"name":"","age":0,"tags":[]}'.length;
  for (let seed = 1; seed <= 5; seed++) {
    for (const room of [0, 1, 5, 9]) checkDocument((await answer(seed, shortest + room)).text);
  }
  const { text, done } = await answer(3, 20, false);
  assertEquals(done?.reason, "length");
  assertThrows(() => JSON.parse(text), SyntaxError);
});

Deno.test("an answer that its limit has shortened says so, and no other one", async () => {
  const shortest = '{"name":"","age":0,"tags":[]}'.length;
  let shortened = 0;
  for (let seed = 1; seed <= 4; seed++) {
    const whole = await answer(seed, 120);
    assertEquals(whole.done?.reason, "stop");
    const { length } = whole.tokens;
    for (const limit of [shortest, shortest + 3, length - 7, length - 1, length, length + 1]) {
      if (limit < shortest) continue;
      const { text, done } = await answer(seed, limit);
      checkDocument(text);
      // The draws of a seed are the same, so that a limit which changes nothing gives the same text.
      assertEquals(
        [done?.reason, text === whole.text],
        limit < length ? ["length", false] : ["stop", true],
      );
      shortened += Number(limit < length);
    }
  }
  assert(shortened > 8);
});

Deno.test("a document for which there is no room is refused with the tokens that it takes", async () => {
  const shortest = '{"name":"","age":0,"tags":[]}'.length;
  for (const maxTokens of [1, shortest - 1]) {
    const error = assertThrows(() => answer(1, maxTokens), RequestError);
    assertMatch(error.message, new RegExp(`takes ${shortest} tokens, and ${maxTokens} may come`));
  }
  // In a window that is nearly full, too.
  const prompt = "x".repeat(127 - shortest);
  const request = { prompt, format: { schema }, temperature: 1, seed: 1 };
  assertThrows(
    () => model.generate({ ...request, prompt: prompt + "xx" }),
    RequestError,
    "takes 29",
  );
  checkDocument((await readAnswer(model.generate(request))).text);
});

Deno.test("a document whose least number of tokens is not known in time is cut", async () => {
  const format = { schema: { type: "string", minLength: 1e6 } };
  const { done } = await readAnswer(model.generate({ prompt: "hello", format, maxTokens: 20 }));
  assertEquals([done?.reason, done?.usage.completionTokens], ["length", 20]);
});

Deno.test("an answer is the same alone and beside others, with a format and without", async () => {
  const alone = [(await answer(1, 60)).text, (await answer(2, 60)).text];
  const free = { prompt: "hello", temperature: 1, seed: 3, maxTokens: 40 };
  const { text } = await readAnswer(model.generate(free));
  const [first, other, second] = await Promise.all([
    answer(1, 60),
    readAnswer(model.generate(free)),
    answer(2, 60),
  ]);
  assertEquals([first.text, second.text, other.text], [...alone, text]);
});

Deno.test('"json" is any object, and an abort ends an answer of a format too', async () => {
  const request = { prompt: "hello", format: "json", temperature: 1, seed: 4 } as const;
  const { text } = await readAnswer(model.generate({ ...request, maxTokens: 40 }));
  assertEquals(JSON.parse(text).constructor, Object);
  const abort = new AbortController();
  const format = { schema: { type: "string", minLength: 100 } };
  for await (const { type } of model.generate({ ...request, format, signal: abort.signal })) {
    abort.abort();
    assert(type !== "done");
  }
});

Deno.test("a schema that has no value or cannot be enforced is refused at once", () => {
  const impossible = { type: "number", minimum: 2, maximum: 1 };
  for (const schema of [impossible, { type: "string", pattern: "(" }, { type: "nonsense" }]) {
    const error = assertThrows(
      () => model.generate({ prompt: "hello", format: { schema } }),
      SchemaError,
    );
    assert(error.message.length > 20 && typeof error.pointer === "string");
  }
});

Deno.test("a constraint that fails ends its own answer alone", async () => {
  const free = { prompt: "hello", temperature: 0, maxTokens: 12 };
  const { text } = await readAnswer(model.generate(free));
  const matcher = compileSchema({ type: "string" }, model.tokenizer).matcher();
  const make = Object.getPrototypeOf(matcher).mask;
  let left = 3;
  Object.getPrototypeOf(matcher).mask = function (...args: unknown[]) {
    if (left-- > 0) return make.apply(this, args);
    throw new EngineError("Cannot go on: too many ways");
  };
  try {
    const format = { schema: { type: "string", minLength: 50 } };
    const [other, failed] = await Promise.all([
      readAnswer(model.generate(free)),
      readAnswer(model.generate({ ...free, format, maxTokens: 60 })).then(
        () => undefined,
        (error) => error,
      ),
    ]);
    assertEquals([other.text, failed?.message], [text, "Cannot go on: too many ways"]);
  } finally {
    Object.getPrototypeOf(matcher).mask = make;
  }
  assertEquals((await readAnswer(model.generate(free))).text, text);
});

Deno.test("an answer after which nothing may come fails with the place in its schema", async () => {
  const { isPossible } = UniqueItems.prototype;
  // A third item of two constants is never begun: without that, there is a dead end.
  UniqueItems.prototype.isPossible = () => true;
  try {
    const pair = { type: "array", items: { enum: [1, 2] }, uniqueItems: true, minItems: 2 };
    const format = {
      schema: {
        type: "object",
        properties: { pairs: { type: "array", minItems: 1, items: { $ref: "#/$defs/a~1b" } } },
        required: ["pairs"],
        $defs: { "a/b": pair },
      },
    };
    let failed: unknown;
    for (let seed = 1; seed < 40 && !failed; seed++) {
      const events = model.generate({ prompt: "hello", format, temperature: 1, seed });
      failed = await readAnswer(events).then(() => undefined, (error) => error);
    }
    assert(failed instanceof SchemaError);
    assertEquals(failed.pointer, "/$defs/a~1b/items");
    assertMatch(
      failed.message,
      /at \/\$defs\/a~1b\/items: nothing may follow in the answer's \["pairs",\d,\d\]/,
    );
  } finally {
    UniqueItems.prototype.isPossible = isPossible;
  }
});

Deno.test("a constraint that fails has its own format compiled anew, and no other", () => {
  const { tokenizer } = model;
  const failing = { pattern: "a+" } as const;
  const [kept, lost] = [compileFormat("json", tokenizer), compileFormat(failing, tokenizer)];
  const constraint = new Constraint(failing, tokenizer, "document");
  const prototype = Object.getPrototypeOf(lost.matcher());
  const { mask } = prototype;
  prototype.mask = () => {
    throw new EngineError("Cannot go on: too many ways");
  };
  try {
    assertEquals(constraint.mask().length, 0);
  } finally {
    prototype.mask = mask;
  }
  assertEquals(constraint.failure?.message, "Cannot go on: too many ways");
  assert(compileFormat("json", tokenizer) === kept);
  assert(compileFormat(failing, tokenizer) !== lost);
});
