// Numbers that doubles change: in schemas, in arguments of tools and in prompts. Answers are judged by
// fractions of BigInt, and every schema here has a value.

import { Draws } from "../../engine/grammar/fuzz/draws.ts";
import { type Area, type Case, recordsOf, type Trial } from "../trial.ts";

/** Schemas that are drawn, and conversations. */
const RANDOM = 200;
const PROMPTS = 40;
/** Most digits of a number that is written out, and tokens that are enough for several. */
const MOST_DIGITS = 40;
const TOKENS = 250;

/** A number of a JSON text: `units` · 10^-`places`. */
class Exact {
  constructor(readonly units: bigint, readonly places: number, readonly text = "") {}

  static parse(text: string): Exact {
    const [, sign, whole, fraction = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
      .exec(text)!;
    return new Exact(BigInt(sign + whole! + fraction), fraction.length - Number(power), text);
  }

  /** The units of both in those of the finer one. */
  #aligned(other: Exact): [bigint, bigint] {
    const places = Math.max(this.places, other.places);
    const scaled = (one: Exact) => one.units * 10n ** BigInt(places - one.places);
    return [scaled(this), scaled(other)];
  }

  compare(other: Exact): number {
    const [a, b] = this.#aligned(other);
    return a < b ? -1 : a > b ? 1 : 0;
  }

  isMultipleOf(divisor: Exact): boolean {
    const [a, b] = this.#aligned(divisor);
    return a % b === 0n;
  }

  /** The number that is so many units of the same place away. */
  plus(units: bigint): Exact {
    return Exact.parse(written(this.units + units, this.places));
  }
}

const ONE = new Exact(1n, 0);

/** A number in JSON, without an exponent unless it has no place after the point. */
function written(units: bigint, places: number): string {
  if (places <= 0) return places === 0 ? String(units) : `${units}e${-places}`;
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, "0");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

function drawnDigits(draws: Draws, count: number): bigint {
  let text = String(draws.between(1, 9));
  while (text.length < count) text += draws.below(10);
  return BigInt(text);
}

/** A number, near a power of two or of any digits, spelled in some way. */
function drawnNumber(draws: Draws, isInteger: boolean): Exact {
  const power = 2n ** BigInt(draws.one([0, 31, 53, 63, 64, 80, 128]));
  const units = draws.oneIn(2)
    ? power + BigInt(draws.between(-2, 2))
    : drawnDigits(draws, draws.between(1, MOST_DIGITS));
  const signed = draws.oneIn(2) ? -units : units;
  if (!isInteger && draws.oneIn(2)) {
    return Exact.parse(written(signed, draws.between(1, 20)));
  }
  return Exact.parse(`${signed}${isInteger ? "" : draws.one(["", ".0", "e0", "E+2", "e-3"])}`);
}

/** A number that is only listed, and may be beyond all doubles. */
function drawnConstant(draws: Draws): Exact {
  if (!draws.oneIn(4)) return drawnNumber(draws, draws.oneIn(2));
  const exponent = draws.one([21, 22, 307, 308, 309, 400, 999]);
  return Exact.parse(
    `${draws.one(["", "-"])}${draws.between(1, 99)}.5e${draws.one(["", "-"])}${exponent}`,
  );
}

/** A schema of numbers as JSON text, which has a value. */
function drawnSchema(draws: Draws): string {
  const kind = draws.below(6);
  if (kind === 0) return `{"const":${drawnConstant(draws).text}}`;
  if (kind === 1) {
    const texts = Array.from({ length: draws.between(1, 5) }, () => drawnConstant(draws).text);
    return `{"enum":[${[...texts, ...draws.some(texts)].join()}]}`;
  }
  const isInteger = draws.oneIn(2);
  const type = isInteger ? "integer" : "number";
  const member = drawnNumber(draws, isInteger);
  if (kind === 2 || kind === 3) {
    // Bounds around a member, near it or far.
    const [below, above] = [0, 0].map(() => BigInt(draws.one([1, 2, 1000])));
    const low = draws.oneIn(3)
      ? `"minimum":${member.text}`
      : `"exclusiveMinimum":${member.plus(-below!).text}`;
    const high = draws.oneIn(3)
      ? `"maximum":${member.text}`
      : `"exclusiveMaximum":${member.plus(above!).text}`;
    const bounds = draws.some([low, high]);
    return `{${[`"type":"${type}"`, ...bounds].join()}}`;
  }
  // Multiples: the bound leaves one out, or several.
  const size = member.units < 0n ? -member.units : member.units;
  const divisor = written(size || 1n, member.places);
  const least = written((size || 1n) * BigInt(draws.between(1, 3)), member.places);
  const bound = draws.one([`,"minimum":${least}`, `,"exclusiveMinimum":${least}`, ""]);
  return `{"type":"${type}","multipleOf":${divisor}${bound}}`;
}

/** A document or a schema, whose numbers are exact. */
type Value = null | boolean | string | Exact | Value[] | { [name: string]: Value };

function read(text: string): Value {
  const parse = JSON.parse as (
    text: string,
    revive: (key: string, value: unknown, context: { source: string }) => unknown,
  ) => Value;
  return parse(
    text,
    (_, value, { source }) => typeof value === "number" ? Exact.parse(source) : value,
  );
}

function areEqual(a: Value, b: Value): boolean {
  if (a instanceof Exact || b instanceof Exact) {
    return a instanceof Exact && b instanceof Exact && a.compare(b) === 0;
  }
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Whether a number, or an object of numbers, fits a schema of those above. */
function fits(value: Value, schema: Record<string, Value>): boolean {
  const { properties } = schema;
  if (properties) {
    return Object.entries(properties).every(([name, inner]) =>
      fits((value as Record<string, Value>)[name]!, inner as Record<string, Value>)
    );
  }
  if (!(value instanceof Exact)) return false;
  const bound = (name: string, isKept: (order: number) => boolean) => {
    const limit = schema[name];
    return !(limit instanceof Exact) || isKept(value.compare(limit));
  };
  return (schema.type !== "integer" || value.isMultipleOf(ONE)) &&
    (schema.const === undefined || areEqual(value, schema.const)) &&
    (!Array.isArray(schema.enum) || schema.enum.some((one) => areEqual(value, one))) &&
    bound("minimum", (order) => order >= 0) && bound("maximum", (order) => order <= 0) &&
    bound("exclusiveMinimum", (order) => order > 0) &&
    bound("exclusiveMaximum", (order) => order < 0) &&
    (!(schema.multipleOf instanceof Exact) || value.isMultipleOf(schema.multipleOf));
}

const said = '"messages":[{"role":"user","content":"Give me one."}]';

/** Bodies that ask for a document of a schema, and what of the records is the document. */
const FORMATS: Record<string, (schema: string) => string> = {
  "/api/chat": (schema) => `${said},"format":${schema},"options":{"num_predict":${TOKENS}}`,
  "/api/generate": (schema) =>
    `"prompt":"Hi","format":${schema},"options":{"num_predict":${TOKENS}}`,
  "/v1/chat/completions": (schema) =>
    `${said},"max_tokens":${TOKENS},"response_format":{"type":"json_schema","json_schema":` +
    `{"name":"n","schema":${schema}}}`,
  "/v1/responses": (schema) =>
    `"input":"Hi","max_output_tokens":${TOKENS},"text":{"format":{"type":"json_schema",` +
    `"name":"n","schema":${schema}}}`,
  "/v1/messages": (schema) =>
    `${said},"max_tokens":${TOKENS},"output_config":{"format":{"type":"json_schema",` +
    `"schema":${schema}}}`,
};

/** Bodies that have a tool called whose arguments are of a schema. */
const CALLS: Record<string, (schema: string) => string> = {
  "/v1/chat/completions": (schema) =>
    `${said},"max_tokens":${TOKENS},"tool_choice":"required","tools":[{"type":"function",` +
    `"function":{"name":"f","parameters":${schema}}}]`,
  "/v1/responses": (schema) =>
    `"input":"Hi","max_output_tokens":${TOKENS},"tool_choice":"required","tools":[` +
    `{"type":"function","name":"f","parameters":${schema}}]`,
  "/v1/messages": (schema) =>
    `${said},"max_tokens":${TOKENS},"tool_choice":{"type":"any"},"tools":[{"name":"f",` +
    `"input_schema":${schema}}]`,
};

/**
 * The document, or the arguments of the call, as JSON text; undefined if the answer was cut. Words that
 * come before a call do not count.
 */
function documentIn(answer: string, isCall: boolean): string | undefined {
  const limits = /"max_output_tokens":\d+/g;
  if (/"(length|max_tokens|max_output_tokens)"/.test(answer.replace(limits, ""))) return undefined;
  const lines = answer.split("\n").map((line) => line.replace(/^data: /, ""));
  const texts = lines.filter((line) => line.startsWith("{")).map((line) => {
    // deno-lint-ignore no-explicit-any -- records of five APIs
    const record = JSON.parse(line) as any;
    const choice = record.choices?.[0];
    const message = choice?.delta ?? choice?.message ?? record.message ?? {};
    if (isCall) {
      if (message.tool_calls) return message.tool_calls[0].function.arguments;
      if (record.type === "response.function_call_arguments.delta") return record.delta;
      // Of an object, the text that it has in the answer.
      return record.output?.at(-1).arguments ?? record.delta?.partial_json ??
        (record.content ? /"input":(\{.*?\})\}/.exec(line)?.[1] : "");
    }
    if (record.type === "response.output_text.delta") return record.delta;
    return message.content ?? record.response ?? record.output?.at(-1).content[0].text ??
      record.delta?.text ?? record.content?.at(-1).text;
  });
  return texts.filter((text) => typeof text === "string").join("");
}

async function judgeAnswer(
  trial: Trial,
  path: string,
  body: string,
  { schema, isCall }: { schema: string; isCall: boolean },
) {
  const { status, text } = await trial.ask({ path, body, seconds: 15 });
  if (status === 503 || status === 0) return;
  const told = () => `${path}: ${status} ${text.slice(0, 500)} for ${schema}`;
  trial.check(status === 200, told);
  if (status !== 200) return;
  const document = documentIn(text, isCall);
  if (document === undefined) return;
  let isRight = false;
  try {
    isRight = fits(read(document), read(schema) as Record<string, Value>);
  } catch {
    // It is no JSON.
  }
  trial.check(isRight, () => `${document} for ${schema} at ${path}`);
}

function schemaCase(seed: number): Case {
  return {
    name: `a schema of numbers, ${seed}`,
    async run(trial) {
      const draws = new Draws(seed);
      const schema = drawnSchema(draws);
      const members = `"model":"quern:tiny","temperature":1,"stream":${draws.oneIn(2)}`;
      const path = draws.one(Object.keys(FORMATS));
      await judgeAnswer(trial, path, `{${members},${FORMATS[path]!(schema)}}`, {
        schema,
        isCall: false,
      });
      const object = `{"type":"object","properties":{"n":${schema}},"required":["n"]}`;
      const other = draws.one(Object.keys(CALLS));
      await judgeAnswer(trial, other, `{${members},${CALLS[other]!(object)}}`, {
        schema: object,
        isCall: true,
      });
      return 2;
    },
  };
}

function promptCase(seed: number): Case {
  return {
    name: `numbers of a call in a prompt, ${seed}`,
    async run(trial) {
      const draws = new Draws(seed);
      const numbers = Array.from({ length: 8 }, () => drawnConstant(draws));
      const list = numbers.map(({ text }) => text).join();
      const call = `{"function":{"name":"f","arguments":{"list":[${list}]}}}`;
      const body = `{"model":"quern:tiny","_debug_render_only":true,"messages":[` +
        `{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[${call}]},` +
        `{"role":"tool","content":"done"}],"tools":[{"type":"function","function":{"name":"f",` +
        `"parameters":{"properties":{"list":{"enum":[${list}]}}}}}]}`;
      const { status, text } = await trial.ask({ path: "/api/chat", body });
      const info = recordsOf(text)[0]?._debug_info as { rendered_template: string } | undefined;
      trial.check(info !== undefined, () => `${status} ${text}`);
      const shown = (info?.rendered_template ?? "").match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi)
        ?.map((number) => Exact.parse(number)) ?? [];
      for (const number of numbers) {
        const count = shown.filter((one) => one.compare(number) === 0).length;
        trial.check(count >= 2, () => `${number.text} comes ${count} times in ${text}`);
      }
      return numbers.length;
    },
  };
}

/** Numbers. */
export const numbers: Area = {
  name: "numbers",
  weight: 2,
  cases: ({ seed, count }) => [
    ...Array.from({ length: count(RANDOM) }, (_, index) => schemaCase(seed * 10_000 + index)),
    ...Array.from({ length: count(PROMPTS) }, (_, index) => promptCase(seed * 10_000 + index)),
  ],
};
