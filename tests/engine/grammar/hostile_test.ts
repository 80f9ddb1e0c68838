// Hostile schemas: each ends in success or a clear SchemaError within a second, the first mask
// included, no mask after that takes longer or throws, and none takes more memory than it needs. A
// second is CPU time of this thread on a quiet machine.

import { assert, assertEquals } from "@std/assert";
import { compileSchema, type Matcher, SchemaError } from "../../../engine/grammar/mod.ts";
import { loadTokenizer } from "../../../engine/mod.ts";
import type { Tokenizer } from "../../../tokenizer/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { assertInTime, threadTime } from "../../cpu_time.ts";
import { share } from "../../share.ts";
import { HOSTILE } from "./hostile_schemas.ts";
import { createDraw } from "./language/random.ts";

const VOCABULARY = new URL("../../../../shared/data/tokenizers/llama-bpe.gguf", import.meta.url);
const LIMIT = 1000;
const MAX_HEAP = 1.5e9;
/** Masks that are made after the first. */
const LATER_MASKS = share(3, 6);

async function load(): Promise<Tokenizer> {
  try {
    Deno.statSync(VOCABULARY);
    return await loadTokenizer(VOCABULARY.pathname);
  } catch {
    const path = await Deno.makeTempFile({ suffix: ".gguf" });
    await writeTinyLlama(path);
    const tokenizer = await loadTokenizer(path);
    await Deno.remove(path);
    return tokenizer;
  }
}

const tokenizer = await load();
compileSchema({}, tokenizer).matcher().mask(); // sorts the vocabulary

/** What a call returns; it must be quick. */
function inTime<T>(call: () => T): T {
  const start = threadTime();
  const result = call();
  assertInTime(threadTime() - start, LIMIT);
  assert(Deno.memoryUsage().heapUsed < MAX_HEAP);
  return result;
}

/** The matcher of a schema with its first mask made, or the keyword that the schema is refused for. */
function begin(schema: unknown): Matcher | string {
  try {
    const matcher = compileSchema(schema, tokenizer).matcher();
    assertSome(matcher.mask());
    return matcher;
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return error.keyword;
  }
}

function assertSome(mask: Uint32Array): void {
  assert(mask.some((word) => word !== 0), "the mask is empty");
}

/** A token of a mask: short ones that come first in the alphabet are where patterns loop. */
function drawToken(mask: Uint32Array, draw: (bound: number) => number): number {
  const tokens: number[] = [];
  mask.forEach((word, i) => {
    for (let bit = 0; bit < 32; bit++) if (word >>> bit & 1) tokens.push(32 * i + bit);
  });
  const plain = tokens.filter((token) => /^[ab]{1,3}$/.test(tokenizer.piece(token)));
  const choice = plain.length > 0 && draw(3) > 0 ? plain : tokens;
  return choice[draw(choice.length)]!;
}

for (const [name, make, refused] of HOSTILE) {
  Deno.test(`compileSchema() and each mask end within a second with ${name}`, () => {
    const schema = make();
    const begun = inTime(() => begin(schema));
    assertEquals(typeof begun === "string" ? begun : undefined, refused);
    if (typeof begun === "string") return;
    const draw = createDraw(3);
    for (let i = 0; i < LATER_MASKS && !begun.isEnded; i++) {
      const mask = inTime(() => begun.mask());
      assertSome(mask);
      assert(inTime(() => begun.accept(drawToken(mask, draw))));
    }
  });
}
