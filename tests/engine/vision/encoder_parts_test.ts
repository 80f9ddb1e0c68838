// What image encoders compute on the CPU: the order of patches, the angles of rotary positions, and
// an encoder whose sizes are no multiples of what kernels like, against plain loops.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { loadImageEncoder } from "../../../engine/vision/mod.ts";
import { gridRotations, PatchGrid } from "../../../engine/vision/network/patch_grid.ts";
import {
  activateReference,
  attentionReference,
  linearReference,
  normReference,
} from "../../../kernels/mod.ts";
import { openDevice } from "../../../kernels/mod.ts";
import { nmse, randomFloats } from "../../numbers.ts";
import { writeModelFile } from "../../model_file.ts";

Deno.test("PatchGrid puts the patches of a token side by side, tokens by rows or columns", () => {
  const size = { width: 8, height: 4 };
  const rows = new PatchGrid(size, { patchSize: 1, merge: 2 });
  assertEquals(rows.tokens, 8);
  assertEquals([...rows.xs.subarray(0, 8)], [0, 1, 0, 1, 2, 3, 2, 3]);
  assertEquals([...rows.ys.subarray(0, 8)], [0, 0, 1, 1, 0, 0, 1, 1]);
  assertEquals([rows.xs[16], rows.ys[16]], [0, 2]);
  const columns = new PatchGrid(size, { patchSize: 1, merge: 2, columnsFirst: true });
  assertEquals([...columns.ys.subarray(0, 8)], [0, 0, 1, 1, 2, 2, 3, 3]);
  assertEquals([columns.xs[8], columns.ys[8]], [2, 0]);
  const layout = { patchSize: 2, merge: 2 };
  assertThrows(() => new PatchGrid({ width: 8, height: 6 }, layout), RangeError, "8 x 6 pixels");
  assertThrows(() => new PatchGrid({ width: 0, height: 4 }, layout), RangeError, "0 x 4 pixels");
});

Deno.test("PatchGrid.cut() gives each patch its channels one after the other, and zeros", () => {
  const grid = new PatchGrid({ width: 4, height: 2 }, { patchSize: 2, merge: 1 });
  const pixels = Float32Array.from({ length: 24 }, (_, i) => i + 1); // [2, 4, 3]
  const cut = grid.cut(pixels, 3);
  assertEquals(cut.length, 3 * 32);
  assertEquals([...cut.subarray(32, 44)], [7, 10, 19, 22, 8, 11, 20, 23, 9, 12, 21, 24]);
  assert(cut.subarray(44).every((value) => value === 0));
});

Deno.test("gridRotations() turns halves by row and column, from the origin on, and no other rows", () => {
  const grid = new PatchGrid({ width: 3, height: 2 }, { patchSize: 1, merge: 1 });
  const turns = gridRotations(
    { headDim: 8, base: 100, first: "column", distance: 1, origin: 1, interleaved: true },
    grid,
    7,
  );
  assertEquals(turns.length, 7 * 8);
  // Row 5 is the patch in column 2 and row 1: angles 3, 3 / 10, then 2 / sqrt(10), 2 / sqrt(1000).
  const angles = [3, 0.3, 2 / Math.sqrt(10), 2 / Math.sqrt(1000)];
  angles.forEach((angle, pair) => {
    const [cos, sin] = turns.subarray(5 * 8 + 2 * pair);
    assertEquals([cos, sin], [Math.fround(Math.cos(angle)), Math.fround(Math.sin(angle))]);
  });
  assertEquals([...turns.subarray(48)], [1, 0, 1, 0, 1, 0, 1, 0]);
});

/** Sizes of which few are multiples of 32. */
const [WIDTH, HEADS, HIDDEN, OUTPUTS, PATCH, SIDE, MERGE] = [40, 2, 56, 24, 6, 4, 2];
const SHAPES: Record<string, readonly number[]> = {
  "v.patch_embd.weight": [PATCH, PATCH, 3, WIDTH],
  "v.patch_embd.bias": [WIDTH],
  "v.position_embd.weight": [WIDTH, SIDE ** 2],
  "v.blk.0.ln1.weight": [WIDTH],
  "v.blk.0.ln1.bias": [WIDTH],
  "v.blk.0.attn_q.weight": [WIDTH, WIDTH],
  "v.blk.0.attn_q.bias": [WIDTH],
  "v.blk.0.attn_k.bias": [WIDTH],
  "v.blk.0.attn_v.bias": [WIDTH],
  "v.blk.0.attn_k.weight": [WIDTH, WIDTH],
  "v.blk.0.attn_v.weight": [WIDTH, WIDTH],
  "v.blk.0.attn_out.weight": [WIDTH, WIDTH],
  "v.blk.0.attn_out.bias": [WIDTH],
  "v.blk.0.ln2.weight": [WIDTH],
  "v.blk.0.ln2.bias": [WIDTH],
  "v.blk.0.ffn_up.weight": [WIDTH, HIDDEN],
  "v.blk.0.ffn_up.bias": [HIDDEN],
  "v.blk.0.ffn_down.bias": [WIDTH],
  "v.blk.0.ffn_down.weight": [HIDDEN, WIDTH],
  "v.post_ln.weight": [WIDTH],
  "v.post_ln.bias": [WIDTH],
  "mm.model.fc.weight": [MERGE ** 2 * WIDTH, OUTPUTS],
};
const WEIGHTS: Record<string, Float32Array> = Object.fromEntries(
  Object.entries(SHAPES).map(([name, shape], i) => {
    const size = shape.reduce((product, length) => product * length, 1);
    return [name, randomFloats(size, i + 1).map((value) => value / Math.sqrt(shape[0]))];
  }),
);

/** x W^T + b. */
function linear(x: Float32Array, name: string, columns: number): Float32Array {
  const weights = WEIGHTS[`${name}.weight`];
  const shape = { rows: weights.length / columns, columns, tokens: x.length / columns };
  const bias = WEIGHTS[`${name}.bias`];
  const y = linearReference(weights, x, shape);
  return bias ? y.map((value, i) => value + bias[i % shape.rows]) : y;
}

function norm(x: Float32Array, name: string): Float32Array {
  const [weight, bias] = [WEIGHTS[`${name}.weight`], WEIGHTS[`${name}.bias`]];
  const options = { kind: "layer", epsilon: 1e-5, weight, ...(bias ? { bias } : {}) } as const;
  return normReference(x, WIDTH, options);
}

function add(x: Float32Array, y: Float32Array): Float32Array {
  return x.map((value, i) => value + y[i]);
}

/** The encoder in plain loops, its patches from left to right and top to bottom. */
function encodeReference(pixels: Float32Array): Float32Array {
  const across = SIDE * PATCH;
  const patches = Float32Array.from({ length: SIDE ** 2 * 3 * PATCH ** 2 }, (_, i) => {
    const [patch, rest] = [Math.floor(i / (3 * PATCH ** 2)), i % (3 * PATCH ** 2)];
    const [channel, pixel] = [Math.floor(rest / PATCH ** 2), rest % PATCH ** 2];
    const y = Math.floor(patch / SIDE) * PATCH + Math.floor(pixel / PATCH);
    const x = patch % SIDE * PATCH + pixel % PATCH;
    return pixels[(y * across + x) * 3 + channel];
  });
  let x = linear(patches, "v.patch_embd", 3 * PATCH ** 2);
  x = add(x, WEIGHTS["v.position_embd.weight"]);
  const block = "v.blk.0.";
  const normed = norm(x, `${block}ln1`);
  const [q, k, v] = ["q", "k", "v"].map((part) => linear(normed, `${block}attn_${part}`, WIDTH));
  const headDim = WIDTH / HEADS;
  const attended = attentionReference(q, k, v, {
    heads: HEADS,
    kvHeads: HEADS,
    headDim,
    scale: 1 / Math.sqrt(headDim),
    causal: false,
  });
  x = add(x, linear(attended, `${block}attn_out`, WIDTH));
  const hidden = linear(norm(x, `${block}ln2`), `${block}ffn_up`, WIDTH);
  const activated = hidden.map((value) => activateReference("quick_gelu", value));
  x = norm(add(x, linear(activated, `${block}ffn_down`, HIDDEN)), "v.post_ln");
  const tokens = SIDE / MERGE;
  const joined = Float32Array.from({ length: x.length }, (_, i) => {
    const [token, rest] = [Math.floor(i / (MERGE ** 2 * WIDTH)), i % (MERGE ** 2 * WIDTH)];
    const [part, column] = [Math.floor(rest / WIDTH), rest % WIDTH];
    const y = Math.floor(token / tokens) * MERGE + Math.floor(part / MERGE);
    return x[(y * SIDE + token % tokens * MERGE + part % MERGE) * WIDTH + column];
  });
  return linear(joined, "mm.model.fc", MERGE ** 2 * WIDTH);
}

Deno.test("an encoder of odd sizes matches plain loops", async () => {
  const tensors = Object.entries(SHAPES).map(([name, shape]) => ({
    name,
    shape,
    type: "F32",
    data: () => [new Uint8Array(WEIGHTS[name].slice().buffer)],
  }));
  const path = await writeModelFile({
    "general.architecture": "clip",
    "clip.projector_type": "idefics3",
    "clip.vision.block_count": 1,
    "clip.vision.embedding_length": WIDTH,
    "clip.vision.attention.head_count": HEADS,
    "clip.vision.attention.layer_norm_epsilon": 1e-5,
    "clip.vision.image_size": SIDE * PATCH,
    "clip.vision.patch_size": PATCH,
    "clip.vision.projector.scale_factor": MERGE,
  }, tensors);
  using device = await openDevice();
  using encoder = await loadImageEncoder(await readGguf(path), device);
  const [width, height] = [SIDE * PATCH, SIDE * PATCH];
  const pixels = randomFloats(3 * width * height, 99);
  const actual = await encoder.encode(pixels, { width, height });
  const error = nmse(actual, encodeReference(pixels));
  assert(error <= 1e-11, `NMSE ${error}`);
});
