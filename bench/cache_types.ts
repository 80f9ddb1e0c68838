// `deno task bench:cache-types [MODEL.gguf] [--text FILE] [--tokens 1024]`: what types of KV cache take,
// and what they change: bytes of a token, the NMSE of logits against those with an f32 cache, and the mean
// loss (cross entropy of the next token, in nats) over a text. Default: the model in the box, on a text.

import { parseArgs } from "node:util";
import { BOX_MODEL, type CacheTypes, loadModel } from "../engine/mod.ts";
import { typesOf } from "../kernels/mod.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    text: { type: "string" },
    tokens: { type: "string", default: "1024" },
  },
});
const path = positionals[0] ?? BOX_MODEL.path;
const text = await Deno.readTextFile(
  options.text ?? new URL("../engine/box/README.md", import.meta.url),
);

const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text + "\n"));

const TYPES: readonly CacheTypes[] = [
  typesOf("f32"),
  typesOf("f16"),
  typesOf("q8_0"),
  { keys: "q8_0", values: "q4_0" },
  { keys: "q4_0", values: "q8_0" },
  typesOf("q4_0"),
];

/** Mean cross entropy of each token given those before it, in nats. */
function lossOf(logits: Float32Array, tokens: readonly number[]): number {
  const vocabulary = logits.length / tokens.length;
  let sum = 0;
  for (let i = 0; i + 1 < tokens.length; i++) {
    const row = logits.subarray(i * vocabulary, (i + 1) * vocabulary);
    const peak = row.reduce((a, b) => Math.max(a, b));
    const total = row.reduce((all, value) => all + Math.exp(value - peak), 0);
    sum += peak + Math.log(total) - row[tokens[i + 1]!]!;
  }
  return sum / (tokens.length - 1);
}

function nmse(values: Float32Array, expected: Float32Array): number {
  let [error, power] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    error += (values[i]! - expected[i]!) ** 2;
    power += expected[i]! ** 2;
  }
  return error / power;
}

print("keys/values   bytes/token   NMSE of logits   loss     change");
let expected: { logits: Float32Array; loss: number } | undefined;
for (const cacheType of TYPES) {
  const load = { exact: true, cacheType, maxSequences: 1, cacheWindows: 1 };
  await using model = await loadModel(path, { ...load, contextLength: Number(options.tokens) });
  const tokens = model.tokenizer.encode(text).slice(0, model.contextLength - 1);
  const logits = await model.logits(tokens);
  const loss = lossOf(logits, tokens);
  expected ??= { logits, loss };
  const blocks = Math.ceil(model.contextLength / 32) + 1;
  const bytes = model.memory.keyValueCache / (32 * blocks);
  const names = Object.values(cacheType).join("/");
  const change = (loss - expected.loss).toFixed(5);
  const off = nmse(logits, expected.logits).toExponential(2);
  print(
    `${names.padEnd(14)}${bytes.toFixed(0).padEnd(14)}${off.padEnd(17)}${
      loss.toFixed(4)
    }   ${change}`,
  );
}
