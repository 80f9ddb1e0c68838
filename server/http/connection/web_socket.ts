// WebSockets (RFC 6455), the server's side: the handshake, and messages in frames, one after the other.
// No extension is agreed upon, so frames are not compressed.

import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
import type { Receiver } from "./receiver.ts";
import type { ByteSink } from "./response_writer.ts";

/** Most bytes of a message. */
const MOST_BYTES = 16 * 2 ** 20;

/** What the key of a handshake is hashed with. */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Kinds of frames. */
const [CONTINUED, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10];

/** Why a connection ends. */
const [NORMAL, PROTOCOL_ERROR, BAD_KIND, BAD_TEXT, TOO_LARGE] = [1000, 1002, 1003, 1007, 1009];

/** A connection that has become a WebSocket. */
export interface ServerSocket {
  /** The messages of the client, all of which are texts. They end when either side closes. */
  messages(): AsyncGenerator<string, void>;
  /** Sends a text. */
  send(text: string): Promise<void>;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** Works with a socket; when it settles, the socket is closed. */
export type ServeSocket = (socket: ServerSocket) => Promise<void>;

/** The requests that are to become WebSockets. */
const upgrades = new WeakMap<Request, ServeSocket>();

/** Whether a request asks for a WebSocket. */
export function asksForSocket({ headers }: Request): boolean {
  return headers.get("upgrade")?.toLowerCase() === "websocket" &&
    headers.get("sec-websocket-version") === "13" &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers.get("sec-websocket-key") ?? "");
}

/** Has the connection of a request become a WebSocket, once its route has answered with success. */
export function becomeSocket(request: Request, serve: ServeSocket): void {
  upgrades.set(request, serve);
}

/** What a request's route wants to do with the socket; undefined: the answer is an answer. */
export function socketOf(request: Request): ServeSocket | undefined {
  return upgrades.get(request);
}

/** The head that ends the handshake. */
export function handshake({ headers }: Request): Uint8Array {
  const key = headers.get("sec-websocket-key")!;
  const accept = createHash("sha1").update(key + GUID).digest("base64");
  const protocol = headers.get("sec-websocket-protocol")?.split(",")[0].trim();
  return new TextEncoder().encode(
    [
      "HTTP/1.1 101 Switching Protocols",
      "upgrade: websocket",
      "connection: Upgrade",
      `sec-websocket-accept: ${accept}`,
      ...protocol ? [`sec-websocket-protocol: ${protocol}`] : [],
      "\r\n",
    ].join("\r\n"),
  );
}

/** The error of a client that breaks the protocol. */
class SocketError extends Error {
  constructor(readonly code: number, state: string) {
    super(state);
  }
}

/** Messages over a connection. */
export class FramedSocket implements ServerSocket {
  readonly #receiver: Receiver;
  readonly #sink: ByteSink;
  readonly #wait: (more: Promise<boolean>) => Promise<boolean>;
  /** Settles when all that was sent is written. */
  #written: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @param wait bounds how long the client may be silent */
  constructor(
    receiver: Receiver,
    sink: ByteSink,
    readonly signal: AbortSignal,
    wait: (more: Promise<boolean>) => Promise<boolean>,
  ) {
    this.#receiver = receiver;
    this.#sink = sink;
    this.#wait = wait;
  }

  async *messages(): AsyncGenerator<string, void> {
    try {
      let parts: Uint8Array[] = [];
      for await (const { kind, isLast, payload } of this.#frames()) {
        if (kind === PING) await this.#write(PONG, payload);
        if (kind === CLOSE) return await this.close();
        if (kind >= CLOSE) continue;
        if ((kind === CONTINUED) !== (parts.length > 0)) {
          throw new SocketError(PROTOCOL_ERROR, "frames of messages are mixed");
        }
        if (kind === BINARY) throw new SocketError(BAD_KIND, "messages have to be texts");
        parts.push(payload);
        if (parts.reduce((sum, { length }) => sum + length, 0) > MOST_BYTES) {
          throw new SocketError(TOO_LARGE, `a message has more than ${MOST_BYTES} bytes`);
        }
        if (!isLast) continue;
        yield textOf(parts);
        parts = [];
      }
    } catch (error) {
      if (!(error instanceof SocketError)) throw error;
      await this.close(error.code, error.message);
    }
  }

  async send(text: string): Promise<void> {
    if (!this.#isClosed) await this.#write(TEXT, new TextEncoder().encode(text));
  }

  /** Closes the socket. */
  async close(code = NORMAL, reason = ""): Promise<void> {
    if (this.#isClosed) return;
    const payload = Buffer.concat([Buffer.of(code >> 8, code & 255), Buffer.from(reason)]);
    const sent = this.#write(CLOSE, payload);
    this.#isClosed = true;
    await sent;
  }

  /** Frames are whole, whoever sends at the same time. */
  #write(kind: number, payload: Uint8Array): Promise<void> {
    const { length } = payload;
    const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
    head[0] = 0x80 | kind;
    head[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
    if (head.length === 4) head.writeUInt16BE(length, 2);
    if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
    const written = this.#written.then(() => this.#sink.write(Buffer.concat([head, payload])));
    this.#written = written.catch(() => {});
    return written;
  }

  async *#frames(): AsyncGenerator<{ kind: number; isLast: boolean; payload: Uint8Array }, void> {
    for (;;) {
      const head = await this.#take(2);
      if (!head) return;
      const [kind, short] = [head[0] & 15, head[1] & 127];
      const isControl = kind >= CLOSE;
      const isKnown = kind <= BINARY || kind >= CLOSE && kind <= PONG;
      // Reserved bits belong to extensions; what a client sends is masked.
      if (!isKnown || head[0] & 0x70 || !(head[1] & 0x80)) {
        throw new SocketError(PROTOCOL_ERROR, "a frame is not valid");
      }
      if (isControl && (short > 125 || !(head[0] & 0x80))) {
        throw new SocketError(PROTOCOL_ERROR, "a control frame is not valid");
      }
      const more = await this.#take((short === 126 ? 2 : short === 127 ? 8 : 0) + 4);
      if (!more) return;
      const length = short === 126
        ? more.readUInt16BE(0)
        : short === 127
        ? Number(more.readBigUInt64BE(0))
        : short;
      if (length > MOST_BYTES) {
        throw new SocketError(TOO_LARGE, `a message has more than ${MOST_BYTES} bytes`);
      }
      const mask = more.subarray(-4);
      const payload = await this.#take(length);
      if (!payload) return;
      for (let i = 0; i < length; i++) payload[i] ^= mask[i & 3];
      yield { kind, isLast: (head[0] & 0x80) !== 0, payload };
    }
  }

  /** Exactly that many bytes, in memory of their own; undefined if the client has gone. */
  async #take(count: number): Promise<Buffer | undefined> {
    const bytes = Buffer.alloc(count);
    for (let at = 0; at < count;) {
      const taken = this.#receiver.take(count - at);
      bytes.set(taken, at);
      at += taken.length;
      if (taken.length === 0 && !await this.#wait(this.#receiver.more())) return undefined;
    }
    return bytes;
  }
}

function textOf(parts: readonly Uint8Array[]): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    throw new SocketError(BAD_TEXT, "a message is not valid UTF-8");
  }
}
