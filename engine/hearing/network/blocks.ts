// What several families of audio encoders share: rows side by side, the mean of pairs, and projectors of
// two matrices.

import type { ActivationFunction, FloatRows } from "../../../kernels/mod.ts";
import { GgufError } from "../../errors.ts";
import type { GgufFile } from "../../gguf/mod.ts";
import type { RowNetwork, SoundBuilder } from "./builder.ts";

/** Rows of a network of their own. */
export interface NetworkRows {
  readonly rows: RowNetwork;
  readonly x: FloatRows;
}

/** Each `count` rows side by side; the last rows that are fewer are dropped: [rows, count * columns]. */
export function joinRows(
  sound: SoundBuilder,
  { rowsOf }: RowNetwork,
  { columns, stride, floats }: FloatRows,
  count: number,
): NetworkRows {
  const rows = sound.over((extent) => Math.floor(rowsOf(extent) / count));
  const whole = { columns: count * stride, stride: count * stride, floats };
  if (stride === columns) return { rows, x: whole };
  const packed = rows.network.scratch("joined", count * columns);
  const to = { rows: packed, columns, step: columns };
  rows.network.elementwise("copy", to, { count, x: { rows: whole, step: stride } });
  return { rows, x: packed };
}

/** The mean of each pair of rows; a last row without another is dropped. */
export function meanOfPairs(sound: SoundBuilder, rows: RowNetwork, x: FloatRows): NetworkRows {
  const { columns } = x;
  const pairs = joinRows(sound, rows, x, 2);
  const { network } = pairs.rows;
  const mean = network.scratch("mean", columns);
  network.elementwise("copy", { rows: mean }, { x: { rows: pairs.x, columns }, factor: 0.5 });
  const second = { rows: pairs.x, first: columns, columns };
  network.elementwise("add", { rows: mean }, { x: second, factor: 0.5 });
  return { rows: pairs.rows, x: mean };
}

/** second(f(first(x))), the embeddings: by default mm.a.mlp.1 and mm.a.mlp.2. Errors: GgufError. */
export async function perceptron(
  sound: SoundBuilder,
  rows: RowNetwork,
  x: FloatRows,
  { names = ["mm.a.mlp.1.weight", "mm.a.mlp.2.weight"], activation = "gelu_erf" }: {
    names?: readonly [string, string];
    activation?: ActivationFunction;
  } = {},
): Promise<FloatRows> {
  const { network } = rows;
  const top = sound.top(rows);
  const hidden = top.size(0, [[names[0], 1]]);
  const first = await top.matrix(names[0], hidden, x.columns);
  const second = await top.matrix(names[1], top.size(0, [[names[1], 1]]), hidden);
  const middle = network.linear(network.input(x, first), first, "projector");
  const activated = network.activate(middle, hidden, activation, second);
  return network.linear(activated, second, "embeddings");
}

/** Columns of the output rows of encoders that end with a matrix. */
export function outputsOf(name: string): (gguf: GgufFile) => number {
  return ({ path, tensors }) => {
    const outputs = tensors.get(name)?.shape[1];
    if (outputs === undefined) throw new GgufError(path, `tensor "${name}"`, "it is missing");
    return outputs;
  };
}
