// Names of models: what they may leave out, what they may not be.

import { assertEquals, assertThrows } from "@std/assert";
import { ModelName, StoreError } from "../../../engine/store/mod.ts";

const NAMES: [text: string, path: string, shortest: string][] = [
  ["gemma3", "registry.ollama.ai/library/gemma3/latest", "gemma3:latest"],
  ["gemma3:1b", "registry.ollama.ai/library/gemma3/1b", "gemma3:1b"],
  ["library/gemma3", "registry.ollama.ai/library/gemma3/latest", "gemma3:latest"],
  ["user/Model_1.5:Q4_K_M", "registry.ollama.ai/user/Model_1.5/Q4_K_M", "user/Model_1.5:Q4_K_M"],
  ["registry.ollama.ai/library/a:b", "registry.ollama.ai/library/a/b", "a:b"],
  ["Registry.Ollama.AI/Library/a", "Registry.Ollama.AI/Library/a/latest", "a:latest"],
  ["hf.co/user/repo-GGUF:Q8_0", "hf.co/user/repo-GGUF/Q8_0", "hf.co/user/repo-GGUF:Q8_0"],
  ["https://hf.co/user/repo", "hf.co/user/repo/latest", "hf.co/user/repo:latest"],
  ["localhost:5000/ns/a", "localhost:5000/ns/a/latest", "localhost:5000/ns/a:latest"],
  ["http://localhost:5000/a:b", "localhost:5000/library/a/b", "localhost:5000/library/a:b"],
  ["_a", "registry.ollama.ai/library/_a/latest", "_a:latest"],
  [
    "a".repeat(80),
    `registry.ollama.ai/library/${"a".repeat(80)}/latest`,
    `${"a".repeat(80)}:latest`,
  ],
];

for (const [text, path, shortest] of NAMES) {
  Deno.test(`ModelName.parse() reads ${text.slice(0, 40)}`, () => {
    const name = ModelName.parse(text);
    assertEquals([name.path, name.toString()], [path, shortest]);
    assertEquals(ModelName.fromPath(path)?.toString(), shortest);
    assertEquals(ModelName.parse(shortest).key, name.key);
  });
}

const OTHERS = [
  "",
  ":",
  "a:",
  ":b",
  "a b",
  "-a",
  ".a",
  "..",
  "a/../b",
  "../a",
  "a:..",
  "a//b",
  "/a",
  "a/",
  "h.co/a/b/c",
  "a.b/c/d:e/f",
  "n.s:x/../c",
  "h/n.s/m",
  "a\\b",
  "a\0",
  "a\n",
  "ä",
  "a:b:c",
  "a@sha256",
  "a".repeat(81),
  `${"h".repeat(351)}/n/m`,
];

for (const text of OTHERS) {
  Deno.test(`ModelName.parse() refuses ${JSON.stringify(text).slice(0, 40)}`, () => {
    assertThrows(() => ModelName.parse(text), StoreError, "invalid model name");
    assertEquals(ModelName.tryParse(text), undefined);
  });
}

Deno.test("names that differ by case have the same key", () => {
  assertEquals(ModelName.parse("HF.co/User/A:Q4").key, ModelName.parse("hf.co/user/a:q4").key);
});

Deno.test("ModelName.fromPath() refuses what is no manifest's place", () => {
  for (const path of ["", "a", "a/b/c", "a/b/c/.DS_Store", "a/b/c/d/e", "../b/c/d", "a/b.c/d/e"]) {
    assertEquals(ModelName.fromPath(path), undefined);
  }
});
