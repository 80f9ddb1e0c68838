// Writes the lines of a log in the background and in order, so that a disk that is full and a pipe
// that nobody reads cost lines, and never a request. What waits is bounded; what is lost is counted.

import { joinBytes } from "./bytes.ts";

/** Writes bytes, and resolves to how many it took. */
export type ByteWriter = (bytes: Uint8Array) => Promise<number>;

/** Most characters that wait while others are being written. */
const MAX_WAITING = 2 ** 20;
/** How long the last lines may take at the end, in milliseconds. */
const FLUSH_MILLISECONDS = 1000;

export class LogWriter {
  readonly #write: ByteWriter;
  #waiting: string[] = [];
  #size = 0;
  #writing: Promise<void> | undefined;
  #lost = 0;
  /** Lines lost of which the log has not told yet. */
  #untold = 0;
  /** Whether the last line that was written lacks its end. */
  #isTorn = false;
  readonly #onLoss: (lines: number) => void;

  /**
   * @param write writes to the log's file
   * @param onLoss called when lines can be written again, with how many were lost before
   */
  constructor(write: ByteWriter, onLoss: (lines: number) => void) {
    this.#write = write;
    this.#onLoss = onLoss;
  }

  /** How many lines could not be written. */
  get lost(): number {
    return this.#lost;
  }

  /** Takes a line, line feed included. Returns at once and never throws. */
  add(line: string): void {
    if (this.#size + line.length > MAX_WAITING) return this.#lose(1);
    this.#waiting.push(line);
    this.#size += line.length;
    this.#writing ??= this.#run();
  }

  /** Waits until all lines are written, for a second at most. */
  async flush(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, FLUSH_MILLISECONDS);
    await Promise.race([this.#writing, late.promise]);
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      this.#size = 0;
      await this.#writeLines(lines);
    }
    this.#writing = undefined;
  }

  async #writeLines(lines: readonly string[]): Promise<void> {
    const encoder = new TextEncoder();
    // A line that was cut short by a full disk is not continued by another.
    const pieces = [this.#isTorn ? "\n" : "", ...lines].map((line) => encoder.encode(line));
    const bytes = joinBytes(pieces);
    let written = 0;
    try {
      while (written < bytes.length) written += await this.#writeSome(bytes.subarray(written));
      this.#isTorn = false;
      this.#tell();
    } catch {
      let end = 0;
      const ends = pieces.map(({ length }) => end += length);
      if (written > 0) this.#isTorn = !ends.includes(written);
      this.#lose(ends.slice(1).filter((end) => end > written).length);
    }
  }

  async #writeSome(bytes: Uint8Array): Promise<number> {
    const count = await this.#write(bytes);
    if (count === 0) throw new Error("Cannot write to the log: nothing of it was taken");
    return count;
  }

  #lose(lines: number): void {
    this.#lost += lines;
    this.#untold += lines;
  }

  #tell(): void {
    const lines = this.#untold;
    this.#untold = 0;
    if (lines > 0) this.#onLoss(lines);
  }
}
