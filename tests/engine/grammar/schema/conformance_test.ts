// The official test suite of JSON Schema and MaskBench, judged by accepts.ts. Both are optional data:
// where they are missing, these tests are ignored. Per file they print what is not fully right.

import { assert, assertEquals } from "@std/assert";
import {
  type JsonArray,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../../../engine/grammar/json/mod.ts";
import {
  readSchema,
  SchemaError,
  type SchemaOptions,
} from "../../../../engine/grammar/schema/mod.ts";
import { accepts } from "./accepts.ts";
import { share } from "../../../share.ts";

const DATA = new URL("../../../../../shared/data/schemas/", import.meta.url);
/** MaskBench schemas between two that are tried. */
const STRIDE = share(20, 5);

interface Case {
  readonly schema: JsonValue;
  readonly tests: readonly JsonObject[];
}

interface Score {
  schemas: number;
  read: number;
  right: number;
  validRefused: number;
  invalidAccepted: number;
}

function judge(cases: readonly Case[], options?: SchemaOptions): Score {
  const score: Score = { schemas: 0, read: 0, right: 0, validRefused: 0, invalidAccepted: 0 };
  for (const { schema, tests } of cases) {
    score.schemas++;
    let read: ReturnType<typeof readSchema>;
    try {
      read = readSchema(schema, options);
    } catch (error) {
      assert(error instanceof SchemaError, String(error));
      // That nothing satisfies a schema is right where no value is valid.
      const isEmpty = error.message.includes("cannot be satisfied");
      if (isEmpty && !tests.some((test) => test.get("valid"))) score.right++;
      continue;
    }
    score.read++;
    const wrong = tests.filter((test) =>
      accepts(read.types, read.languages, test.get("data")!) !== test.get("valid")
    );
    if (wrong.length === 0) score.right++;
    const refused = wrong.filter((test) => test.get("valid") === true).length;
    score.validRefused += refused;
    score.invalidAccepted += wrong.length - refused;
  }
  return score;
}

function exists(url: URL): boolean {
  try {
    Deno.statSync(url);
    return true;
  } catch {
    return false;
  }
}

async function readMaskBench(): Promise<Case[]> {
  const cases: Case[] = [];
  for (const { name } of Deno.readDirSync(new URL("maskbench/", DATA))) {
    const file = await Deno.open(new URL(`maskbench/${name}`, DATA));
    const text = await new Response(file.readable.pipeThrough(new DecompressionStream("gzip")))
      .text();
    const lines = text.split("\n").filter((line, i) => line !== "" && i % STRIDE === 0);
    for (const line of lines) {
      const record = parseJson(line) as JsonObject;
      cases.push({
        schema: record.get("schema")!,
        tests: (record.get("tests") ?? []) as JsonArray as JsonObject[],
      });
    }
  }
  return cases;
}

function readSuite(folder: string, dialect: string): Case[] {
  const cases: Case[] = [];
  for (const { name, isFile } of Deno.readDirSync(new URL(`${folder}/`, DATA))) {
    if (!isFile) continue;
    const groups = parseJson(Deno.readTextFileSync(new URL(`${folder}/${name}`, DATA)));
    for (const group of groups as JsonArray as JsonObject[]) {
      const schema = group.get("schema")!;
      const isPlain = schema instanceof Map && !schema.has("$schema");
      cases.push({
        schema: isPlain ? new Map([["$schema", dialect], ...schema]) : schema,
        tests: group.get("tests") as JsonArray as JsonObject[],
      });
    }
  }
  return cases;
}

for (
  const [folder, dialect, right] of [
    ["json-schema-test-suite-draft7", "http://json-schema.org/draft-07/schema#", 0.95],
    ["json-schema-test-suite-draft2019-09", "https://json-schema.org/draft/2019-09/schema", 0.95],
  ] as const
) {
  Deno.test({
    name: `readSchema() is right about ${folder} where it is present (${100 * right} % at least)`,
    ignore: !exists(new URL(`${folder}/`, DATA)),
    fn() {
      const score = judge(readSuite(folder, dialect));
      assertEquals(score.invalidAccepted, 0, JSON.stringify(score));
      assert(score.right >= right * score.schemas, JSON.stringify(score));
    },
  });
}

Deno.test({
  name: "readSchema() is right about schemas of MaskBench where it is present (99 %)",
  ignore: !exists(new URL("maskbench/", DATA)),
  async fn() {
    const score = judge(await readMaskBench(), { formats: "standard" });
    assert(score.right >= 0.99 * score.schemas, JSON.stringify(score));
    assert(score.validRefused === 0, JSON.stringify(score));
    // Some instances of draft 4 ask that 1.0 is no integer, which its value does not tell.
    assert(score.invalidAccepted <= 1, JSON.stringify(score));
  },
});
