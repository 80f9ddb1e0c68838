// Messages over the pipes of a process: values as V8 serializes them (node:v8), each after its
// length in bytes as a little-endian u32. Shared memory cannot be sent.

import { serializer } from "../../host/mod.ts";

const LENGTH_BYTES = 4;

/** The sending end of a pipe. */
export class MessageSender {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;

  /** Locks the pipe for this sender. */
  constructor(pipe: WritableStream<Uint8Array<ArrayBuffer>>) {
    this.#writer = pipe.getWriter();
  }

  /**
   * Sends a message after all earlier ones. If nobody reads the pipe any more, the message is lost.
   */
  send(message: unknown): void {
    const bytes = serializer().serialize(message) as Uint8Array<ArrayBuffer>;
    const length = new Uint8Array(LENGTH_BYTES);
    new DataView(length.buffer).setUint32(0, bytes.length, true);
    for (const part of [length, bytes]) this.#writer.write(part).catch(() => {});
  }
}

/**
 * The messages that come out of a pipe, up to its end. A message that is cut off by the end is
 * dropped.
 */
export async function* readMessages(
  pipe: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<unknown, void> {
  const reader = pipe.getReader();
  let chunk = new Uint8Array();
  const read = async (count: number): Promise<Uint8Array<ArrayBuffer> | undefined> => {
    const bytes = new Uint8Array(count);
    for (let filled = 0; filled < count;) {
      if (chunk.length === 0) {
        const { value, done } = await reader.read();
        if (done) return undefined;
        chunk = value;
      }
      const part = chunk.subarray(0, count - filled);
      bytes.set(part, filled);
      filled += part.length;
      chunk = chunk.subarray(part.length);
    }
    return bytes;
  };
  for (;;) {
    const length = await read(LENGTH_BYTES);
    const bytes = length && await read(new DataView(length.buffer).getUint32(0, true));
    if (!bytes) return;
    yield serializer().deserialize(bytes);
  }
}
