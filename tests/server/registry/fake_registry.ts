// A registry that serves one model, and misbehaves on request. It writes its answers to the
// connection itself, so that it can send what a proper server never would.

import type { SampleModel } from "./fixtures.ts";

/** A request as it came. */
export interface FakeRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Map<string, string>;
  /** What is asked for. */
  kind: "manifest" | "blob" | "other";
  /** The digest of a request for a blob. */
  digest?: string;
  /** First and last byte of a request for a range. */
  range?: [first: number, last: number];
  /** The number of this request among all, from 0. */
  index: number;
}

/** An answer, and what goes wrong with it. */
export interface FakeAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: Uint8Array;
  /** Answers only then. */
  after?: Promise<unknown>;
  /** Cuts the connection after so many bytes of the body. */
  cutAfter?: number;
  /** Keeps the connection open after the body, without another byte. */
  hangs?: boolean;
  /** Keeps the connection open without any byte. */
  isSilent?: boolean;
  /** Writes pieces of so many bytes, with a pause after each. */
  pace?: { bytes: number; milliseconds: number };
}

/** Answers in place of the registry, or leaves it to the registry. */
export type Fault = (request: FakeRequest, proper: FakeAnswer) => FakeAnswer | void;

/** A registry of one model on a free port. */
export class FakeRegistry implements AsyncDisposable {
  readonly requests: FakeRequest[] = [];
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #connections = new Set<Deno.TcpConn>();
  readonly #serving: Promise<unknown>[] = [];
  #fault: Fault = () => {};

  constructor(readonly model: SampleModel) {
    this.#serving.push(this.#accept());
  }

  /** Host and port. */
  get host(): string {
    return `127.0.0.1:${(this.#listener.addr as Deno.NetAddr).port}`;
  }

  /** The model's name. */
  get name(): string {
    return `${this.host}/library/sample:latest`;
  }

  /** From now on answers go through this. */
  misbehave(fault: Fault): void {
    this.#fault = fault;
  }

  /** From now on all is well. */
  recover(): void {
    this.#fault = () => {};
  }

  /** Requests for a blob so far. */
  requestsFor(digest: string): FakeRequest[] {
    return this.requests.filter((request) => request.digest === digest);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#connections) connection.close();
    await Promise.allSettled(this.#serving);
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) {
      this.#connections.add(connection);
      const served = this.#serve(connection).catch(() => {}).finally(() => {
        if (this.#connections.delete(connection)) connection.close();
      });
      this.#serving.push(served);
    }
  }

  async #serve(connection: Deno.TcpConn): Promise<void> {
    const request = await readRequest(connection, this.requests.length);
    if (!request) return;
    this.requests.push(request);
    const proper = this.#answer(request);
    const answer = this.#fault(request, proper) ?? proper;
    await answer.after;
    if (answer.isSilent) return await untilClosed(connection);
    await write(connection, headOf(answer));
    if (request.method === "HEAD") return;
    const body = (answer.body ?? new Uint8Array()).subarray(0, answer.cutAfter);
    const step = answer.pace?.bytes ?? Math.max(1, body.length);
    for (let at = 0; at < body.length; at += step) {
      await write(connection, body.subarray(at, at + step));
      if (answer.pace) await new Promise((done) => setTimeout(done, answer.pace!.milliseconds));
    }
    // The other side ends it: at its stall limit, or when it is cancelled.
    if (answer.hangs) { while (await connection.read(new Uint8Array(64))) continue; }
  }

  #answer({ kind, digest, range }: FakeRequest): FakeAnswer {
    if (kind === "manifest") return { status: 200, body: this.model.bytes };
    const content = digest === undefined ? undefined : this.model.blobs.get(digest);
    if (!content) {
      return { status: 404, body: new TextEncoder().encode('{"errors":[{"message":"gone"}]}') };
    }
    if (!range) return { status: 200, body: content };
    const [first, last] = range;
    const headers = { "content-range": `bytes ${first}-${last}/${content.length}` };
    return { status: 206, headers, body: content.subarray(first, last + 1) };
  }
}

function headOf({ status, headers = {}, body }: FakeAnswer): Uint8Array {
  const length = headers["transfer-encoding"]
    ? {}
    : { "content-length": String(body?.length ?? 0) };
  const all = { ...length, connection: "close", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return new TextEncoder().encode(`HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`);
}

async function readRequest(
  connection: Deno.TcpConn,
  index: number,
): Promise<FakeRequest | undefined> {
  let head = "";
  const buffer = new Uint8Array(4096);
  while (!head.includes("\r\n\r\n")) {
    const count = await connection.read(buffer);
    if (count === null) return undefined;
    head += new TextDecoder().decode(buffer.subarray(0, count));
  }
  const [first = "", ...lines] = head.split("\r\n\r\n")[0]!.split("\r\n");
  const [method = "", target = ""] = first.split(" ");
  const headers = new Map(lines.map((line) => {
    const [, name = "", value = ""] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
    return [name.toLowerCase(), value];
  }));
  const url = new URL(target, "http://registry.test");
  const digest = /\/blobs\/(sha256:[0-9a-f]{64})$/.exec(url.pathname)?.[1];
  const bounds = /^bytes=(\d+)-(\d+)$/.exec(headers.get("range") ?? "");
  return {
    method,
    path: url.pathname,
    query: url.searchParams,
    headers,
    index,
    kind: url.pathname.includes("/manifests/") ? "manifest" : digest ? "blob" : "other",
    ...(digest === undefined ? {} : { digest }),
    ...(bounds ? { range: [Number(bounds[1]), Number(bounds[2])] } : {}),
  };
}

/** Waits for the other side to end it: at its stall limit, or when it is cancelled. */
async function untilClosed(connection: Deno.TcpConn): Promise<void> {
  while (await connection.read(new Uint8Array(64)) !== null) continue;
}

async function write(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await connection.write(bytes.subarray(done));
}
