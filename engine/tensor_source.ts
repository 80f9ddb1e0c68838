// The tensors of a GGUF file by name: small ones as numbers, large ones streamed to the GPU a few
// megabytes at a time, so that a file is never held in memory.

import {
  type Device,
  GROUP,
  type MatrixWriter,
  padTo,
  type QuantFormat,
  quantFormat,
} from "../kernels/mod.ts";
import { GgufError, UnsupportedModelError } from "./errors.ts";
import type { GgufFile, TensorBytes, TensorInfo } from "./gguf/mod.ts";
import { nameOf, rangesOf, type Rows } from "./rows.ts";
import type { LoadProgress } from "./types.ts";

/** Bytes handed to the GPU before waiting for it, which bounds the staging memory. */
const UPLOAD_WINDOW = 64 * 2 ** 20;

/** What a source reports to and obeys. */
export interface SourceOptions {
  onProgress?: (progress: LoadProgress) => void;
  signal?: AbortSignal;
}

/** Reads tensors by their GGUF names. */
export class TensorSource {
  readonly device: Device;
  readonly #gguf: GgufFile;
  readonly #reader: TensorBytes;
  readonly #options: SourceOptions;
  readonly #total: number;
  readonly #ignored = new Set<string>();
  #loaded = 0;
  #inFlight = 0;

  constructor(
    device: Device,
    gguf: GgufFile,
    reader: TensorBytes,
    options: SourceOptions = {},
  ) {
    this.device = device;
    this.#gguf = gguf;
    this.#reader = reader;
    this.#options = options;
    this.#total = [...gguf.tensors.values()].reduce((sum, tensor) => sum + tensor.byteLength, 0);
  }

  /** File, for errors. */
  get path(): string {
    return this.#gguf.path;
  }

  /** Whether the file has a tensor. */
  has(name: string): boolean {
    return this.#gguf.tensors.has(name) && !this.#ignored.has(name);
  }

  /**
   * Treats tensors as missing that an architecture, as llama.cpp runs it, does not apply. The scale
   * of NVFP4 weights is a part of their format and stays.
   */
  ignore(names: RegExp): void {
    for (const name of this.#gguf.tensors.keys()) {
      const weight = this.#gguf.tensors.get(name.replace(/\.scale$/, ".weight"));
      if (names.test(name) && weight?.typeName !== "NVFP4") this.#ignored.add(name);
    }
  }

  /** Takes {@linkcode TensorSource.ignore} back. */
  heed(names: RegExp): void {
    for (const name of this.#ignored) if (names.test(name)) this.#ignored.delete(name);
  }

  /** Shape of a tensor, the columns of its rows first. Errors: GgufError where it is missing. */
  shapeOf(name: string): readonly number[] {
    return this.tensor(name).shape;
  }

  /** Output rows of a weight tensor, those of all experts together. */
  rowsOf(rows: Rows): number {
    if (typeof rows !== "string") return rows.ranges.reduce((sum, [, count]) => sum + count, 0);
    return this.tensor(rows).shape.slice(1).reduce((product, size) => product * size, 1);
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
    const tensor = this.tensor(name);
    const format = this.formatOf(name);
    const bytes = new Uint8Array(tensor.byteLength);
    this.#reader.read(tensor, 0, bytes);
    this.#loaded += tensor.byteLength;
    return format.dequantize(bytes, tensor.byteLength / format.blockBytes);
  }

  /** Hands rows to a writer, in order, and reports progress. */
  async stream(source: Rows, columns: number, writer: MatrixWriter): Promise<void> {
    const tensor = this.tensor(nameOf(source));
    if (tensor.shape[0] !== columns) {
      const state = `it is ${tensor.shape[0]} wide, expected ${columns}`;
      throw new GgufError(this.#gguf.path, `tensor "${tensor.name}"`, state);
    }
    const all = this.rowsOf(tensor.name);
    const rowBytes = tensor.byteLength / all;
    for (const [first, count] of rangesOf(source, all)) {
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
    // The chunks share a buffer: what is written to the GPU is copied when the call returns.
    for (const { bytes } of this.#reader.chunks(tensor, start, end, rowBytes)) {
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

  /** A tensor's entry in the header. Errors: GgufError where it is missing. */
  tensor(name: string): TensorInfo {
    const tensor = this.#gguf.tensors.get(name);
    if (!tensor) throw new GgufError(this.#gguf.path, `tensor "${name}"`, "it is missing");
    return tensor;
  }

  /** The weight format of a tensor. Errors: UnsupportedModelError. */
  formatOf(name: string): QuantFormat {
    const tensor = this.tensor(name);
    const format = quantFormat(tensor.type);
    if (format) return format;
    throw new UnsupportedModelError(
      `Cannot load "${this.#gguf.path}": tensor "${name}" is of type ${tensor.typeName}, ` +
        `which is not supported`,
    );
  }
}
