// Hostile schemas: each ends in success or a clear SchemaError within a second, the first mask included,
// and takes no more memory than that needs. A second is meant on an idle machine: time is that of the clock
// or of the processor, whichever is less, and where the machine is busy with other work, three times that.

import process from "node:process";
import { assert, assertEquals } from "@std/assert";
import { compileSchema, SchemaError } from "../../../engine/grammar/mod.ts";
import { loadTokenizer } from "../../../engine/mod.ts";
import type { Tokenizer } from "../../../tokenizer/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { HOSTILE } from "./hostile_schemas.ts";

const VOCABULARY = new URL("../../../../shared/data/tokenizers/llama-bpe.gguf", import.meta.url);
const LIMIT = 1000;
const MAX_HEAP = 1.5e9;

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

for (const [name, make, refused] of HOSTILE) {
  Deno.test(`compileSchema() and the first mask end within a second with ${name}`, () => {
    const schema = make();
    const processor = process.cpuUsage();
    const start = performance.now();
    let keyword: string | undefined;
    try {
      const mask = compileSchema(schema, tokenizer).matcher().mask();
      assert(mask.some((word) => word !== 0), "the mask is empty");
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      keyword = error.keyword;
    }
    const { user, system } = process.cpuUsage(processor);
    const time = Math.min(performance.now() - start, (user + system) / 1000);
    assertEquals(keyword, refused);
    const isBusy = Deno.loadavg()[0]! > navigator.hardwareConcurrency / 2;
    assert(time < (isBusy ? 3 * LIMIT : LIMIT), `it took ${time.toFixed(0)} ms`);
    assert(Deno.memoryUsage().heapUsed < MAX_HEAP);
  });
}
