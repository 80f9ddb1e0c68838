// A file for what is larger than memory on its way to a client: values come step by step, those of all
// points at a time, while a file of arrays has them point by point. It goes when it is closed, and
// where the system allows it has no name meanwhile, so that nothing is left of a server that is killed.

import { HttpError } from "../../errors.ts";

/** Bytes that are read at a time. */
const PIECE = 2 ** 20;

/** A temporary file. */
export class Spool implements AsyncDisposable {
  readonly #file: Deno.FsFile;
  readonly #path: string;
  readonly #isNamed: boolean;
  #size = 0;
  #isClosed = false;

  private constructor(file: Deno.FsFile, path: string, isNamed: boolean) {
    this.#file = file;
    this.#path = path;
    this.#isNamed = isNamed;
  }

  /** Makes an empty one, in the folder for temporary files. */
  static async create(): Promise<Spool> {
    const path = await Deno.makeTempFile({ prefix: "quern-capture-" });
    const file = await Deno.open(path, { read: true, write: true });
    // Windows does not remove what is open.
    const isNamed = await Deno.remove(path).then(() => false, () => true);
    return new Spool(file, path, isNamed);
  }

  /** A place for so many bytes, which are zeros until they are written. */
  reserve(bytes: number): number {
    const at = this.#size;
    this.#size += bytes;
    return at;
  }

  /** @throws {HttpError} 507 if the disk is full */
  async write(at: number, bytes: Uint8Array): Promise<void> {
    try {
      await this.#file.seek(at, Deno.SeekMode.Start);
      for (let done = 0; done < bytes.length;) done += await this.#file.write(bytes.subarray(done));
    } catch (error) {
      if (!/ENOSPC|No space|storage full/i.test(`${error}`)) throw error;
      throw new HttpError(507, "points: the disk is full; name fewer", "points");
    }
  }

  /** The bytes of a place, piece by piece. One read at a time. */
  async *read(at: number, bytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    await this.#file.truncate(this.#size); // What was never written is zeros.
    for (let done = 0; done < bytes;) {
      await this.#file.seek(at + done, Deno.SeekMode.Start);
      const piece = new Uint8Array(Math.min(PIECE, bytes - done));
      const count = await this.#file.read(piece);
      if (count === null) {
        throw new RangeError(`Cannot read ${bytes} bytes at ${at}: the file ended`);
      }
      yield piece.subarray(0, count);
      done += count;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#file.close();
    if (this.#isNamed) await Deno.remove(this.#path);
  }
}
