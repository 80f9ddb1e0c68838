// One connection of an HTTP/1.1 server: it serves the requests one after the other, each as a Request
// whose signal aborts when the client leaves, and bounds how long a client may keep the server waiting.
//
// A client that closes its sending side counts as gone, because TCP does not tell whether it still
// reads. So the request's signal aborts and a stream ends, but a complete answer is still sent.

import { TimeSlice } from "../../../engine/mod.ts";
import { HttpError } from "../errors.ts";
import { Receiver } from "./receiver.ts";
import { RequestBody } from "./request_body.ts";
import {
  findHeadEnd,
  MAX_HEAD_BYTES,
  oversizedHead,
  parseHead,
  type RequestHead,
} from "./request_head.ts";
import { type ByteSink, writeResponse } from "./response_writer.ts";
import { FramedSocket, handshake, type ServeSocket, socketOf } from "./web_socket.ts";

/** Answers requests; never rejects. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** Settles when the request with this head may begin. Until then little memory is spent on it. */
export type Admission = (head: RequestHead) => Promise<void>;

/** How long a client may take, in milliseconds. */
export interface Patience {
  /** Between requests. */
  idle: number;
  /** From the first byte of a head to its last. */
  head: number;
  /** From one piece of a body to the next. */
  body: number;
  /** Between two pieces of what is discarded before the connection closes. */
  linger: number;
  /** To take a piece of an answer. */
  answer: number;
}

/**
 * An unread body of up to this number of bytes is discarded, so that the connection can serve more
 * requests.
 */
const MAX_SKIPPED_BYTES = 256 * 2 ** 10;
/**
 * How much is discarded before a connection closes, in bytes. Closing a connection with unread bytes
 * resets it, and then many clients that are still sending never see why they were refused.
 */
const MAX_DISCARDED_BYTES = 256 * 2 ** 20;

const CONTINUE = new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n");

/** Something that is awaited of the client, and what to do when it takes too long. */
interface Wait {
  until: number;
  expire: () => void;
  /** From then on, the place of the connection may be given to another that needs one. */
  mayEndFrom: number;
}

/**
 * How long a client that has sent a whole head keeps its place for certain, while nothing more comes
 * of it, or it takes nothing of its answer. In milliseconds.
 */
const GRACE_MILLISECONDS = 1000;
/** A body that comes more slowly than this counts as one that does not come. Bytes per millisecond. */
const LEAST_RATE = 4;

/** How long the client of a WebSocket may be silent. In milliseconds. */
const SOCKET_MILLISECONDS = 600_000;

/** A connection that is being served. */
export class Connection implements ByteSink {
  readonly #connection: Deno.Conn;
  readonly #handler: Handler;
  readonly #admit: Admission;
  readonly #patience: Patience;
  readonly #receiver: Receiver;
  readonly #waits = new Set<Wait>();
  #abort: AbortController | undefined;
  #idleSince: number | undefined;
  #closing = false;

  constructor(
    connection: Deno.Conn,
    { handler, admit, patience }: { handler: Handler; admit: Admission; patience: Patience },
  ) {
    this.#connection = connection;
    this.#handler = handler;
    this.#admit = admit;
    this.#patience = patience;
    this.#receiver = new Receiver(connection, () => this.#abort?.abort());
  }

  /** Time at which it became idle, on the clock of performance.now(). */
  get idleSince(): number | undefined {
    return this.#idleSince;
  }

  /**
   * Time from which its place may be given to another, because it waits for its client: to ask, to go
   * on with a request, or to take an answer; on the same clock. Undefined while the server is at work.
   */
  get mayEndFrom(): number | undefined {
    const [first] = this.#waits;
    return first?.mayEndFrom;
  }

  /** Serves requests until one side ends the connection. Never rejects. */
  async serve(): Promise<void> {
    const slice = new TimeSlice();
    try {
      while (!this.#closing) {
        const head = await this.#readHead();
        if (head instanceof HttpError) await this.#refuse(head);
        if (!head || head instanceof HttpError || !await this.#answer(head)) break;
        // Requests that have come already could all be answered without anybody else in between.
        if (this.#receiver.available > 0) await slice.turn();
      }
    } catch {
      // The connection or the body of an answer broke. The connection ends here, so that no answer
      // looks complete.
    } finally {
      this.close();
    }
  }

  /** Closes it at once if it is idle, else after the current answer. */
  finish(): void {
    this.#closing = true;
    if (this.#idleSince !== undefined) this.close();
  }

  /** Closes it at once. */
  close(): void {
    this.#closing = true;
    this.#abort?.abort();
    try {
      this.#connection.close();
    } catch {
      // It is closed.
    }
  }

  /** Ends what has been awaited for too long. */
  expire(now: number): void {
    for (const wait of this.#waits) if (wait.until <= now) wait.expire();
  }

  /** Writes all bytes, as fast as the client takes them. */
  async write(bytes: Uint8Array): Promise<void> {
    let rest = bytes;
    while (rest.length > 0) {
      const written = this.#connection.write(rest);
      const { answer } = this.#patience;
      const mayEndFrom = performance.now() + GRACE_MILLISECONDS;
      const expire = () => this.close();
      rest = rest.subarray(await this.#within(answer, written, expire, mayEndFrom));
    }
  }

  /** The next head, or what is wrong with it; undefined if the client sends none. */
  async #readHead(): Promise<RequestHead | HttpError | undefined> {
    const receiver = this.#receiver;
    if (receiver.available === 0) {
      this.#idleSince = performance.now();
      const came = this.#within(this.#patience.idle, receiver.more(), () => this.close());
      if (!await came) return undefined;
      this.#idleSince = undefined;
    }
    const late = new HttpError(408, "the head of the request did not come in time");
    try {
      return await this.#within(this.#patience.head, this.#restOfHead(), () => receiver.fail(late));
    } catch (error) {
      if (error instanceof HttpError) return error;
      throw error;
    }
  }

  async #restOfHead(): Promise<RequestHead | undefined> {
    const receiver = this.#receiver;
    for (let searched = 0;;) {
      const bytes = receiver.peek();
      // An empty line before a request is passed over (RFC 9112, section 2.2).
      if (bytes[0] === 0x0d && bytes[1] === 0x0a) {
        receiver.take(2);
        continue;
      }
      const end = findHeadEnd(bytes, searched);
      if (end > MAX_HEAD_BYTES || (end < 0 && bytes.length > MAX_HEAD_BYTES)) {
        throw oversizedHead(bytes);
      }
      if (end >= 0) return parseHead(receiver.take(end));
      searched = bytes.length;
      // Bytes that are no text, such as a TLS handshake, can never become a request.
      if (bytes[0] !== undefined && (bytes[0] < 0x20 || bytes[0] > 0x7e)) {
        throw new HttpError(400, "the first line is not that of an HTTP/1.1 request");
      }
      if (!await receiver.more()) return undefined;
    }
  }

  /** Answers a request. Returns whether the connection can serve another one. */
  async #answer(head: RequestHead): Promise<boolean> {
    await this.#admit(head);
    const body = new RequestBody(this.#receiver, head.framing);
    const abort = this.#abort = new AbortController();
    if (this.#receiver.ended) abort.abort();
    let continued = !head.expectsContinue;
    const read = async () => {
      if (!continued) await this.write(CONTINUE);
      continued = true;
      return await this.#readPatiently(body);
    };
    const isBodiless = body.done || /^(get|head)$/i.test(head.method);
    const request = new Request(head.url, {
      method: head.method,
      headers: head.headers,
      signal: abort.signal,
      ...(!isBodiless && { body: streamOf(read) }),
    });
    const response = await this.#handler(request);
    const serve = response.ok && socketOf(request);
    if (serve) {
      await response.body?.cancel();
      await this.#serveSocket(request, serve, abort.signal);
      return false;
    }
    // Where the client waits for 100 Continue and nobody read the body, it may never arrive.
    const canSkip = body.left !== undefined && body.left <= MAX_SKIPPED_BYTES;
    const keepAlive = head.keepsAlive && !this.#closing && !this.#receiver.ended &&
      !this.#receiver.failed && (body.done || (continued && canSkip));
    const { isModern } = head;
    const options = { method: request.method, isModern, keepAlive, signal: abort.signal };
    const stays = await writeResponse(this, response, options);
    this.#abort = undefined;
    if (!stays) {
      if (!body.done || this.#receiver.available > 0) await this.#linger();
      return false;
    }
    while (!body.done) await this.#readPatiently(body);
    return true;
  }

  /** Serves a WebSocket to its end, with which the connection ends. */
  async #serveSocket(request: Request, serve: ServeSocket, signal: AbortSignal): Promise<void> {
    await this.write(handshake(request));
    const wait = async (more: Promise<boolean>) => {
      this.#idleSince = performance.now();
      try {
        return await this.#within(SOCKET_MILLISECONDS, more, () => this.close());
      } finally {
        this.#idleSince = undefined;
      }
    };
    const socket = new FramedSocket(this.#receiver, this, signal, wait);
    await serve(socket);
    await socket.close();
    await this.#linger();
  }

  async #readPatiently(body: RequestBody): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const late = new HttpError(408, "the request body did not come in time");
    const expire = () => this.#receiver.fail(late);
    const mayEndFrom = performance.now() - body.lateness(LEAST_RATE) + GRACE_MILLISECONDS;
    return await this.#within(this.#patience.body, body.read(), expire, mayEndFrom);
  }

  /** Answers bytes that are no request; what follows them cannot be read either. */
  async #refuse({ status, message }: HttpError): Promise<void> {
    const headers = { "content-type": "application/json; charset=utf-8" };
    const response = new Response(JSON.stringify({ error: message }), { status, headers });
    const { signal } = new AbortController();
    await writeResponse(this, response, { method: "", isModern: true, keepAlive: false, signal });
    await this.#linger();
  }

  /** Closes the sending side, and discards what the client still sends. */
  async #linger(): Promise<void> {
    if (this.#receiver.ended) return;
    this.#idleSince = performance.now();
    await this.#connection.closeWrite();
    let discarded = 0;
    let more = true;
    while (more && discarded < MAX_DISCARDED_BYTES) {
      for (let taken; (taken = this.#receiver.take(Infinity).length) > 0;) discarded += taken;
      const came = this.#receiver.more();
      more = await this.#within(this.#patience.linger, came, () => this.close());
    }
  }

  async #within<T>(
    milliseconds: number,
    promise: Promise<T>,
    expire: () => void,
    mayEndFrom = performance.now(),
  ): Promise<T> {
    const wait = { until: performance.now() + milliseconds, expire, mayEndFrom };
    this.#waits.add(wait);
    try {
      return await promise;
    } finally {
      this.#waits.delete(wait);
    }
  }
}

function streamOf(
  read: () => Promise<Uint8Array<ArrayBuffer> | undefined>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const bytes = await read();
      if (bytes) controller.enqueue(bytes);
      else controller.close();
    },
  }, { highWaterMark: 0 });
}
