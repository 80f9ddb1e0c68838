// Reads the bytes of tensors from a GGUF file in pieces, through one buffer, so that a model never
// has to fit in memory. It does not decode them.

import { GgufError } from "../errors.ts";
import type { GgufFile, TensorInfo } from "./read_gguf.ts";
import { tensorTypeById } from "./tensor_types.ts";

/** A piece of a tensor. */
export interface TensorChunk {
  /** Of the first byte, from the start of the tensor. */
  readonly offset: number;
  /** At offset 0 of its buffer, so that any typed array fits over it. Reused by the next chunk. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Longer reads are no faster, shorter ones leave bandwidth unused. */
const CHUNK_BYTES = 8 << 20;

/** An open GGUF file. Dispose of it with `using` or `close()`. */
export class TensorReader implements Disposable {
  readonly #path: string;
  readonly #file: Deno.FsFile;
  readonly #buffer: Uint8Array<ArrayBuffer>;

  private constructor(path: string, file: Deno.FsFile, chunkBytes: number) {
    this.#path = path;
    this.#file = file;
    this.#buffer = new Uint8Array(chunkBytes);
  }

  /**
   * Opens the file that a header was read from.
   * @param chunkBytes the most bytes in memory at a time
   */
  static async open(gguf: GgufFile, chunkBytes = CHUNK_BYTES): Promise<TensorReader> {
    return new TensorReader(gguf.path, await Deno.open(gguf.path), chunkBytes);
  }

  /**
   * Bytes [start, end) of a tensor in order, in chunks that are whole blocks of its type if `start`
   * is at a block.
   * @throws RangeError if the tensor does not have these bytes, or the buffer is below one block
   * @throws GgufError if the file has become shorter than its header says
   */
  *chunks(tensor: TensorInfo, start = 0, end = tensor.byteLength): Generator<TensorChunk> {
    const { blockBytes = 1 } = tensorTypeById(tensor.type) ?? {};
    const chunkBytes = this.#buffer.length - this.#buffer.length % blockBytes;
    if (chunkBytes === 0) {
      throw new RangeError(
        `Cannot read tensor "${tensor.name}": a chunk of ${this.#buffer.length} bytes is below ` +
          `one block of ${blockBytes}`,
      );
    }
    for (let offset = start; offset < end; offset += chunkBytes) {
      const bytes = this.#buffer.subarray(0, Math.min(chunkBytes, end - offset));
      this.read(tensor, offset, bytes);
      yield { offset, bytes };
    }
  }

  /**
   * Fills `target` with the bytes of a tensor from `start` on.
   * @throws RangeError if the tensor does not have that many
   * @throws GgufError if the file has become shorter than its header says
   */
  read(tensor: TensorInfo, start: number, target: Uint8Array): void {
    if (start < 0 || start + target.length > tensor.byteLength) {
      throw new RangeError(
        `Cannot read tensor "${tensor.name}": bytes ${start} to ${start + target.length} ` +
          `are not within its ${tensor.byteLength}`,
      );
    }
    this.#file.seekSync(tensor.offset + start, Deno.SeekMode.Start);
    for (let filled = 0; filled < target.length;) {
      const count = this.#file.readSync(target.subarray(filled));
      if (count === null) {
        throw new GgufError(this.#path, `tensor "${tensor.name}"`, "the file has become shorter");
      }
      filled += count;
    }
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.close();
  }
}
