// Control vectors: made of pairs of texts, kept in files, and added inside the model.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  type ControlVector,
  GgufError,
  loadModel,
  makeControlVector,
  readControlVector,
  RequestError,
  steer,
  writeControlVector,
} from "../../engine/mod.ts";
import { writeTinyLlama } from "../tiny_model.ts";
import { folder } from "./harness.ts";

const path = `${folder}/steered.gguf`;
await writeTinyLlama(path, { layers: 4 });
const load = { contextLength: 64, maxSequences: 2, device: { kind: "cpu", threads: 1 } } as const;

const PAIRS = [["be brief", "be long"], ["short!", "endless"], ["one word", "many words"]] as const;

Deno.test("directions are the mean of differences, or what they have most in common", async () => {
  await using model = await loadModel(path, load);
  const mean = await makeControlVector(model, PAIRS);
  assertEquals([mean.architecture, ...mean.directions.keys()], ["llama", 1, 2, 3]);
  const rowsOf = async (prompt: string): Promise<Float32Array> => {
    const { captured } = await model.run({
      prompt,
      capture: ["residual.post[2]"],
      positions: "last",
    });
    return captured[0]!.values;
  };
  const differences: Float32Array[] = [];
  for (const [positive, negative] of PAIRS) {
    const [plus, minus] = [await rowsOf(positive), await rowsOf(negative)];
    differences.push(plus.map((value, i) => value - minus[i]!));
  }
  const expected = differences[0]!.map((_, i) =>
    (differences[0]![i]! + differences[1]![i]! + differences[2]![i]!) / 3
  );
  mean.directions.get(2)!.forEach((value, i) => assert(Math.abs(value - expected[i]!) < 1e-5));
  const { directions } = await makeControlVector(model, PAIRS, "pca");
  const direction = directions.get(2)!;
  const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, v, i) => sum + v * b[i]!, 0);
  assert(Math.abs(dot(direction, direction) - 1) < 1e-5);
  assert(dot(direction, expected) > 0);
  const variance = (along: Float32Array) =>
    differences.reduce((sum, row) => sum + dot(row, along) ** 2, 0);
  for (let i = 0; i < 64; i++) {
    const other = direction.map((value, j) => value + (i === j ? 0.05 : 0));
    const length = Math.sqrt(dot(other, other));
    assert(variance(other.map((value) => value / length)) <= variance(direction) + 1e-6);
  }
  const same = makeControlVector(model, [["a", "a"]]);
  await assertRejects(() => same, RequestError, "do not differ");
  await assertRejects(() => makeControlVector(model, []), RequestError, "there are no pairs");
});

Deno.test("a vector is the same after it was written, and is added after its layers", async () => {
  const directions = new Map(
    [1, 2].map((layer) =>
      [layer, Float32Array.from({ length: 64 }, (_, i) => Math.cos(i + layer))] as const
    ),
  );
  const vector: ControlVector = { architecture: "llama", directions };
  await writeControlVector(`${folder}/vector.gguf`, vector);
  assertEquals(await readControlVector(`${folder}/vector.gguf`), vector);
  await using model = await loadModel(path, load);
  const run = async (changes = steer(vector, { scale: 0 })) => {
    const capture = ["residual.post[0:2]", "residual.mid[2]"];
    return (await model.run({ prompt: "Hello", capture, changes })).captured;
  };
  const [plain, steered] = [await run(), await run(steer(vector, { scale: -2, layers: [1, 1] }))];
  assertEquals(steered[0], plain[0]);
  steered[1]!.values.forEach((value, i) => {
    const added = -2 * directions.get(1)![i % 64]!;
    assert(Math.abs(value - plain[1]!.values[i]! - added) < 1e-5);
  });
  assert(steered[2]!.values.some((value, i) => value !== plain[2]!.values[i]));
  assertThrows(() => steer(vector, { layers: [5, 6] }), RequestError, "it has 1, 2");
  assertThrows(() => steer(vector, { scale: NaN }), RequestError, "the scale is NaN");
  await assertRejects(() => readControlVector(path), GgufError, '"llama" is no control vector');
});
