// The vocabulary in which an architecture is written: embed, norm, project, attend. Each call
// allocates what it needs once and appends an operation; a step replays the operations in order
// for its number of rows. Activations are int8 groups where their products allow it, else f32.

import {
  type Activation,
  Attention,
  type AttentionTiling,
  type Device,
  Embed,
  type FloatRows,
  floatRows,
  GROUP,
  type HeadShape,
  type LayerCache,
  layerCacheBytes,
  Linear,
  type Matrix,
  mostTileRows,
  padTo,
  partialBytes,
  quantizedRows,
  RmsNorm,
  type RopeOptions,
  ropeTables,
  Rotate,
  ROW_PADDING,
  SwiGlu,
} from "../../kernels/mod.ts";
import type { GatedStack, Stack } from "../weights.ts";
import type { StepLimits, StepShape, StepState } from "./step.ts";

/** How a model computes. */
export interface NetworkOptions {
  limits: StepLimits;
  /** int8 activations where weights are quantized. */
  integer: boolean;
  /** f16 keys and values. */
  halfCache: boolean;
  /** Blocks of the KV cache, shared by all sequences. */
  cacheBlocks: number;
}

type Operation = (pass: GPUComputePassEncoder, step: StepShape) => void;

/** Whoever reads an activation decides its form. */
type Readers = Stack | GatedStack | Matrix;

/** A model's forward step, built once and replayed. */
export class Network {
  readonly #device: Device;
  readonly #state: StepState;
  readonly #options: NetworkOptions;
  readonly #operations: Operation[] = [];
  readonly #scratch = new Map<string, Activation>();
  readonly #buffers = new Map<string, GPUBuffer>();
  /** Query rows per workgroup of prefill attention, fixed by the first attention layer. */
  tileRows = 1;

  constructor(device: Device, state: StepState, options: NetworkOptions) {
    this.#device = device;
    this.#state = state;
    this.#options = options;
  }

  /** Records all operations of one step. */
  encode(pass: GPUComputePassEncoder, step: StepShape): void {
    for (const operation of this.#operations) operation(pass, step);
  }

  /** The residual stream [rows, columns]: the embeddings of the step's tokens. */
  embed(table: Matrix, scale = 1): FloatRows {
    const x = this.#floats("residual", table.columns);
    const embed = new Embed(this.#device, table, this.#state, x, scale);
    this.#operations.push((pass, step) => embed.encode(pass, step.rows));
    return x;
  }

  /** RMSNorm of every row, for the matrices that read it. */
  rmsNorm(x: FloatRows, weight: GPUBuffer, epsilon: number, readers: Readers): Activation {
    const y = this.#activation("normed", x.columns, readers);
    const norm = new RmsNorm(this.#device, x, y, { weight, epsilon });
    this.#operations.push((pass, step) => norm.encode(pass, step.rows));
    return y;
  }

  /** RMSNorm of the rows whose logits are wanted: [outputs, columns]. */
  outputNorm(x: FloatRows, weight: GPUBuffer, epsilon: number, readers: Readers): Activation {
    const y = this.#activation("output", x.columns, readers, this.#options.limits.outputs);
    const source = this.#state.outputs;
    const norm = new RmsNorm(this.#device, x, y, { weight, epsilon, source });
    this.#operations.push((pass, step) => norm.encode(pass, step.outputs));
    return y;
  }

  /** x W^T, as new rows. `label` names the scratch memory, which layers share. */
  linear(x: Activation, stack: Stack, label: string): FloatRows {
    const last = stack[stack.length - 1];
    const y = this.#floats(label, last.first + last.matrix.rows);
    this.#project(x, stack, y, false);
    return y;
  }

  /** y += x W^T: back onto the residual stream. */
  addLinear(x: Activation, stack: Stack, y: FloatRows): void {
    this.#project(x, stack, y, true);
  }

  /** Logits [outputs, vocabulary] of what outputNorm gave. */
  logits(x: Activation, head: Matrix): FloatRows {
    const rows = padTo(this.#options.limits.outputs, ROW_PADDING);
    // Not padded to groups: no product reads it, and the sampler takes rows as they are.
    const floats = this.#buffer("logits", rows * head.rows * 4);
    const y = { columns: head.rows, stride: head.rows, floats };
    const linear = new Linear(this.#device, head, x, y);
    this.#operations.push((pass, step) => linear.encode(pass, step.outputs));
    return y;
  }

  /** silu(x W_gate^T) * (x W_up^T), for the matrix that reads it. */
  swiglu(x: Activation, weights: GatedStack, readers: Readers): Activation {
    if ("paired" in weights) {
      const y = this.#activation("hidden", weights.paired.rows, readers);
      const linear = new Linear(this.#device, weights.paired, x, y);
      this.#operations.push((pass, step) => linear.encode(pass, step.rows));
      return y;
    }
    const both = this.#floats("gate and up", 2 * padTo(weights.columns, GROUP));
    this.#project(x, weights.stack, both, false);
    const y = this.#activation("hidden", weights.columns, readers);
    const swiglu = new SwiGlu(this.#device, both, y);
    this.#operations.push((pass, step) => swiglu.encode(pass, step.rows));
    return y;
  }

  /** The KV cache of a new layer. */
  layerCache(shape: HeadShape): LayerCache {
    const { halfCache, cacheBlocks } = this.#options;
    const bytes = layerCacheBytes(shape, cacheBlocks, halfCache);
    return {
      keys: this.#device.buffer("keys", bytes, "cache"),
      values: this.#device.buffer("values", bytes, "cache"),
      half: halfCache,
    };
  }

  /** RoPE on q and k in place; k and v into the cache. qkv: [rows, q, k and v heads]. */
  rotate(
    qkv: FloatRows,
    cache: LayerCache,
    shape: HeadShape,
    rope: RopeOptions & { halfPairs: boolean },
  ): void {
    const { low, high } = ropeTables(rope, this.#options.limits.context);
    const rotate = new Rotate(this.#device, qkv, cache, this.#state, {
      ...shape,
      rotary: rope.rotary,
      halfPairs: rope.halfPairs,
      lowTurns: this.#constant(`rope low ${rope.base} ${rope.rotary}`, low),
      highTurns: this.#constant(`rope high ${rope.base} ${rope.rotary}`, high),
    });
    this.#operations.push((pass, step) => rotate.encode(pass, step.rows));
  }

  /** softmax(q k^T * scale) v over the cache, causal, for the matrix that reads it. */
  attention(
    qkv: FloatRows,
    cache: LayerCache,
    shape: HeadShape & { scale: number },
    readers: Readers,
  ): Activation {
    const { limits } = this.#options;
    const y = this.#activation("attended", shape.heads * shape.headDim, readers);
    this.tileRows = mostTileRows(this.#device, shape);
    const split = this.#device.capabilities.software ? 1024 : 256;
    const maxSplits = Math.ceil(limits.context / split);
    const decode = this.#attend(qkv, cache, y, shape, {
      tileRows: 1,
      split,
      maxSplits,
      tiles: this.#state.decodeTiles,
      partials: this.#partials("decode", partialBytes(shape, limits.slots, maxSplits)),
    });
    const prefill = this.#attend(qkv, cache, y, shape, {
      tileRows: this.tileRows,
      split: limits.context,
      maxSplits: 1,
      tiles: this.#state.prefillTiles,
      partials: this.#partials("prefill", partialBytes(shape, limits.rows, 1)),
    });
    this.#operations.push((pass, step) => {
      if (step.decodeRows > 0) decode().encode(pass, step.decodeRows, step.decodeContext);
      if (step.prefillTiles > 0) prefill().encode(pass, step.prefillTiles, step.prefillContext);
    });
    return y;
  }

  /** Compiled when first used: a model that never decodes two ways never pays for both. */
  #attend(
    qkv: FloatRows,
    cache: LayerCache,
    y: Activation,
    shape: HeadShape & { scale: number },
    tiling: AttentionTiling,
  ): () => Attention {
    let attention: Attention | undefined;
    return () =>
      attention ??= new Attention(this.#device, qkv, cache, this.#state, y, shape, tiling);
  }

  #project(x: Activation, stack: Stack, y: FloatRows, accumulate: boolean): void {
    for (const { matrix, first } of stack) {
      const linear = new Linear(this.#device, matrix, x, y, { accumulate, first });
      this.#operations.push((pass, step) => linear.encode(pass, step.rows));
    }
  }

  /** int8 groups where all readers have integer weights, else f32. */
  #activation(
    label: string,
    columns: number,
    readers: Readers,
    rows = this.#options.limits.rows,
  ): Activation {
    const integer = this.#options.integer &&
      matricesOf(readers).every((matrix) => matrix.format.kind === "integer");
    if (!integer) return this.#floats(label, columns, rows);
    return this.#reuse(
      `${label} int8 ${columns}`,
      () => quantizedRows(this.#device, label, rows, columns),
    );
  }

  #floats(label: string, columns: number, rows = this.#options.limits.rows): FloatRows {
    return this.#reuse(`${label} ${columns}`, () => floatRows(this.#device, label, rows, columns));
  }

  #reuse<T extends Activation>(key: string, allocate: () => T): T {
    let activation = this.#scratch.get(key) as T | undefined;
    if (!activation) this.#scratch.set(key, activation = allocate());
    return activation;
  }

  #partials(label: string, bytes: number): GPUBuffer {
    return this.#buffer(`${label} partials ${bytes}`, bytes);
  }

  #constant(label: string, values: Float32Array): GPUBuffer {
    const known = this.#buffers.get(label);
    if (known) return known;
    const buffer = this.#buffer(label, values.byteLength);
    this.#device.write(buffer, 0, values);
    return buffer;
  }

  #buffer(key: string, bytes: number): GPUBuffer {
    let buffer = this.#buffers.get(key);
    if (!buffer) this.#buffers.set(key, buffer = this.#device.buffer(key, bytes, "scratch"));
    return buffer;
  }
}

function matricesOf(readers: Readers): readonly Matrix[] {
  if ("format" in readers) return [readers];
  if ("paired" in readers) return [readers.paired];
  const stack = "stack" in readers ? readers.stack : readers;
  return stack.map(({ matrix }) => matrix);
}
