// Conversations of twelve turns with every kind of hybrid model, and with one of sliding windows; in a
// sweep also over 6,000 tokens.

import { checkConversation } from "../conversation.ts";
import { conformanceTest, readFixture } from "./logits.ts";
import { assertEquals } from "@std/assert";

const MODELS = [
  "granitehybrid-dense",
  "qwen3next-moe",
  "qwen35-dense",
  "falcon-h1-dense",
  "lfm2-dense",
  "nemotron_h-dense",
  "jamba-dense",
  "kimi-linear-moe",
  "mamba-dense",
  "mamba2-dense",
  "gemma3-dense",
];

const isSweep = Deno.env.has("QUERN_SWEEP");

for (const name of MODELS) {
  conformanceTest(`${name} reads no turn of a conversation twice`, async () => {
    const { model } = await readFixture("architectures", name);
    await checkConversation(model, {
      turns: 12,
      question: 9,
      answer: 11,
      options: { contextLength: 256, maxSequences: 2, exact: true },
    });
  });

  if (!isSweep) continue;
  conformanceTest(`${name} reads no turn of a conversation over 6,000 tokens twice`, async () => {
    const { model } = await readFixture("architectures", name);
    const context = 6400;
    const path = await Deno.makeTempFile({ suffix: ".gguf" });
    try {
      await Deno.writeFile(path, withContext(await Deno.readFile(model), context));
      await checkConversation(new URL(`file://${path}`), {
        turns: 12,
        question: 465,
        answer: 40,
        options: { contextLength: context, maxSequences: 2, exact: true },
        comparesAll: true,
      });
    } finally {
      await Deno.remove(path);
    }
  });
}

/** A model's file that says that it was trained with so many tokens; the data's say 256. */
function withContext(file: Uint8Array<ArrayBuffer>, context: number): Uint8Array<ArrayBuffer> {
  const key = ".context_length";
  const text = new TextDecoder("latin1").decode(file.subarray(0, 100_000));
  const end = text.indexOf(key) + key.length;
  const view = new DataView(file.buffer);
  const uint32 = 4;
  assertEquals(view.getUint32(end, true), uint32);
  view.setUint32(end + 4, context, true);
  return file;
}
