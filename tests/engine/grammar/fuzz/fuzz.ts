// Compiles schemas and writes documents under their masks; collects every document that is not valid
// and every promise of a mask that is not kept.

import { type CompileOptions, compileSchema, SchemaError } from "../../../../engine/grammar/mod.ts";
import { documentFaults } from "./document_faults.ts";
import { Draws } from "./draws.ts";
import { type Judge, judgeOf } from "./judge.ts";
import type { NamedSchema } from "./mask_bench.ts";
import { type Sample, sampleDocument } from "./sampler.ts";
import type { Vocabulary } from "./vocabularies.ts";

/** Documents per schema with any token as likely as the others; the last is to be short. */
const SEEDS = 5;
/** Documents besides in which structure comes more often: of a large vocabulary, most is text. */
const FAVORING_SEEDS = 2;

/** Ways to write, one for each schema in turn. */
const OPTIONS: readonly CompileOptions[] = [
  { whitespace: "single" },
  { whitespace: "free", openObjects: true },
  { whitespace: "none", openObjects: true },
  { whitespace: "single", anyOrder: true },
  { whitespace: "free", anyOrder: true },
  {},
];

/** What came of some schemas. */
export class FuzzReport {
  schemas = 0;
  compiled = 0;
  /** Schemas that Ajv cannot compile: their documents are not judged by it. */
  unjudged = 0;
  documents = 0;
  bytes = 0;
  readonly refusals: string[] = [];
  readonly faults: string[] = [];

  /** The counts in a line. */
  toString(): string {
    const { schemas, compiled, unjudged, documents, bytes, faults } = this;
    return `${schemas} schemas, ${compiled} compiled (${unjudged} not by Ajv), ${documents} ` +
      `documents of ${bytes} bytes, ${faults.length} faults`;
  }
}

/** Writes documents for schemas. */
export function fuzz(
  schemas: Iterable<NamedSchema>,
  vocabulary: Vocabulary,
  report: FuzzReport = new FuzzReport(),
): FuzzReport {
  for (const schema of schemas) fuzzSchema(schema, vocabulary, report);
  return report;
}

function fuzzSchema(schema: NamedSchema, vocabulary: Vocabulary, report: FuzzReport): void {
  const options = OPTIONS[report.schemas++ % OPTIONS.length]!;
  const { name, text } = schema;
  const about = `${name}, ${JSON.stringify(options)}, ${vocabulary.name}`;
  try {
    const compiled = compileSchema(text, vocabulary.tokenizer, options);
    report.compiled++;
    const judge = judgeOf(JSON.parse(text));
    if (!judge) report.unjudged++;
    for (let seed = 1; seed <= SEEDS + FAVORING_SEEDS; seed++) {
      const draws = new Draws(seed);
      const budget = seed === SEEDS ? draws.between(1, 30) : draws.between(40, 400);
      const how = { budget, favorsStructure: seed > SEEDS };
      const sample = sampleDocument(compiled.matcher(), vocabulary, draws, how);
      report.documents++;
      report.bytes += sample.bytes.length;
      for (const [fault, bytes] of faultsOf(sample, judge, options)) {
        const document = new TextDecoder().decode(bytes);
        report.faults.push(
          `${about}, seed ${seed}: ${fault}\n  schema ${text}\n  document ${document}`,
        );
      }
    }
  } catch (error) {
    if (error instanceof SchemaError) report.refusals.push(`${name}: ${error.message}`);
    else report.faults.push(`${about}: ${(error as Error).stack}\n  schema ${text}\n  document `);
  }
}

/** What is wrong with a document, or with what completion() made of it. */
function* faultsOf(
  { bytes, completed, faults }: Sample,
  judge: Judge | undefined,
  options: CompileOptions,
): Generator<[fault: string, bytes: Uint8Array]> {
  for (const fault of faults) yield [fault, bytes];
  if (faults.length > 0) return;
  for (const document of completed ? [bytes, completed] : [bytes]) {
    const wrong = documentFaults(document, options);
    for (const fault of wrong) yield [fault, document];
    if (wrong.length > 0 || !judge) continue;
    const errors = judge(JSON.parse(new TextDecoder().decode(document)));
    if (errors !== undefined) yield [`Ajv says: ${errors}`, document];
  }
}
