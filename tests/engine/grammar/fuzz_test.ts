// Random sampling under the mask, every allowed token as likely as any other: whatever a model does, the
// document fits its schema. QUERN_FUZZ=N does N times as much as a whole
// run; the everyday one does a tenth of it.

import { assert, assertEquals } from "@std/assert";
import { Draws } from "./fuzz/draws.ts";
import { fuzz, type FuzzReport } from "./fuzz/fuzz.ts";
import { readMaskBench } from "./fuzz/mask_bench.ts";
import { SchemaMaker } from "./fuzz/random_schema.ts";
import { SCHEMAS } from "./fuzz/schemas.ts";
import {
  bytePairVocabulary,
  sentencePieceVocabulary,
  sharedVocabulary,
} from "./fuzz/vocabularies.ts";
import { dataNote, hasData } from "../../tokenizer/vocabularies.ts";
import { share } from "../../share.ts";

const SCALE = Number(Deno.env.get("QUERN_FUZZ") ?? 0.1);
/** Where to begin with random schemas: other runs try other ones. */
const FIRST = Number(Deno.env.get("QUERN_FUZZ_FIRST") ?? 1);
/** One of the conformance data for all tests instead of the small ones. */
const NAME = Deno.env.get("QUERN_FUZZ_VOCABULARY");

const small = NAME
  ? [await sharedVocabulary(NAME)]
  : [bytePairVocabulary(), sentencePieceVocabulary()];

function assertSound(report: FuzzReport, leastCompiled: number): void {
  assertEquals(report.faults.slice(0, 5), [], String(report));
  assert(report.compiled >= leastCompiled * report.schemas, `${report}\n${report.refusals[0]}`);
  assert(report.unjudged <= report.compiled / 25, String(report));
}

/** Every day each vocabulary has another part of our schemas, together half; whole runs have all. */
const EVERY = share(2 * small.length, 1);

for (const [turn, vocabulary] of small.entries()) {
  Deno.test(`documents under the mask fit each schema of ours, with ${vocabulary.name}`, () => {
    const schemas = SCHEMAS.map((schema, at) => ({ name: `${at}`, text: JSON.stringify(schema) }));
    const some = schemas.filter((_, at) => (at + turn) % EVERY === 0);
    assertSound(fuzz(some, vocabulary), 1);
  });
}

Deno.test("documents under the mask fit random schemas", () => {
  const schemas = Array.from({ length: Math.ceil(200 * SCALE) }, (_, at) => {
    const seed = FIRST + at;
    return { name: `seed ${seed}`, text: JSON.stringify(SchemaMaker.make(new Draws(seed))) };
  });
  assertSound(fuzz(schemas, small[0]!), 0.8);
});

Deno.test({
  name: `documents under the mask fit schemas of MaskBench${dataNote}`,
  ignore: !hasData,
  fn: async () => {
    const schemas = await readMaskBench(Math.max(1, Math.round(40 / SCALE)));
    assertSound(fuzz(schemas, small[0]!), 0.95);
  },
});
