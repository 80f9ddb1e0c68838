// The tensors of a GGUF file by name: small ones as numbers, large ones streamed to the device a
// few megabytes at a time, so that a file is never in memory as a whole.

import {
  type Buffer,
  type Device,
  GROUP,
  type MatrixWriter,
  type Operation,
  padTo,
  type QuantFormat,
  quantFormat,
} from "../../kernels/mod.ts";
import { UnsupportedModelError } from "../errors.ts";
import type { GgufFile, TensorBytes, TensorInfo } from "../gguf/mod.ts";
import type { LoadProgress } from "../types/mod.ts";
import { rangesOf, type Rows, shapeOf } from "./rows.ts";
import { TensorInventory } from "./tensor_inventory.ts";

/**
 * Bytes of an upload. One may be submitted while the device works on the one before, so that staging
 * memory has a bound, and the host need not wait.
 */
const UPLOAD = 32 * 2 ** 20;

/** Most bytes that the threads of a device read at a time: some milliseconds. */
const SHARED = 32 * 2 ** 20;
/** They are a multiple of so many rows, which devices keep together. */
const SHARED_ROWS = 32;

/** Milliseconds after which messages and timers have their turn, so that an abort arrives. */
const TURN = 30;

/** The callbacks of a source. */
export interface SourceOptions {
  onProgress?: (progress: LoadProgress) => void;
  signal?: AbortSignal;
}

/**
 * Reads tensors by their GGUF names, and checks each against the shape that the architecture
 * demands.
 */
export class TensorSource {
  readonly placement: Placement;
  /** Which tensors were taken. */
  readonly inventory: TensorInventory;
  readonly #gguf: GgufFile;
  readonly #reader: TensorBytes;
  readonly #options: SourceOptions;
  readonly #total: number;
  #loaded = 0;
  /** Bytes of the present upload. */
  #submitted = 0;
  /** Settles when the uploads before are done. */
  #uploaded: Promise<void> | undefined;
  /** When messages last had their turn. */
  #turned = performance.now();

  constructor(
    placement: Placement,
    gguf: GgufFile,
    reader: TensorBytes,
    options: SourceOptions = {},
  ) {
    this.placement = placement;
    this.inventory = new TensorInventory(gguf);
    this.#gguf = gguf;
    this.#reader = reader;
    this.#options = options;
    this.#total = [...gguf.tensors.values()].reduce((sum, tensor) => sum + tensor.byteLength, 0);
  }

  /** Path of the file, for errors. */
  get path(): string {
    return this.#gguf.path;
  }

  deviceOf(name: string): Device {
    return this.placement.deviceOf(name);
  }

  /** Whether the file has an optional tensor. See {@linkcode TensorInventory.has}. */
  has(name: string, kind?: string): boolean {
    return this.inventory.has(name, kind);
  }

  /** A vector of f32 times `gain`, padded with zeros to whole groups of 32. Errors: GgufError. */
  vector(name: string, shape: readonly number[], gain = 1): Buffer {
    const values = this.values(name, shape);
    const padded = new Float32Array(padTo(values.length, GROUP));
    padded.set(gain === 1 ? values : values.map((value) => value * gain));
    const device = this.deviceOf(name);
    const buffer = device.buffer(name, padded.byteLength, "weights");
    device.write(buffer, 0, padded);
    return buffer;
  }

  /**
   * A small tensor as numbers on the CPU. Errors: GgufError if it is missing or has another shape.
   */
  values(name: string, shape: readonly number[]): Float32Array {
    const tensor = this.inventory.take(name, shape);
    const format = this.formatOf(name);
    const bytes = new Uint8Array(tensor.byteLength);
    this.#reader.read(tensor, 0, bytes);
    this.#loaded += tensor.byteLength;
    const values = format.dequantize(bytes, tensor.byteLength / format.blockBytes);
    if (values.some(Number.isNaN)) throw this.inventory.notANumber(name);
    return values;
  }

  /**
   * Passes rows to a writer, in order, and reports progress. Errors: those of {@linkcode
   * TensorSource.values}.
   */
  async stream(rows: Rows, columns: number, writer: MatrixWriter): Promise<void> {
    const tensor = this.inventory.take(rows.name, shapeOf(rows, columns));
    const rowBytes = tensor.byteLength / rows.rows;
    for (const [first, count] of rangesOf(rows)) {
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
    const at = await this.#shareRange(tensor, start, end, { rowBytes, writer });
    // Chunks may share a buffer, because writers copy data before they return.
    const target = writer.target?.bind(writer);
    for (const { bytes } of this.#reader.chunks(tensor, at, end, rowBytes, target)) {
      writer.append(bytes);
      await this.#advance(bytes.length);
    }
  }

  /** Has the threads of a device read what they can of a range. Returns where the rest begins. */
  async #shareRange(
    tensor: TensorInfo,
    start: number,
    end: number,
    { rowBytes, writer }: { rowBytes: number; writer: MatrixWriter },
  ): Promise<number> {
    const rows = SHARED_ROWS * Math.max(1, Math.floor(SHARED / (SHARED_ROWS * rowBytes)));
    for (let at = start; at < end;) {
      const file = this.#reader.fileOf?.(tensor, at);
      const count = Math.min(rows, (end - at) / rowBytes);
      if (!file || !writer.read?.(file, count)) return at;
      at += count * rowBytes;
      await this.#advance(count * rowBytes);
    }
    return end;
  }

  /** Reports progress, lets an abort arrive, and bounds the staging memory of the queue. */
  async #advance(bytes: number): Promise<void> {
    if (performance.now() - this.#turned >= TURN) {
      // Not nextTask(): while only messages wake the event loop, timers may wait for long.
      await new Promise((resolve) => setTimeout(resolve));
      this.#turned = performance.now();
    }
    this.#options.signal?.throwIfAborted();
    this.#loaded += bytes;
    this.#submitted += bytes;
    const { top } = this.placement;
    top.submit();
    if (this.#submitted >= UPLOAD) {
      await this.#uploaded;
      top.check();
      this.#uploaded = top.idle();
      this.#uploaded.catch(() => {}); // It is reported when it is awaited.
      this.#submitted = 0;
    }
    this.#options.onProgress?.({ loaded: this.#loaded, total: this.#total });
  }

  /** The weight format of a tensor. Errors: UnsupportedModelError. */
  formatOf(name: string): QuantFormat {
    const tensor = this.inventory.find(name);
    const format = quantFormat(tensor.type);
    if (format) return format;
    throw new UnsupportedModelError(
      `Cannot load "${this.#gguf.path}": tensor "${name}" is of type ${tensor.typeName}, ` +
        `which is not supported`,
    );
  }
}

/** The devices of a model. */
export interface Placement {
  /** The device with the embeddings, the head and the sampler, to which steps are submitted. */
  readonly top: Device;
  /** The device of a tensor, by its GGUF name. The device of a layer is that of `blk.N.`. */
  deviceOf(tensor: string): Device;
  /** Transfers the first bytes of a buffer from the other device. Encoded with their number. */
  handOver(buffer: Buffer, to: Device): Pick<Operation, "encode">;
}

/** The placement of a model on one device. */
export function wholeOn(device: Device): Placement {
  return {
    top: device,
    deviceOf: () => device,
    handOver: () => {
      throw new Error("Cannot hand over a buffer: there is only one device");
    },
  };
}
