// What models do differently in attention: the reference by means that can be worked out by hand,
// and the kernel against the reference, in the combinations that models have.

import { assertEquals } from "@std/assert";
import { alibiSlopes, attentionReference } from "../../kernels/mod.ts";
import { deviceTest } from "../gpu.ts";
import { assertAttention } from "./attention_case.ts";
import { assertClose } from "./close.ts";

type ReferenceOptions = Parameters<typeof attentionReference>[3];

/** Which of seven positions each query sees: with equal keys, those whose values it is the mean of. */
function seen(options: Partial<ReferenceOptions>): string[] {
  const tokens = 7;
  const shape = { heads: 1, kvHeads: 1, headDim: 4, valueDim: 8, scale: 1 };
  const values = new Float32Array(tokens * 8);
  for (let token = 0; token < tokens; token++) values[token * 8 + token] = 1;
  const zeros = new Float32Array(tokens * 4);
  const y = attentionReference(zeros, zeros, values, { ...shape, ...options });
  return Array.from(
    { length: tokens },
    (_, t) => Array.from(y.subarray(t * 8, t * 8 + 7), (mean) => mean > 0 ? "x" : ".").join(""),
  );
}

Deno.test("attentionReference() sees the keys of each kind of window", () => {
  assertEquals(seen({ window: { kind: "sliding", size: 3 } }), [
    "x......",
    "xx.....",
    "xxx....",
    ".xxx...",
    "..xxx..",
    "...xxx.",
    "....xxx",
  ]);
  assertEquals(seen({ window: { kind: "chunked", size: 3 } }), [
    "x......",
    "xx.....",
    "xxx....",
    "...x...",
    "...xx..",
    "...xxx.",
    "......x",
  ]);
  assertEquals(seen({ window: { kind: "symmetric", size: 3 }, causal: false }), [
    "xx.....",
    "xxx....",
    ".xxx...",
    "..xxx..",
    "...xxx.",
    "....xxx",
    ".....xx",
  ]);
  assertEquals(seen({ causal: false }), Array(7).fill("xxxxxxx"));
  const images = {
    images: [[1, 4], [4, 6]] as const,
    window: { kind: "sliding", size: 3 } as const,
  };
  assertEquals(seen({ ...images, bidirectionalImages: true }), [
    "x......",
    "xxxx...",
    "xxxx...",
    ".xxx...",
    "..xxxx.",
    "...xxx.",
    "....xxx",
  ]);
  assertEquals(seen(images), seen({ window: images.window }));
});

Deno.test("attentionReference() weighs by capped, biased and heated scores, and by sinks", () => {
  // One query at position 1, whose score is 2 for key 0 and 0 for key 1; value 0 is 1, value 1 is 0.
  const weight = (options: Partial<ReferenceOptions>) => {
    const shape = { heads: 1, kvHeads: 1, headDim: 4, scale: 1, ...options };
    const q = Float32Array.of(0, 0, 0, 0, 2, 0, 0, 0);
    const k = Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0);
    return attentionReference(q, k, k, shape)[4];
  };
  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
  const expected: [Partial<ReferenceOptions>, number][] = [
    [{}, sigmoid(2)],
    [{ scale: 0.5 }, sigmoid(1)],
    [{ softcap: 4 }, sigmoid(4 * Math.tanh(0.5))],
    [{ alibi: 1 }, sigmoid(2 - 0.5)],
    [{ temperature: { scale: 0.5, length: 2, offset: 1 } }, sigmoid(2 + Math.log(2))],
    [{ temperature: { scale: 0.5, length: 2, offset: 0 } }, sigmoid(2)],
    [{ sinks: Float32Array.of(1) }, Math.exp(2) / (Math.exp(2) + 1 + Math.E)],
  ];
  for (const [options, value] of expected) assertClose([weight(options)], [value], () => 1e-6);
});

Deno.test("alibiSlopes() are powers of two, with half steps past a power of two heads", () => {
  assertEquals([...alibiSlopes(8, 8)], [1, 2, 3, 4, 5, 6, 7, 8].map((i) => 2 ** -i));
  const last = [0.5, 1.5].map((exponent) => Math.fround(2 ** (-2 * exponent)));
  assertEquals([...alibiSlopes(6, 8)], [2 ** -2, 2 ** -4, 2 ** -6, 2 ** -8, ...last]);
});

const MIXED = [[70, 9], [33, 1], [200, 7], [12, 12]] as const;
const SMALL = { half: false, quantized: false, tileRows: 2, sequences: MIXED };

deviceTest("Attention caps scores in sliding windows, as Gemma 2 does", async (device) => {
  const shape = { ...SMALL, heads: 4, kvHeads: 2, headDim: 16, softcap: 5, sharpness: 6 };
  await assertAttention(device, { ...shape, split: 64, window: { kind: "sliding", size: 40 } });
  await assertAttention(device, { ...shape, split: 24, window: { kind: "sliding", size: 50 } });
  await assertAttention(device, { ...shape, split: 8, window: { kind: "sliding", size: 1 } });
});

deviceTest("Attention of a query with NaN gives NaN, with scores capped or not", async (device) => {
  const shape = { ...SMALL, heads: 4, kvHeads: 2, headDim: 16, split: 64, sharpness: NaN };
  for (const softcap of [0, 5]) await assertAttention(device, { ...shape, softcap });
});

deviceTest("Attention has sinks in sliding windows, as gpt-oss does", async (device) => {
  const sinks = Float32Array.of(-3, 0, 2.5, 20);
  const shape = { ...SMALL, heads: 4, kvHeads: 1, headDim: 16, quantized: true, half: true, sinks };
  await assertAttention(device, { ...shape, split: 20, window: { kind: "sliding", size: 30 } });
});

deviceTest("Attention heats queries and sees chunks, as Llama 4 does", async (device) => {
  const temperature = { scale: 0.5, length: 32, offset: 1 };
  const shape = { ...SMALL, heads: 2, kvHeads: 1, headDim: 16, temperature, first: 8 };
  await assertAttention(device, { ...shape, split: 16, window: { kind: "chunked", size: 34 } });
});

deviceTest("Attention sees both sides, near or all, as encoders do", async (device) => {
  const sequences = [[70, 70], [33, 33], [1, 1], [100, 30]] as const;
  const shape = { ...SMALL, sequences, heads: 2, kvHeads: 2, headDim: 16, causal: false };
  await assertAttention(device, { ...shape, split: 24, window: { kind: "symmetric", size: 21 } });
  await assertAttention(device, { ...shape, split: 24 });
});

deviceTest("Attention sees whole images, as Gemma 3 does", async (device) => {
  const sequences = [[40, 40], [64, 20], [30, 1]] as const;
  const images = [[5, 19], [46, 50], [50, 60]] as const;
  const shape = { ...SMALL, sequences, images, heads: 2, kvHeads: 1, headDim: 16 };
  await assertAttention(device, { ...shape, bidirectionalImages: true, split: 24 });
  const window = { kind: "sliding", size: 9 } as const;
  await assertAttention(device, { ...shape, bidirectionalImages: true, window, split: 8 });
});

deviceTest("Attention biases by distance, with values of another length", async (device) => {
  const shape = { ...SMALL, heads: 6, kvHeads: 2, headDim: 24, half: true, alibi: 8, split: 64 };
  await assertAttention(device, { ...shape, valueDim: 40 });
});

deviceTest(
  "Attention takes values from keys, as DeepSeek does: 16 heads of 576",
  async (device) => {
    const shape = { ...SMALL, heads: 16, kvHeads: 1, headDim: 576, valueDim: 512, half: true };
    const sequences = [[40, 3], [75, 1]] as const;
    await assertAttention(device, {
      ...shape,
      sharedValues: true,
      sequences,
      tileRows: 1,
      split: 64,
    });
  },
  { dawn: false },
);
