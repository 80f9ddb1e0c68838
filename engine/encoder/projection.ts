// Matrices that share their input. Gemma 4 bounds the inputs and outputs of matrices (`input_min`,
// `input_max`, `output_min`, `output_max` beside the weight). A matrix with bounds is a product of
// its own, and so is each where only some have biases, as in Whisper; the others are stacked into one.

import type { FloatRows, Norm } from "../../kernels/mod.ts";
import type { Input, Layer, Network } from "../nn/mod.ts";
import { baseOf, type Rows, type Stack } from "../weights/mod.ts";

/** The largest f32. It stands for infinity, which WGSL cannot express. */
const LARGEST = (2 - 2 ** -23) * 2 ** 127;

type Bounds = readonly [least: number, most: number];

/** Matrices whose outputs are neighbouring columns. */
interface Member {
  readonly stack: Stack;
  /** Column of its first output. */
  readonly first: number;
  readonly input?: Bounds | undefined;
  readonly output?: Bounds | undefined;
}

/** y = x W^T for all of the matrices, side by side. */
export class Projection {
  readonly readers: Stack["readers"];
  /** Bounds apply to f32, so inputs with bounds must not be quantized before. */
  readonly readsFloats: boolean;
  readonly columns: number;
  readonly #network: Network;
  readonly #members: readonly Member[];

  constructor(network: Network, members: readonly Member[]) {
    this.#network = network;
    this.#members = members;
    this.readers = members.flatMap(({ stack }) => stack.readers);
    this.readsFloats = members.some(({ input }) => input);
    this.columns = members.reduce((sum, { stack }) => sum + stack.columns, 0);
  }

  /** y = x W^T. */
  run(x: Input, y: FloatRows): void {
    for (const { stack, first, input, output } of this.#members) {
      this.#network.project(input ? this.#bounded(x, input, stack) : x, shifted(stack, first), y);
      if (output) this.#bound(y, output, first, stack.columns);
    }
  }

  /** y += x W^T, or y += norm(x W^T). */
  add(x: Input, y: FloatRows, postNorm?: Norm): void {
    const network = this.#network;
    const [{ stack, input, output }, ...others] = this.#members;
    if (others.length === 0 && !input && !output) return network.addLinear(x, stack, y, postNorm);
    const rows = network.scratch("projected", this.columns);
    this.run(x, rows);
    if (postNorm) network.normInto(rows, y, postNorm, { accumulate: true });
    else network.elementwise("add", { rows: y }, { x: { rows } });
  }

  #bounded(x: Input, bounds: Bounds, reader: Stack): Input {
    const copy = this.#network.scratch("bounded", x.columns);
    this.#network.elementwise("copy", { rows: copy }, { x: { rows: x.floats! } });
    this.#bound(copy, bounds, 0, x.columns);
    return this.#network.input(copy, reader, "bounded");
  }

  #bound(rows: FloatRows, [least, most]: Bounds, first: number, columns: number): void {
    const y = { rows, first, columns };
    this.#network.elementwise("at_least", y, { factor: least });
    this.#network.elementwise("at_most", y, { factor: most });
  }
}

/** Matrices whose outputs are `by` columns further to the right. */
export function shifted(stack: Stack, by: number): Stack {
  const shift = <T extends { first: number }>(part: T) => ({ ...part, first: part.first + by });
  return { ...stack, parts: stack.parts.map(shift) };
}

/** Loads weights with their biases and bounds. All have the same input. Errors: GgufError. */
export async function loadProjection(
  layer: Layer,
  weights: readonly Rows[],
  columns: number,
  network: Network = layer.network,
): Promise<Projection> {
  const bounded = weights.map((rows) => ({
    rows,
    input: readBounds(layer, rows, "input"),
    output: readBounds(layer, rows, "output"),
  }));
  const { inventory } = layer.weights;
  const biased = weights.filter((rows) => inventory.hasAny([`${baseOf(rows)}.bias`])).length;
  const isMixed = biased > 0 && biased < weights.length;
  if (!isMixed && !bounded.some(({ input, output }) => input || output)) {
    const stack = await layer.stack(weights, columns);
    return new Projection(network, [{ stack, first: 0 }]);
  }
  const members: Member[] = [];
  let first = 0;
  for (const { rows, ...limits } of bounded) {
    const stack = await layer.stack([rows], columns);
    members.push({ stack, first, ...limits });
    first += stack.columns;
  }
  return new Projection(network, members);
}

/** The bounds of a weight: a minimum and a maximum, or neither. */
function readBounds({ weights }: Layer, rows: Rows, side: "input" | "output"): Bounds | undefined {
  const names = ["min", "max"].map((part) => `${baseOf(rows)}.${side}_${part}`);
  if (!weights.inventory.hasAll(names)) return undefined;
  const [least, most] = names.map((name) => weights.values(name, [1])[0]);
  const isOpen = least <= -LARGEST && most >= LARGEST;
  return isOpen ? undefined : [Math.max(-LARGEST, least), Math.min(LARGEST, most)];
}
