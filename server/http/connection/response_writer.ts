// Writes a Response on a connection (RFC 9112): with its length where the body is complete at once, in
// chunks where it comes in pieces. The pace is that of the client.

import { nextTask } from "../../../engine/mod.ts";
import { joinBytes } from "../../bytes.ts";

/**
 * Bytes of a body after which the event loop continues: neither a source that has the next piece at
 * hand nor a client that takes all at once ever waits, and nobody else would be served.
 */
const TURN_BYTES = 64 * 2 ** 10;

/** The receiver of the bytes. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
}

/** The abilities of the request and the connection. */
export interface WriteOptions {
  /** HEAD is answered without a body. */
  method: string;
  /** Whether the client understands chunks. */
  isModern: boolean;
  /** Whether the connection serves further requests. */
  keepAlive: boolean;
  /**
   * Aborts when the client has gone, which ends a body that comes in pieces; a complete one is
   * written.
   */
  signal: AbortSignal;
}

const encoder = new TextEncoder();
const LAST_CHUNK = encoder.encode("0\r\n\r\n");
/** Turns of the microtask queue within which a complete body shows its end. */
const TURNS_OF_WHOLE_BODY = 16;
/** Reason phrases of the usual statuses; others have none. Importing node:http for all takes 60 ms. */
const REASONS: Record<number, string> = {
  200: "OK",
  201: "Created",
  204: "No Content",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  417: "Expectation Failed",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  505: "HTTP Version Not Supported",
  507: "Insufficient Storage",
};
/** Statuses that never have a body (RFC 9110, section 6.4.1). */
const BODILESS = [204, 205, 304];

/**
 * Writes the response to its end.
 *
 * @returns whether the connection can serve the next request
 * @throws what the body or the connection throws; then the connection is of no more use
 */
export async function writeResponse(
  sink: ByteSink,
  response: Response,
  options: WriteOptions,
): Promise<boolean> {
  const { method, isModern, keepAlive, signal } = options;
  if (method === "HEAD" || BODILESS.includes(response.status) || !response.body) {
    await response.body?.cancel();
    const length = method === "HEAD" || response.status === 204 ? [] : ["content-length: 0"];
    await sink.write(encodeHead(response, length, keepAlive));
    return keepAlive;
  }
  const reader = response.body.getReader();
  const first = reader.read();
  const second = first.then(({ done }) => done ? first : reader.read());
  // The part of a body before a failure is sent as well.
  const isWhole = second.then(({ done }) => done, () => false);
  if (await isSettledSoon(isWhole) && await isWhole) {
    const { value: body = new Uint8Array() } = await first;
    const head = encodeHead(response, [`content-length: ${body.length}`], keepAlive);
    await sink.write(joinBytes([head, body]));
    return keepAlive;
  }
  const gone = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", gone);
  if (signal.aborted) gone();
  try {
    // For a client of HTTP/1.0 the end of the connection is the end of the body.
    const stays = keepAlive && isModern;
    await sink.write(encodeHead(response, isModern ? ["transfer-encoding: chunked"] : [], stays));
    let following: typeof first | undefined = second;
    let inTurn = 0;
    for (let next = first;;) {
      const { done, value } = await next;
      if (signal.aborted) return false;
      if (done) break;
      // Each piece is a chunk and a write of its own, because some clients take one read for one
      // record.
      await sink.write(isModern ? toChunk(value) : value);
      inTurn += value.length;
      if (inTurn >= TURN_BYTES) {
        inTurn = 0;
        await nextTask();
      }
      next = following ?? reader.read();
      following = undefined;
    }
    if (isModern) await sink.write(LAST_CHUNK);
    return stays;
  } finally {
    signal.removeEventListener("abort", gone);
    gone();
  }
}

/** Whether the promise settles without waiting for anything outside of the program. */
async function isSettledSoon(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settle = () => void (isSettled = true);
  promise.then(settle, settle);
  for (let turn = 0; turn < TURNS_OF_WHOLE_BODY && !isSettled; turn++) await undefined;
  return isSettled;
}

function encodeHead({ status, headers }: Response, framing: string[], keepAlive: boolean) {
  const fields = [...headers]
    .filter(([name]) => !/^(connection|content-length|transfer-encoding)$/.test(name))
    .map(([name, value]) => `${name}: ${value}`);
  const lines = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? ""}`,
    ...fields,
    `date: ${httpDate()}`,
    ...framing,
    ...(keepAlive ? [] : ["connection: close"]),
  ];
  return latin1(lines.join("\r\n") + "\r\n\r\n");
}

/** Fields of a response are bytes that Fetch shows as characters of ISO 8859-1. */
function latin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

let date = { second: 0, text: "" };

/** The current time as RFC 9110 writes it, computed once a second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (date.second !== second) date = { second, text: new Date(second * 1000).toUTCString() };
  return date.text;
}

function toChunk(bytes: Uint8Array): Uint8Array {
  // A chunk of size 0 would be the last one.
  if (bytes.length === 0) return bytes;
  return joinBytes([
    encoder.encode(`${bytes.length.toString(16)}\r\n`),
    bytes,
    encoder.encode("\r\n"),
  ]);
}
