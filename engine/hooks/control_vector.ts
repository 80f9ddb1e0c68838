// Control vectors (Zou et al., Representation Engineering, 2023): a direction for each layer, which is
// added to the residual stream after it. In files as llama.cpp's cvector-generator writes and reads
// them: GGUF of the architecture "controlvector", whose f32 tensors direction.N are for layer N, from 1 on.

import { GgufError, RequestError } from "../errors.ts";
import { type ByteSources, readGguf, TensorReader, writeGguf } from "../gguf/mod.ts";
import type { ChatModel, HookChange, HookPositions } from "../types/mod.ts";

const ARCHITECTURE = "controlvector";

/** Directions by layer. */
export interface ControlVector {
  /** Architecture of the model that they were made of; "" if the file does not say. */
  readonly architecture: string;
  /** [width] by layer, from 1 on. */
  readonly directions: ReadonlyMap<number, Float32Array>;
}

/** How a vector is applied. */
export interface SteeringOptions {
  /** Factor of the directions; negative ones steer the other way. Default 1. */
  readonly scale?: number;
  /** First and last layer, both included. Default: all that the vector has. */
  readonly layers?: readonly [first: number, last: number];
  /** Default: all, of prompt and answer. */
  readonly positions?: HookPositions;
}

/**
 * Reads a file. Errors: GgufError for what is no control vector.
 *
 * @param files default: this machine's
 */
export async function readControlVector(
  path: string | URL,
  files?: ByteSources,
): Promise<ControlVector> {
  const gguf = await readGguf(path, files);
  const { "general.architecture": kind, [`${ARCHITECTURE}.model_hint`]: hint } = gguf.metadata;
  if (kind !== ARCHITECTURE) {
    throw new GgufError(gguf.path, "general.architecture", `"${kind}" is no control vector`);
  }
  using reader = await TensorReader.open(gguf);
  const directions = new Map<number, Float32Array>();
  for (const tensor of gguf.tensors.values()) {
    const layer = Number(/^direction\.([1-9]\d*)$/.exec(tensor.name)?.[1]);
    const wrong = Number.isNaN(layer)
      ? "its name is not direction.N of a layer from 1 on"
      : tensor.type !== 0 || tensor.shape.length !== 1
      ? "it is not one row of F32"
      : undefined;
    if (wrong) throw new GgufError(gguf.path, tensor.name, wrong);
    const bytes = new Uint8Array(tensor.byteLength);
    reader.read(tensor, 0, bytes);
    directions.set(layer, new Float32Array(bytes.buffer));
  }
  if (directions.size === 0) throw new GgufError(gguf.path, "tensors", "there is no direction");
  return { architecture: typeof hint === "string" ? hint : "", directions };
}

/** Writes a file, which llama.cpp reads, too. */
export async function writeControlVector(
  path: string | URL,
  { architecture, directions }: ControlVector,
): Promise<void> {
  const metadata = {
    "general.architecture": ARCHITECTURE,
    [`${ARCHITECTURE}.model_hint`]: architecture,
    [`${ARCHITECTURE}.layer_count`]: { int32: directions.size },
  };
  const tensors = Array.from(directions, ([layer, values]) => ({
    name: `direction.${layer}`,
    shape: [values.length],
    type: "F32",
    data: () => [new Uint8Array(values.buffer, values.byteOffset, values.byteLength)],
  }));
  await writeGguf(path, metadata, tensors);
}

/** The changes that steer a request. Errors: RequestError. */
export function steer(
  { directions }: ControlVector,
  { scale = 1, layers, positions }: SteeringOptions = {},
): HookChange[] {
  if (!Number.isFinite(scale)) throw new RequestError(`Cannot steer: the scale is ${scale}`);
  const [first, last] = layers ?? [1, Infinity];
  const chosen = [...directions].filter(([layer]) => first <= layer && layer <= last);
  if (chosen.length === 0) {
    const there = [...directions.keys()].sort((a, b) => a - b);
    const state = `the vector has none for layers ${first} to ${last}; it has ${there.join(", ")}`;
    throw new RequestError(`Cannot steer: ${state}`);
  }
  return chosen.map(([layer, values]): HookChange => ({
    point: `residual.post[${layer}]`,
    add: values.map((value) => scale * value),
    ...(positions && { positions }),
  }));
}

/** How directions follow from differences. */
export type ControlVectorMethod = "mean" | "pca";

/** A pair of texts: one as answers should be, and one as they should not. */
export type TextPair = readonly [positive: string, negative: string];

/**
 * Makes a vector of pairs of texts, from the differences of the residual streams at their last tokens:
 * their mean, or their first principal component, as long as the mean is in that direction.
 *
 * @throws {RequestError} if there are no pairs, or no difference
 */
export async function makeControlVector(
  model: Pick<ChatModel, "info" | "run">,
  pairs: readonly TextPair[],
  method: ControlVectorMethod = "mean",
): Promise<ControlVector> {
  if (pairs.length === 0) {
    throw new RequestError("Cannot make a control vector: there are no pairs");
  }
  const differences = new Map<number, Float64Array[]>();
  for (const pair of pairs) {
    const [positive, negative] = await Promise.all(
      pair.map((prompt) => model.run({ prompt, capture: ["residual.post"], positions: "last" })),
    );
    positive!.captured.forEach(({ point, values }, i) => {
      const layer = Number(/\d+/.exec(point)?.[0]);
      if (layer === 0) return; // Files have none for it.
      const other = negative!.captured[i]!.values;
      const all = differences.get(layer) ?? [];
      all.push(Float64Array.from(values, (value, column) => value - other[column]!));
      differences.set(layer, all);
    });
  }
  const directions = new Map<number, Float32Array>();
  for (const [layer, rows] of differences) {
    const direction = method === "mean" ? meanOf(rows) : principalComponent(rows);
    directions.set(layer, Float32Array.from(direction));
  }
  if ([...directions.values()].every((values) => values.every((value) => value === 0))) {
    throw new RequestError("Cannot make a control vector: the texts of the pairs do not differ");
  }
  return { architecture: model.info.architecture, directions };
}

function meanOf(rows: readonly Float64Array[]): Float64Array {
  return rows[0]!.map((_, column) =>
    rows.reduce((sum, row) => sum + row[column]!, 0) / rows.length
  );
}

/** Most rounds of the power iteration, and the change of a direction at which it ends. */
const [MOST_ROUNDS, SETTLED] = [1000, 1e-12];

/**
 * The direction in which differences, and what is opposite to them, vary most, of length one: the power
 * iteration on their products. It begins with their mean, and points its way.
 */
function principalComponent(rows: readonly Float64Array[]): Float64Array {
  const mean = meanOf(rows);
  let direction = unit(mean);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const next = new Float64Array(direction.length);
    for (const row of rows) {
      const weight = dot(row, direction);
      row.forEach((value, i) => next[i]! += weight * value);
    }
    const length = unit(next);
    const change = length.reduce((sum, value, i) => sum + (value - direction[i]!) ** 2, 0);
    direction = length;
    if (change < SETTLED) break;
  }
  return dot(direction, mean) < 0 ? direction.map((value) => -value) : direction;
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

function unit(vector: Float64Array): Float64Array {
  const length = Math.sqrt(dot(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}
