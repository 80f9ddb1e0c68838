// What several families of image encoders share: learned positions, SigLIP, the mean of patches,
// and projectors of two matrices.

import type { FloatRows } from "../../../kernels/mod.ts";
import type { Input, Layer, Network, SizeSource } from "../../nn/mod.ts";
import type { Stack } from "../../weights/mod.ts";
import type { ImageBuilder, RowValues } from "./builder.ts";

/**
 * The rows of v.position_embd, for patches ordered by row. A class token comes after the patches,
 * since attention does not depend on the order of rows. Its row is v.class_embd plus the first or
 * the last position, as `classToken` says. Errors: GgufError.
 */
export function learnedPositions(
  image: ImageBuilder,
  { classToken }: { classToken?: "first" | "last" } = {},
): RowValues {
  const { top, weights, config } = image;
  const { width, usualPatches } = config;
  const said = usualPatches && usualPatches + (classToken ? 1 : 0);
  const places = top.size(said, [["v.position_embd.weight", 1]]);
  const table = weights.values("v.position_embd.weight", [width, places]);
  const classEmbedding = classToken && weights.values("v.class_embd", [width]);
  const bias = weights.has("v.patch_embd.bias")
    ? weights.values("v.patch_embd.bias", [width])
    : undefined;
  image.onlyPatches = places - (classToken ? 1 : 0);
  const isFirst = classToken === "first";
  const positionOf = (row: number) => table.subarray(row * width, (row + 1) * width);
  return (grid, rows) => {
    const values = new Float32Array(rows * width);
    for (let row = 0; row < grid.patches; row++) {
      const cell = grid.ys[row] * grid.columns + grid.xs[row];
      values.set(positionOf(isFirst ? cell + 1 : cell), row * width);
    }
    // The patch embedding adds its bias to every row, so it is subtracted here for the class token.
    const position = positionOf(isFirst ? 0 : grid.patches);
    classEmbedding?.forEach((value, column) => {
      values[grid.patches * width + column] = value + position[column] - (bias?.[column] ?? 0);
    });
    return values;
  };
}

/** The residual stream of a SigLIP (Zhai et al. 2023) after its layers. Errors: GgufError. */
export async function encodeSigLip(image: ImageBuilder): Promise<FloatRows> {
  const x = await image.patches(learnedPositions(image), { bias: "required" });
  for (const layer of image.layers()) await image.transform(layer, x);
  image.normalize(x, "v.post_ln");
  return x;
}

/** The embedding of the token that ends a row of tokens, in files that have it. */
export const LINE_BREAK = "v.token_embd.img_break";

/**
 * The matrices of a projector by the names of their weights. Errors: GgufError.
 *
 * @param readers tensors whose shapes show the outputs of the second matrix
 */
export async function loadTwice(
  top: Layer,
  [first, second]: readonly [first: string, second: string],
  columns: number,
  bias: "required" | "optional" = "optional",
  readers: readonly SizeSource[] = [],
): Promise<readonly [first: Stack, second: Stack]> {
  const biasOf = (name: string) => name.replace(/weight$/, "bias");
  if (bias === "optional") top.hasAll([first, second].map(biasOf));
  const hidden = top.size(0, [[first, 1], [biasOf(first), 0], [second, 0]]);
  // In files without biases, the number in the metadata may be wrong.
  const said = bias === "required" ? top.config.countOr("projection_dim", 0) : 0;
  const outputs = top.size(said, [[second, 1], [biasOf(second), 0], [LINE_BREAK, 0], ...readers]);
  return [
    await top.matrix(first, hidden, columns, { bias }),
    await top.matrix(second, outputs, hidden, { bias }),
  ];
}

/** y = second(gelu(first(x))), by default as new rows. */
export function projectTwice(
  network: Network,
  x: Input,
  first: Stack,
  second: Stack,
  y = network.scratch("embeddings", second.columns),
): FloatRows {
  const rows = network.linear(x, first, "projector");
  network.project(network.activate(rows, first.columns, "gelu", second), second, y);
  return y;
}

/** The mean of several vectors that lie side by side in each row. */
export function meanVector(network: Network, x: FloatRows, columns: number): FloatRows {
  const count = x.columns / columns;
  const y = network.scratch("mean", columns);
  network.elementwise("copy", { rows: y }, { x: { rows: x }, factor: 1 / count });
  if (count === 1) return y;
  const shares = network.memory.rows("shares", new Float32Array(count - 1).fill(1 / count));
  const others = { rows: x, first: columns, step: columns };
  const options = { inputs: count - 1, outputs: 1 };
  const weights = { ...shares, stride: 0 };
  network.addRows(network.make.mix(weights, others, { rows: y }, options));
  return y;
}
