// Brings the tensors of a GGUF file to the GPU, streamed and in their own quantization.
// Rows of several tensors that read the same input are stacked into one matrix, so that one
// product serves them all; `<tensor>.scale` and `<tensor>.bias` go along as the rows' affine part,
// and LoRA adapters as products beside them.

import {
  allocateMatrix,
  canPair,
  type Device,
  GROUP,
  type Matrix,
  MatrixWriter,
  padTo,
  quantFormat,
} from "../kernels/mod.ts";
import type { Adapter, LowRankPair } from "./adapter.ts";
import { loadAffine } from "./affine.ts";
import { GgufError, UnsupportedModelError } from "./errors.ts";
import type { GgufFile, TensorInfo, TensorReader } from "./gguf/mod.ts";
import type { LoadProgress } from "./types.ts";

/** A tensor's rows, all of them or some ranges (first, count) in another order. */
export type Rows = string | {
  readonly name: string;
  readonly ranges: readonly (readonly [first: number, count: number])[];
};

/** A matrix and the first of the output columns that it gives. */
export interface StackedMatrix {
  readonly matrix: Matrix;
  readonly first: number;
}

/** Matrices that share their input; one product each. Their outputs lie side by side. */
export interface Stack {
  readonly parts: readonly StackedMatrix[];
  /** Output columns of all parts. */
  readonly columns: number;
  /** LoRA: products that are added to the outputs from column `first` on. */
  readonly adapters: readonly (LowRankPair & { readonly first: number })[];
  /** All matrices that read the input. */
  readonly readers: readonly Matrix[];
}

/** Gate and up projections of a feed-forward block: one paired matrix, or two stacked ones. */
export type GatedStack =
  | { readonly paired: Matrix; readonly columns: number; readonly readers: readonly Matrix[] }
  | { readonly stack: Stack; readonly columns: number; readonly readers: readonly Matrix[] };

/** How the scale and bias of a tensor are meant. */
export interface StackOptions {
  /** The scale multiplies the bias too, as GGUF has it in feed-forward blocks. */
  biasFirst?: boolean;
  /** Multiplies all outputs, biases included. */
  gain?: number;
}

/** Bytes handed to the GPU before waiting for it, which bounds the staging memory. */
const UPLOAD_WINDOW = 64 * 2 ** 20;

/** Bytes read at a time, rounded to whole rows. */
const CHUNK = 8 * 2 ** 20;

/** What a loader reports to and obeys. */
export interface WeightOptions {
  onProgress?: (progress: LoadProgress) => void;
  signal?: AbortSignal;
  adapters?: readonly Adapter[];
}

/** Loads tensors by their GGUF names. */
export class WeightLoader {
  readonly device: Device;
  readonly #gguf: GgufFile;
  readonly #reader: TensorReader;
  readonly #options: WeightOptions;
  readonly #total: number;
  #loaded = 0;
  #inFlight = 0;
  #chunk = new Uint8Array(0);

  constructor(
    device: Device,
    gguf: GgufFile,
    reader: TensorReader,
    options: WeightOptions = {},
  ) {
    this.device = device;
    this.#gguf = gguf;
    this.#reader = reader;
    this.#options = options;
    this.#total = [...gguf.tensors.values()].reduce((sum, tensor) => sum + tensor.byteLength, 0);
  }

  /** Whether the file has a tensor. */
  has(name: string): boolean {
    return this.#gguf.tensors.has(name);
  }

  /** Shape of a tensor, the columns of its rows first. Errors: GgufError where it is missing. */
  shapeOf(name: string): readonly number[] {
    return this.#tensor(name).shape;
  }

  /** Output rows of a weight tensor, those of all experts together. */
  rowsOf(rows: Rows): number {
    if (typeof rows !== "string") return rows.ranges.reduce((sum, [, count]) => sum + count, 0);
    return this.#tensor(rows).shape.slice(1).reduce((product, size) => product * size, 1);
  }

  /** One matrix [rows, columns]. Errors: GgufError where it is missing or of another width. */
  async matrix(name: string, columns: number): Promise<Matrix> {
    const { parts } = await this.stack([name], columns);
    return parts[0].matrix;
  }

  /** The rows of several tensors, in order; neighbours of one type become one matrix. */
  async stack(
    sources: readonly Rows[],
    columns: number,
    options: StackOptions = {},
  ): Promise<Stack> {
    const parts: StackedMatrix[] = [];
    const adapters: (LowRankPair & { first: number })[] = [];
    let first = 0;
    for (let from = 0, to = 0; from < sources.length; from = to) {
      const { type } = this.#tensor(nameOf(sources[from]));
      while (to < sources.length && this.#tensor(nameOf(sources[to])).type === type) to++;
      const members = sources.slice(from, to);
      const matrix = await this.#matrix(members, columns, options);
      parts.push({ matrix, first });
      for (const member of members) {
        for (const pair of this.#adaptersOf(member, options.gain)) {
          adapters.push({ ...pair, first });
        }
        first += this.rowsOf(member);
      }
    }
    return { parts, columns: first, adapters, readers: readersOf(parts, adapters) };
  }

  /** Gate and up projections, paired where both are of one type and no adapter changes them. */
  async gated(gate: Rows, up: Rows, columns: number): Promise<GatedStack> {
    const rows = this.rowsOf(gate);
    const [gateType, upType] = [gate, up].map((side) => this.#tensor(nameOf(side)).type);
    const format = this.#formatOf(nameOf(gate));
    const adapted = [gate, up].some((side) => this.#adaptersOf(side).length > 0);
    if (adapted || gateType !== upType || !canPair(format, rows, columns)) {
      return this.#gatedApart(gate, up, columns);
    }
    const shape = { rows, columns, sides: 2 } as const;
    const matrix = allocateMatrix(this.device, nameOf(gate), format, shape);
    for (const [side, source] of [gate, up].entries()) {
      const writer = new MatrixWriter(this.device, matrix, side as 0 | 1);
      await this.#stream(source, columns, writer);
      writer.finish();
    }
    loadAffine(this, matrix, [gate, up], { biasFirst: true });
    return { paired: matrix, columns: rows, readers: [matrix] };
  }

  /** The matrices of all experts [experts * rows, columns], each whole in one part. */
  async experts(name: Rows, columns: number, experts: number): Promise<Matrix> {
    return await this.#matrix([name], columns, { biasFirst: true }, experts);
  }

  /** Gate and up of all experts, paired; both of one type. Errors: UnsupportedModelError. */
  async gatedExperts(gate: Rows, up: Rows, columns: number, experts: number): Promise<Matrix> {
    const rows = this.rowsOf(gate);
    const format = this.#formatOf(nameOf(gate));
    if (this.#tensor(nameOf(gate)).type !== this.#tensor(nameOf(up)).type) {
      throw new UnsupportedModelError(
        `Cannot load "${this.#gguf.path}": "${nameOf(gate)}" and "${nameOf(up)}" differ in type`,
      );
    }
    const shape = { rows, columns, sides: 2, unit: rows / experts } as const;
    const matrix = allocateMatrix(this.device, nameOf(gate), format, shape);
    for (const [side, source] of [gate, up].entries()) {
      const writer = new MatrixWriter(this.device, matrix, side as 0 | 1);
      await this.#stream(source, columns, writer);
      writer.finish();
    }
    loadAffine(this, matrix, [gate, up], { biasFirst: true });
    return matrix;
  }

  /** A vector of f32 times `gain`, padded with zeros to whole groups of 32. */
  vector(name: string, gain = 1): GPUBuffer {
    const values = this.values(name);
    const padded = new Float32Array(padTo(values.length, GROUP));
    padded.set(gain === 1 ? values : values.map((value) => value * gain));
    const buffer = this.device.buffer(name, padded.byteLength, "weights");
    this.device.write(buffer, 0, padded);
    return buffer;
  }

  /** A small tensor as numbers on the CPU. */
  values(name: string): Float32Array {
    const tensor = this.#tensor(name);
    const format = this.#formatOf(name);
    const bytes = new Uint8Array(tensor.byteLength);
    this.#reader.read(tensor, 0, bytes);
    this.#loaded += tensor.byteLength;
    return format.dequantize(bytes, tensor.byteLength / format.blockBytes);
  }

  async #gatedApart(gate: Rows, up: Rows, columns: number): Promise<GatedStack> {
    const rows = this.rowsOf(gate);
    const [first, second] = [
      await this.stack([gate], columns, { biasFirst: true }),
      await this.stack([up], columns, { biasFirst: true }),
    ];
    const shifted = padTo(rows, GROUP);
    const shift = <T extends { first: number }>(part: T) => ({ ...part, first: shifted });
    const parts = [...first.parts, ...second.parts.map(shift)];
    const adapters = [...first.adapters, ...second.adapters.map(shift)];
    const readers = readersOf(parts, adapters);
    return { stack: { parts, columns: shifted + rows, adapters, readers }, columns: rows, readers };
  }

  async #matrix(
    members: readonly Rows[],
    columns: number,
    options: StackOptions,
    experts = 0,
  ): Promise<Matrix> {
    const rows = members.reduce((sum, member) => sum + this.rowsOf(member), 0);
    const label = nameOf(members[0]);
    const shape = { rows, columns, ...(experts ? { unit: rows / experts } : {}) };
    const matrix = allocateMatrix(this.device, label, this.#formatOf(label), shape);
    const writer = new MatrixWriter(this.device, matrix);
    for (const member of members) await this.#stream(member, columns, writer);
    writer.finish();
    loadAffine(this, matrix, members, options);
    return matrix;
  }

  #adaptersOf(source: Rows, gain = 1): LowRankPair[] {
    return (this.#options.adapters ?? []).flatMap((adapter) =>
      adapter.pairsFor(this.device, source, gain)
    );
  }

  async #stream(source: Rows, columns: number, writer: MatrixWriter): Promise<void> {
    const tensor = this.#tensor(nameOf(source));
    if (tensor.shape[0] !== columns) {
      const state = `it is ${tensor.shape[0]} wide, expected ${columns}`;
      throw new GgufError(this.#gguf.path, `tensor "${tensor.name}"`, state);
    }
    const all = this.rowsOf(tensor.name);
    const rowBytes = tensor.byteLength / all;
    const ranges = typeof source === "string" ? [[0, all] as const] : source.ranges;
    for (const [first, count] of ranges) {
      if (first + count > all) {
        const state = `it has ${all} rows, expected ${first + count}`;
        throw new GgufError(this.#gguf.path, `tensor "${tensor.name}"`, state);
      }
      await this.#streamRange(tensor, first * rowBytes, (first + count) * rowBytes, {
        rowBytes,
        writer,
      });
    }
  }

  async #streamRange(
    tensor: TensorInfo,
    start: number,
    end: number,
    { rowBytes, writer }: { rowBytes: number; writer: MatrixWriter },
  ): Promise<void> {
    const chunkBytes = Math.max(1, Math.floor(CHUNK / rowBytes)) * rowBytes;
    // One buffer for all chunks: what is written to a GPU buffer is copied when the call returns.
    if (this.#chunk.length < chunkBytes) this.#chunk = new Uint8Array(chunkBytes);
    for (let at = start; at < end; at += chunkBytes) {
      const bytes = this.#chunk.subarray(0, Math.min(chunkBytes, end - at));
      this.#reader.read(tensor, at, bytes);
      writer.append(bytes);
      await this.#advance(bytes.length);
    }
  }

  /** Reports progress, honours an abort, and bounds what waits in the queue's staging memory. */
  async #advance(bytes: number): Promise<void> {
    this.#options.signal?.throwIfAborted();
    this.#loaded += bytes;
    this.#inFlight += bytes;
    this.device.gpu.queue.submit([]);
    if (this.#inFlight >= UPLOAD_WINDOW) {
      await this.device.gpu.queue.onSubmittedWorkDone();
      this.device.check();
      this.#inFlight = 0;
    }
    this.#options.onProgress?.({ loaded: this.#loaded, total: this.#total });
  }

  #tensor(name: string): TensorInfo {
    const tensor = this.#gguf.tensors.get(name);
    if (!tensor) throw new GgufError(this.#gguf.path, `tensor "${name}"`, "it is missing");
    return tensor;
  }

  #formatOf(name: string) {
    const tensor = this.#tensor(name);
    const format = quantFormat(tensor.type);
    if (format) return format;
    throw new UnsupportedModelError(
      `Cannot load "${this.#gguf.path}": tensor "${name}" is of type ${tensor.typeName}, ` +
        `which is not supported`,
    );
  }
}

/** The tensor that rows are of. */
export function nameOf(rows: Rows): string {
  return typeof rows === "string" ? rows : rows.name;
}

function readersOf(
  parts: readonly StackedMatrix[],
  adapters: readonly LowRankPair[],
): readonly Matrix[] {
  return [...parts.map(({ matrix }) => matrix), ...adapters.map(({ down }) => down)];
}
