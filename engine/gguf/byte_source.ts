// Where the bytes of model files come from: the one seam between reading GGUF and the system that holds
// the files. This machine's files are local_files.ts; a browser has its own, such as the synchronous
// access handles of its private file system.

/** The bytes of one file, which can be read at any place. */
export interface ByteSource extends Disposable {
  /** How many there are. */
  readonly size: number;
  /**
   * Reads bytes from `offset` on into `target`. Synchronous, since weights are read between steps of a
   * load that has nothing else to do.
   *
   * @returns how many were read: at least one, or 0 after the last
   */
  read(offset: number, target: Uint8Array): number;
}

/** Files, by their paths. */
export interface ByteSources {
  /**
   * Opens a file to read.
   *
   * @throws {GgufError} if what lies there is no file
   */
  open(path: string): Promise<ByteSource>;
  /** Whether there is anything of that path. */
  has(path: string): Promise<boolean>;
}

/** Reads until `target` is full. Returns how many bytes the source had for it. */
export function fill(source: ByteSource, offset: number, target: Uint8Array): number {
  let filled = 0;
  while (filled < target.length) {
    const count = source.read(offset + filled, target.subarray(filled));
    if (count === 0) break;
    filled += count;
  }
  return filled;
}
