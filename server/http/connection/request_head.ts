// The head of an HTTP/1.1 request (RFC 9112): request line and fields, and how the body is framed.
// What two parsers could read differently is refused, so that a proxy in front never sees other
// requests than this server does (request smuggling).

import { Buffer } from "node:buffer";
import type { ContentfulStatusCode } from "../../dependencies.ts";
import { HttpError } from "../errors.ts";

/**
 * Most bytes of a head: cookies and tokens of all kinds fit. It is in memory before any check is
 * made.
 */
export const MAX_HEAD_BYTES = 64 * 2 ** 10;
/** Most fields of a head. */
const MAX_FIELDS = 256;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const REQUEST_LINE = /^(\S+) (\S+) HTTP\/(\d)\.(\d)$/;
/** Methods that the Fetch standard forbids, so that no Request can have them. */
const FOREIGN_METHODS = ["CONNECT", "TRACE", "TRACK"];

/** How the end of a body is found. */
export type Framing = { kind: "none" } | { kind: "length"; length: number } | { kind: "chunked" };

/** The content of a head. */
export interface RequestHead {
  method: string;
  /** Whole address, made from the target and Host. */
  url: string;
  headers: Headers;
  framing: Framing;
  /** Whether the client understands HTTP/1.1: chunks, and 100 Continue. */
  isModern: boolean;
  /** Whether the client waits for an answer before it sends more requests on the connection. */
  keepsAlive: boolean;
  /** Whether the client waits for 100 Continue before it sends the body. */
  expectsContinue: boolean;
}

/**
 * Where the head ends, its empty line included.
 *
 * @param from bytes before it are known not to have the end
 * @returns -1 if it is not among the bytes
 */
export function findHeadEnd(bytes: Uint8Array, from: number): number {
  const at = asBuffer(bytes).indexOf("\r\n\r\n", Math.max(0, from - 3), "latin1");
  return at < 0 ? -1 : at + 4;
}

/** The error for a head that is too long: its address, or its fields. */
export function oversizedHead(bytes: Uint8Array): HttpError {
  const lineEnd = bytes.indexOf(0x0a);
  return lineEnd < 0 || lineEnd > MAX_HEAD_BYTES
    ? new HttpError(414, `the address of the request is longer than ${MAX_HEAD_BYTES} bytes`)
    : new HttpError(431, `the header fields of the request exceed ${MAX_HEAD_BYTES} bytes`);
}

/**
 * Reads a head, its empty line included.
 *
 * @throws {HttpError} 4xx or 505 for what is no request of HTTP/1
 */
export function parseHead(bytes: Uint8Array): RequestHead {
  const text = asBuffer(bytes).toString("latin1", 0, bytes.length - 4);
  const [line, ...fieldLines] = text.split("\r\n") as [string, ...string[]];
  const [method, target, isModern] = parseRequestLine(line);
  const headers = parseFields(fieldLines);
  const url = addressOf(method, target, headers, isModern);
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  const options = connection.split(",").map((option) => option.trim());
  return {
    method,
    url,
    headers,
    framing: framingOf(headers, isModern),
    isModern,
    keepsAlive: isModern && !options.includes("close"),
    expectsContinue: isModern && expectsContinue(headers),
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function parseRequestLine(line: string): [method: string, target: string, isModern: boolean] {
  const [, method, target, major, minor] = REQUEST_LINE.exec(line) ?? [];
  if (!method || !target || !TOKEN.test(method) || /[^\x21-\x7e]/.test(target)) {
    throw new HttpError(400, "the first line is not that of an HTTP/1.1 request");
  }
  if (major !== "1") throw new HttpError(505, `HTTP/${major} is not spoken here, but HTTP/1.1`);
  if (FOREIGN_METHODS.includes(method.toUpperCase())) {
    throw new HttpError(405, `the method ${method} is not allowed`);
  }
  return [method, target, minor !== "0"];
}

function parseFields(lines: string[]): Headers {
  if (lines.length > MAX_FIELDS) {
    throw new HttpError(431, `the request has more than ${MAX_FIELDS} header fields`);
  }
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon));
    const value = line.slice(colon + 1);
    // deno-lint-ignore no-control-regex
    if (!TOKEN.test(name) || /[\x00-\x08\x0a-\x1f\x7f]/.test(value)) {
      throw new HttpError(400, `malformed header field after ${headersSoFar(headers)}`);
    }
    // Repeated fields are joined with commas, but these decide how the request is read: they may
    // stand once.
    if (/^(host|content-length|transfer-encoding)$/i.test(name) && headers.has(name)) {
      throw new HttpError(400, `the header field ${name} is given twice`);
    }
    headers.append(name, value);
  }
  return headers;
}

function headersSoFar(headers: Headers): string {
  return [...headers.keys()].at(-1) ?? "the first line";
}

function framingOf(headers: Headers, isModern: boolean): Framing {
  const coding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (coding !== null) {
    if (length !== null || !isModern) {
      const rival = isModern ? "Content-Length" : "HTTP/1.0";
      throw new HttpError(400, `Transfer-Encoding does not go with ${rival}`);
    }
    if (coding.toLowerCase() !== "chunked") {
      throw new HttpError(400, `Transfer-Encoding must be chunked, not "${coding}"`);
    }
    return { kind: "chunked" };
  }
  if (length === null) return { kind: "none" };
  if (!/^\d{1,15}$/.test(length)) {
    throw new HttpError(400, `Content-Length must be a number of bytes, not "${length}"`);
  }
  return length === "0" ? { kind: "none" } : { kind: "length", length: Number(length) };
}

function expectsContinue(headers: Headers): boolean {
  const expected = headers.get("expect");
  if (expected === null) return false;
  if (expected.toLowerCase() === "100-continue") return true;
  throw new HttpError(417 as ContentfulStatusCode, `Expect: "${expected}" cannot be met`);
}

/** The address of the request. One in the target, as clients of proxies send it, overrides Host. */
function addressOf(method: string, target: string, headers: Headers, isModern: boolean): string {
  const host = headers.get("host");
  if (host === null && isModern) throw new HttpError(400, "the header field Host is missing");
  if (/^https?:\/\//i.test(target)) {
    if (!URL.canParse(target)) throw new HttpError(400, "the address of the request is malformed");
    headers.set("host", new URL(target).host);
    return target;
  }
  const path = target === "*" && method === "OPTIONS" ? "/" : target;
  if (!path.startsWith("/")) throw new HttpError(400, "the address of the request is malformed");
  const origin = `http://${host ?? "localhost"}/`;
  if (!URL.canParse(origin)) throw new HttpError(400, "the Host header is malformed");
  // What else Host contains is no part of the address; the guards check the field itself.
  const address = `http://${new URL(origin).host}${path}`;
  if (!URL.canParse(address)) throw new HttpError(400, "the address of the request is malformed");
  return address;
}
