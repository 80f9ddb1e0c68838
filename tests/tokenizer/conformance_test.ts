// Token ids of llama.cpp for 16 vocabularies: its own cases, and 300 hostile texts with and without
// special tokens parsed.

import { fileURLToPath } from "node:url";
import { assert, assertEquals } from "@std/assert";
import { readGguf } from "../../engine/gguf/mod.ts";
import { createTokenizer, type Tokenizer } from "../../tokenizer/mod.ts";
import { dataNote, dataRoot, hasData } from "./vocabularies.ts";

const separator = "\n__ggml_vocab_test__\n";

const vocabularies = [
  ..."baichuan bert-bge deepseek-coder deepseek-llm falcon gpt-2 gpt-4o gpt-neox".split(" "),
  ..."llama-bpe llama-spm mpt phi-3 qwen2 refact starcoder stories260K".split(" "),
];

/** llama.cpp has no cases of its own for these; the hostile texts are there for all. */
const withoutCases = new Set(["baichuan", "gpt-4o", "gpt-neox", "stories260K"]);

const suites = [
  { input: "cases.inp", output: "cases.out", special: true },
  { input: "fuzz.inp", output: "fuzz.out", special: false },
  { input: "fuzz.inp", output: "fuzz-special.out", special: true },
];

function readData(path: string): Promise<string> {
  return Deno.readTextFile(new URL(`tokenizers/${path}`, dataRoot));
}

async function compare(tokenizer: Tokenizer, suite: typeof suites[number], output: string) {
  const texts = (await readData(suite.input)).split(separator);
  const lines = (await readData(output)).split("\n");
  assert(texts.length >= 46 && lines.length >= texts.length - 1, "the data is not whole");
  for (const [index, text] of texts.entries()) {
    const ids = tokenizer.encode(text, { special: suite.special });
    assertEquals(ids.join(" "), (lines[index] ?? "").trim(), JSON.stringify(text));
  }
}

for (const name of vocabularies) {
  Deno.test({
    name: `encode() matches llama.cpp for ${name}${dataNote}`,
    ignore: !hasData,
    async fn(test) {
      const folder = name === "stories260K" ? "models" : "tokenizers";
      const file = await readGguf(fileURLToPath(new URL(`${folder}/${name}.gguf`, dataRoot)));
      const tokenizer = createTokenizer(file.metadata);
      for (const suite of suites) {
        if (suite.output === "cases.out" && withoutCases.has(name)) continue;
        const output = `${name}.${suite.output}`;
        await test.step(output, () => compare(tokenizer, suite, output));
      }
      if (name === "bert-bge") return; // its normalizer is not meant to be undone
      await test.step("decode() undoes encode()", async () => {
        for (const text of (await readData("fuzz.inp")).split(separator)) {
          assertEquals(tokenizer.decode(tokenizer.encode(text, { special: false })), text);
        }
      });
    },
  });
}
