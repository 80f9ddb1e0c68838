// Masks equal a trial of every token byte by byte, bit by bit, at places all over documents that are
// written at random; another compilation of the schema tries. QUERN_FUZZ=N looks at N times as many
// as a whole run has; the everyday one looks at a twentieth of them.

import { assert, assertEquals } from "@std/assert";
import { type CompileOptions, compileSchema, SchemaError } from "../../../engine/grammar/mod.ts";
import type { Matcher } from "../../../engine/grammar/machine/mod.ts";
import { dataNote, hasData } from "../../tokenizer/vocabularies.ts";
import { Draws } from "./fuzz/draws.ts";
import { type NamedSchema, readMaskBench } from "./fuzz/mask_bench.ts";
import { SchemaMaker } from "./fuzz/random_schema.ts";
import { share } from "../../share.ts";
import { hasToken, sampleDocument } from "./fuzz/sampler.ts";
import { SCHEMAS } from "./fuzz/schemas.ts";
import { TokenTrials } from "./fuzz/simulated_mask.ts";
import {
  bytePairVocabulary,
  sentencePieceVocabulary,
  sharedVocabulary,
  type Vocabulary,
} from "./fuzz/vocabularies.ts";

const SCALE = Number(Deno.env.get("QUERN_FUZZ") ?? 0.05);
/** Positions per document that are tried. */
const PER_DOCUMENT = 3;
/** Tokens per position that another matcher takes byte by byte. */
const BYTE_BY_BYTE = 8;

const OPTIONS: readonly CompileOptions[] = [
  {},
  { whitespace: "free" },
  { anyOrder: true },
  { whitespace: "none", anyOrder: true, anyNumbers: true },
];

/** Tries masks in a document of each schema; returns the number of positions. */
function tryMasks(schemas: readonly NamedSchema[], vocabulary: Vocabulary): number {
  const trials = new TokenTrials(vocabulary);
  let positions = 0;
  for (const [index, { name, text }] of schemas.entries()) {
    const options = OPTIONS[index % OPTIONS.length]!;
    const begin = beginnerOf(text, vocabulary, options);
    const beginOther = beginnerOf(text, vocabulary, options);
    if (!begin || !beginOther) continue;
    const about = `${vocabulary.name}, schema ${name} with ${JSON.stringify(options)}: ${text}`;
    const steps: Uint8Array[] = [];
    const draws = new Draws(index);
    const budget = draws.between(20, 200);
    sampleDocument(begin(), vocabulary, draws, {
      budget,
      observe: (_, bytes) => steps.push(bytes),
    });
    for (let place = 0; place < PER_DOCUMENT; place++, positions++) {
      tryMask(draws.one(steps), trials, begin, beginOther, draws, about);
    }
  }
  return positions;
}

/** Compares the mask after some bytes with what another matcher says. */
function tryMask(
  before: Uint8Array,
  trials: TokenTrials,
  begin: () => Matcher,
  beginOther: () => Matcher,
  draws: Draws,
  about: string,
): void {
  const place = `${about}\nafter ${new TextDecoder().decode(before)}`;
  const matchers = [begin(), beginOther()];
  for (const matcher of matchers) assert(matcher.acceptBytes(before), place);
  const mask = matchers[0]!.mask().slice();
  assertEquals(trials.differences(mask, trials.maskAt(matchers[1]!)), [], place);

  const steered = matchers[0]!.mask({ remaining: draws.below(40) });
  assertEquals(trials.differences(steered.map((word, at) => word & mask[at]!), steered), [], place);

  for (let trial = 0; trial < BYTE_BY_BYTE; trial++) {
    const token = trials.oneOf(draws);
    const fresh = beginOther();
    assert(fresh.acceptBytes(before), place);
    const isTaken = trials.takesByteByByte(fresh, token);
    assertEquals(isTaken, hasToken(mask, token), `token ${token}: ${place}`);
  }
}

/** Begins documents of a schema; undefined where it is refused. */
function beginnerOf(
  text: string,
  { tokenizer }: Vocabulary,
  options: CompileOptions,
): (() => Matcher) | undefined {
  try {
    const compiled = compileSchema(text, tokenizer, options);
    // Bytes are no part of the public interface.
    return () => compiled.matcher() as Matcher;
  } catch (error) {
    if (error instanceof SchemaError) return undefined;
    throw error;
  }
}

/** Every day each of the two small vocabularies has another quarter of our schemas; whole runs all. */
const EVERY = share(4, 1);

const ours = SCHEMAS.map((schema, at) => ({ name: `${at}`, text: JSON.stringify(schema) }));

/** Random schemas from a seed on. */
function randomSchemas(count: number, first: number): NamedSchema[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `seed ${first + at}`,
    text: JSON.stringify(SchemaMaker.make(new Draws(first + at))),
  }));
}

for (const [turn, vocabulary] of [bytePairVocabulary(), sentencePieceVocabulary()].entries()) {
  Deno.test(`mask() equals a trial of every token, with ${vocabulary.name}`, () => {
    const some = ours.filter((_, at) => (at + turn) % EVERY === 0);
    const schemas = [...some, ...randomSchemas(Math.ceil(150 * SCALE), 1)];
    const positions = tryMasks(schemas, vocabulary);
    assert(positions > 300 * SCALE, `only ${positions} positions`);
  });
}

for (const [name, stride] of [["llama-bpe", 220], ["llama-spm", 120]] as const) {
  Deno.test({
    name: `mask() equals a trial of every token, with the vocabulary ${name}${dataNote}`,
    ignore: !hasData,
    fn: async () => {
      const found = await readMaskBench(Math.max(1, Math.round(stride / SCALE)));
      const own = ours.filter((_, at) => at % Math.max(1, Math.round(8 / SCALE)) === 0);
      const schemas = [...own, ...found, ...randomSchemas(Math.ceil(10 * SCALE), 5000)];
      const positions = tryMasks(schemas, await sharedVocabulary(name));
      assert(positions >= 70 * SCALE, `only ${positions} positions`);
    },
  });
}
