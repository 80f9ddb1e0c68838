// The interface between reading GGUF and the system that holds the files. local_files.ts implements
// it for this machine; a browser has its own, such as the synchronous access handles of its private
// file system.

/** The bytes of one file, with random access. */
export interface ByteSource extends Disposable {
  /** Number of bytes. */
  readonly size: number;
  /** What tells the file from one in its place or with other content; undefined if unknown. */
  readonly stamp?: string | undefined;
  /** Whether no change since the file was opened could go without another stamp. */
  readonly isSettled?: boolean;
  /**
   * Reads bytes from `offset` on into `target`. Synchronous, because a load has nothing else to do
   * meanwhile.
   *
   * @returns number of bytes read: at least one, or 0 at the end
   */
  read(offset: number, target: Uint8Array): number;
}

/** Files by their paths. */
export interface ByteSources {
  /**
   * Opens a file to read.
   *
   * @throws {GgufError} if the path is not that of a file
   */
  open(path: string): Promise<ByteSource>;
  /** Whether the path exists. */
  has(path: string): Promise<boolean>;
}

/** Reads until `target` is full or the source ends. Returns the number of bytes read. */
export function fill(source: ByteSource, offset: number, target: Uint8Array): number {
  let filled = 0;
  while (filled < target.length) {
    const count = source.read(offset + filled, target.subarray(filled));
    if (count === 0) break;
    filled += count;
  }
  return filled;
}
