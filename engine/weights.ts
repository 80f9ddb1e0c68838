// Brings the tensors of a GGUF file to the GPU, streamed and in their own quantization.
// Rows of several tensors that read the same input are stacked into one matrix, so that one
// product serves them all; `<tensor>.scale` and `<tensor>.bias` go along as the rows' affine part.

import {
  allocateMatrix,
  canPair,
  type Device,
  GROUP,
  type Matrix,
  MatrixWriter,
  padTo,
  quantFormat,
  setAffine,
} from "../kernels/mod.ts";
import { GgufError, UnsupportedModelError } from "./errors.ts";
import type { GgufFile, TensorInfo, TensorReader } from "./gguf/mod.ts";
import type { LoadProgress } from "./types.ts";

/** A matrix and the first of the output columns that it gives. */
export interface StackedMatrix {
  matrix: Matrix;
  first: number;
}

/** Matrices that share their input; one product each. Their outputs lie side by side. */
export type Stack = readonly StackedMatrix[];

/** Gate and up projections of a feed-forward block: one paired matrix, or two stacked ones. */
export type GatedStack = { paired: Matrix } | { stack: Stack; columns: number };

/** Bytes handed to the GPU before waiting for it, which bounds the staging memory. */
const UPLOAD_WINDOW = 64 * 2 ** 20;

/** Bytes read at a time, rounded to whole rows. */
const CHUNK = 8 * 2 ** 20;

/** Loads tensors by their GGUF names. */
export class WeightLoader {
  readonly #device: Device;
  readonly #gguf: GgufFile;
  readonly #reader: TensorReader;
  readonly #report: (progress: LoadProgress) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #total: number;
  #loaded = 0;
  #inFlight = 0;
  #chunk = new Uint8Array(0);

  constructor(
    device: Device,
    gguf: GgufFile,
    reader: TensorReader,
    options: { onProgress?: (progress: LoadProgress) => void; signal?: AbortSignal } = {},
  ) {
    this.#device = device;
    this.#gguf = gguf;
    this.#reader = reader;
    this.#report = options.onProgress ?? (() => {});
    this.#signal = options.signal;
    this.#total = [...gguf.tensors.values()].reduce((sum, tensor) => sum + tensor.byteLength, 0);
  }

  /** Whether the file has a tensor. */
  has(name: string): boolean {
    return this.#gguf.tensors.has(name);
  }

  /** Output rows of a weight tensor. */
  rowsOf(name: string): number {
    return this.#tensor(name).shape[1] ?? 1;
  }

  /** One matrix [rows, columns]. Errors: GgufError where it is missing or of another width. */
  async matrix(name: string, columns: number): Promise<Matrix> {
    const [{ matrix }] = await this.stack([name], columns);
    return matrix;
  }

  /**
   * The rows of several tensors, in order; neighbours of one type become one matrix.
   * `biasFirst`: their scale multiplies the bias too, as GGUF has it in feed-forward blocks.
   */
  async stack(
    names: readonly string[],
    columns: number,
    { biasFirst = false } = {},
  ): Promise<Stack> {
    const stacked: StackedMatrix[] = [];
    let first = 0;
    for (let from = 0, to = 0; from < names.length; from = to) {
      const { type } = this.#tensor(names[from]);
      while (to < names.length && this.#tensor(names[to]).type === type) to++;
      const members = names.slice(from, to);
      const rows = members.reduce((sum, name) => sum + this.rowsOf(name), 0);
      const shape = { rows, columns };
      const matrix = allocateMatrix(this.#device, members[0], this.#formatOf(members[0]), shape);
      const writer = new MatrixWriter(this.#device, matrix);
      for (const name of members) await this.#stream(name, columns, writer);
      writer.finish();
      this.#affine(matrix, members, biasFirst);
      stacked.push({ matrix, first });
      first += rows;
    }
    return stacked;
  }

  /** Gate and up projections, paired where both are of one type. */
  async gated(gate: string, up: string, columns: number): Promise<GatedStack> {
    const rows = this.rowsOf(gate);
    const format = this.#formatOf(gate);
    if (this.#tensor(gate).type !== this.#tensor(up).type || !canPair(format, rows, columns)) {
      const [first] = await this.stack([gate], columns, { biasFirst: true });
      const [second] = await this.stack([up], columns, { biasFirst: true });
      return { stack: [first, { ...second, first: padTo(rows, GROUP) }], columns: rows };
    }
    const matrix = allocateMatrix(this.#device, gate, format, { rows, columns, sides: 2 });
    for (const [side, name] of [gate, up].entries()) {
      const writer = new MatrixWriter(this.#device, matrix, side as 0 | 1);
      await this.#stream(name, columns, writer);
      writer.finish();
    }
    this.#affine(matrix, [gate, up], true);
    return { paired: matrix };
  }

  /** A vector of f32, padded with zeros to whole groups of 32. */
  vector(name: string): GPUBuffer {
    const values = this.values(name);
    const padded = new Float32Array(padTo(values.length, GROUP));
    padded.set(values);
    const buffer = this.#device.buffer(name, padded.byteLength, "weights");
    this.#device.write(buffer, 0, padded);
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

  async #stream(name: string, columns: number, writer: MatrixWriter): Promise<void> {
    const tensor = this.#tensor(name);
    if (tensor.shape[0] !== columns) {
      const state = `it is ${tensor.shape[0]} wide, expected ${columns}`;
      throw new GgufError(this.#gguf.path, `tensor "${name}"`, state);
    }
    const rowBytes = tensor.byteLength / (tensor.shape[1] ?? 1);
    const chunkBytes = Math.max(1, Math.floor(CHUNK / rowBytes)) * rowBytes;
    // One buffer for all chunks: what is written to a GPU buffer is copied when the call returns.
    if (this.#chunk.length < chunkBytes) this.#chunk = new Uint8Array(chunkBytes);
    for (let at = 0; at < tensor.byteLength; at += chunkBytes) {
      const bytes = this.#chunk.subarray(0, Math.min(chunkBytes, tensor.byteLength - at));
      this.#reader.read(tensor, at, bytes);
      writer.append(bytes);
      await this.#advance(bytes.length);
    }
  }

  /** Reports progress, honours an abort, and bounds what waits in the queue's staging memory. */
  async #advance(bytes: number): Promise<void> {
    this.#signal?.throwIfAborted();
    this.#loaded += bytes;
    this.#inFlight += bytes;
    this.#device.gpu.queue.submit([]);
    if (this.#inFlight >= UPLOAD_WINDOW) {
      await this.#device.gpu.queue.onSubmittedWorkDone();
      this.#device.check();
      this.#inFlight = 0;
    }
    this.#report({ loaded: this.#loaded, total: this.#total });
  }

  /** y = scale * (w x) + bias, or scale * (w x + bias). */
  #affine(matrix: Matrix, names: readonly string[], biasFirst: boolean): void {
    const bases = names.map((name) => name.replace(/\.weight$/, ""));
    if (!bases.some((base) => this.has(`${base}.bias`) || this.has(`${base}.scale`))) return;
    const scale = new Float32Array(matrix.rows * matrix.sides).fill(1);
    const bias = new Float32Array(matrix.rows * matrix.sides);
    let row = 0;
    for (const [i, base] of bases.entries()) {
      const rows = this.rowsOf(names[i]);
      if (this.has(`${base}.scale`)) scale.fill(this.values(`${base}.scale`)[0], row, row + rows);
      if (this.has(`${base}.bias`)) bias.set(this.values(`${base}.bias`).subarray(0, rows), row);
      if (biasFirst) { for (let i = row; i < row + rows; i++) bias[i] *= scale[i]; }
      row += rows;
    }
    setAffine(this.#device, matrix, { scale, bias });
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
        `which is not supported yet`,
    );
  }
}
