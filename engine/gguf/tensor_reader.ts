// Reads the bytes of tensors from a GGUF file, or the files of a split model, in chunks through one
// buffer, so that a model never has to fit into memory. It does not decode them.

import type { FileBytes } from "../../host/mod.ts";
import { GgufError } from "../errors.ts";
import { type ByteSource, fill } from "./byte_source.ts";
import type { GgufFile } from "./gguf_file.ts";
import { type TensorInfo, tensorTypeById } from "./tensor_types.ts";

export interface TensorChunk {
  /** Offset of its first byte in the tensor. */
  readonly offset: number;
  /**
   * The bytes, which the next chunk overwrites. They begin at offset 0 of a buffer, so that any typed
   * array can view them, unless the caller gave memory for them.
   */
  readonly bytes: Uint8Array;
}

/** The source of tensors' bytes. */
export type TensorBytes =
  & Pick<TensorReader, "chunks" | "read" | typeof Symbol.dispose>
  & Partial<Pick<TensorReader, "fileOf">>;

/** A source without bytes, for models that are only measured: no chunks, and values are zeros. */
export const noTensorBytes: TensorBytes = {
  *chunks() {},
  read: (_tensor, _start, target) => void target.fill(0),
  [Symbol.dispose]() {},
};

/**
 * Bytes of a chunk. Longer ones leave the cache before they are used, and WebGPU takes memory anew for
 * each long write: with 8 MiB a load took up to 1.8 times as much of the processor.
 */
const CHUNK_BYTES = 2 << 20;

/** The open files of a model. Dispose of it with `using` or `close()`. */
export class TensorReader implements Disposable {
  readonly #paths: readonly string[];
  readonly #files: ByteSource[] = [];
  readonly #buffer: Uint8Array<ArrayBuffer>;

  private constructor(paths: readonly string[], chunkBytes: number) {
    this.#paths = paths;
    this.#buffer = new Uint8Array(chunkBytes);
  }

  /**
   * Opens the files whose header was read.
   * @param chunkBytes most bytes in memory at a time
   */
  static async open({ shards, files }: GgufFile, chunkBytes = CHUNK_BYTES): Promise<TensorReader> {
    const reader = new TensorReader(shards, chunkBytes);
    try {
      for (const path of shards) reader.#files.push(await files.open(path));
      return reader;
    } catch (error) {
      reader.close();
      throw error;
    }
  }

  /**
   * Bytes [start, end) of a tensor in order, in chunks of whole units of `unitBytes`, counted from
   * `start`. By default a unit is a block of the tensor's type; callers may need rows instead.
   * Chunks are read into the memory from `target`, if it has any.
   * @throws RangeError if the tensor does not have these bytes, or the buffer is smaller than a
   *   unit
   * @throws GgufError if the file is shorter than its header says
   */
  *chunks(
    tensor: TensorInfo,
    start = 0,
    end = tensor.byteLength,
    unitBytes = tensorTypeById(tensor.type)?.blockBytes ?? 1,
    target = (bytes: number): Uint8Array => this.#buffer.subarray(0, bytes),
  ): Generator<TensorChunk> {
    const chunkBytes = this.#buffer.length - this.#buffer.length % unitBytes;
    if (chunkBytes === 0) {
      throw new RangeError(
        `Cannot read tensor "${tensor.name}": a chunk of ${this.#buffer.length} bytes is below ` +
          `one unit of ${unitBytes}`,
      );
    }
    for (let offset = start; offset < end; offset += chunkBytes) {
      const bytes = target(Math.min(chunkBytes, end - offset));
      this.read(tensor, offset, bytes);
      yield { offset, bytes };
    }
  }

  /**
   * Fills `target` with the bytes of a tensor from `start` on.
   * @throws RangeError if the tensor does not have that many
   * @throws GgufError if the file is shorter than its header says
   */
  read(tensor: TensorInfo, start: number, target: Uint8Array): void {
    if (start < 0 || start + target.length > tensor.byteLength) {
      throw new RangeError(
        `Cannot read tensor "${tensor.name}": bytes ${start} to ${start + target.length} ` +
          `are not within its ${tensor.byteLength}`,
      );
    }
    const read = fill(this.#files[tensor.shard], tensor.offset + start, target);
    if (read === target.length) return;
    const path = this.#paths[tensor.shard];
    throw new GgufError(path, `tensor "${tensor.name}"`, "the file has become shorter");
  }

  /** Where other threads find the bytes of a tensor from `start` on; undefined if only this one can read. */
  fileOf(tensor: TensorInfo, start: number): FileBytes | undefined {
    const { path, stamp } = this.#files[tensor.shard]!;
    if (path === undefined || stamp === undefined) return undefined;
    return { path, stamp, offset: tensor.offset + start };
  }

  /** Closes the files. */
  close(): void {
    for (const file of this.#files) file[Symbol.dispose]();
  }

  /** Closes the files. */
  [Symbol.dispose](): void {
    this.close();
  }
}
