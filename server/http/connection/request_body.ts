// The body of one request, cut out of the bytes of a connection: by its length, or in chunks
// (RFC 9112, section 7.1). Extensions of chunks and trailers are passed over.

import { HttpError } from "../errors.ts";
import type { Receiver } from "./receiver.ts";
import type { Framing } from "./request_head.ts";

/** Most bytes of a chunk's line, or of all trailers. */
const MAX_LINE_BYTES = 8 * 2 ** 10;
/** Most bytes that one read gives. */
const MAX_READ_BYTES = 256 * 2 ** 10;

const [CR, LF] = [0x0d, 0x0a];

/** Reads one body, and not a byte of what follows it. */
export class RequestBody {
  readonly #receiver: Receiver;
  readonly #chunks: ChunkDecoder | undefined;
  #left: number;
  #taken = 0;
  #waited = 0;

  constructor(receiver: Receiver, framing: Framing) {
    this.#receiver = receiver;
    this.#left = framing.kind === "length" ? framing.length : 0;
    this.#chunks = framing.kind === "chunked" ? new ChunkDecoder() : undefined;
  }

  /** Whether all of it has been read. */
  get done(): boolean {
    return this.#chunks ? this.#chunks.done : this.#left === 0;
  }

  /** Bytes that have not been read; undefined for a body in chunks, whose length is not known. */
  get left(): number | undefined {
    return this.#chunks && !this.#chunks.done ? undefined : this.#left;
  }

  /**
   * How much longer it was waited for than it should have taken, in milliseconds.
   *
   * @param rate bytes that should come per millisecond
   */
  lateness(rate: number): number {
    return Math.max(0, this.#waited - this.#taken / rate);
  }

  /**
   * The next bytes, at least one; undefined at the end.
   *
   * @throws {HttpError} 400 if the connection ends before the body does, or a chunk is malformed
   */
  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    while (!this.done) {
      const began = performance.now();
      if (this.#receiver.available === 0 && !await this.#receiver.more()) {
        throw new HttpError(400, "the request body ended before it was complete");
      }
      this.#waited += performance.now() - began;
      const bytes = this.#chunks ? this.#chunks.decode(this.#receiver) : this.#takeLength();
      this.#taken += bytes.length;
      if (bytes.length > 0) return bytes;
    }
  }

  #takeLength(): Uint8Array<ArrayBuffer> {
    const bytes = this.#receiver.take(Math.min(this.#left, MAX_READ_BYTES));
    this.#left -= bytes.length;
    return bytes;
  }
}

/** The part that the decoder expects next. */
type State = "size" | "data" | "data end" | "trailer" | "done";

/** Decodes chunks as they arrive, however they are split; chunks of one byte cost no object each. */
class ChunkDecoder {
  #state: State = "size";
  #line: number[] = [];
  #lineBytes = 0;
  #left = 0;

  get done(): boolean {
    return this.#state === "done";
  }

  /** The data among the received bytes; there may be none. */
  decode(receiver: Receiver): Uint8Array<ArrayBuffer> {
    const wire = receiver.peek().subarray(0, MAX_READ_BYTES);
    const data = new Uint8Array(wire.length);
    let [at, size] = [0, 0];
    while (at < wire.length && this.#state !== "done") {
      if (this.#state === "data") {
        const part = wire.subarray(at, at + this.#left);
        data.set(part, size);
        size += part.length;
        at += part.length;
        this.#left -= part.length;
        if (this.#left === 0) this.#state = "data end";
      } else {
        this.#readLine(wire[at++]!);
      }
    }
    receiver.take(at);
    return data.subarray(0, size);
  }

  /** One byte of a line: a chunk's size, the line feed after its data, or a trailer. */
  #readLine(byte: number): void {
    if (++this.#lineBytes > MAX_LINE_BYTES) throw malformed("a line is too long");
    if (byte !== LF) return void this.#line.push(byte);
    if (this.#line.pop() !== CR) throw malformed("a line does not end with CR LF");
    const line = String.fromCharCode(...this.#line);
    this.#line = [];
    if (this.#state === "size") this.#startChunk(line);
    else if (this.#state === "data end") this.#endChunk(line);
    else if (line === "") this.#state = "done";
  }

  #startChunk(line: string): void {
    const [, digits] = /^([0-9a-fA-F]{1,12})[ \t]*(?:;.*)?$/.exec(line) ?? [];
    if (!digits) throw malformed(`"${line.slice(0, 20)}" is no size`);
    this.#left = parseInt(digits, 16);
    this.#lineBytes = 0;
    this.#state = this.#left > 0 ? "data" : "trailer";
  }

  #endChunk(line: string): void {
    if (line !== "") throw malformed("its data is longer than its size");
    this.#lineBytes = 0;
    this.#state = "size";
  }
}

function malformed(what: string): HttpError {
  return new HttpError(400, `malformed chunk in the request body: ${what}`);
}
