// A server on a port of its own for a test, and a client that sends bytes as they are.

import {
  type Handler,
  HttpServer,
  type HttpServerOptions,
} from "../../../../server/http/connection/mod.ts";

/** A server under test. */
export interface TestServer extends AsyncDisposable {
  server: HttpServer;
  port: number;
  url: string;
  warnings: string[];
  connect(): Promise<RawClient>;
}

/** Serves until disposal. */
export function serve(
  handler: Handler,
  options: Omit<HttpServerOptions, "log"> = {},
): TestServer {
  const warnings: string[] = [];
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const log = { warn: (text: string) => void warnings.push(text) };
  const server = new HttpServer(listener, handler, { ...options, log });
  const { port } = server.addr;
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    warnings,
    connect: async () => new RawClient(await Deno.connect({ hostname: "127.0.0.1", port })),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** An answer as it came. */
export interface RawAnswer {
  status: number;
  head: string;
  body: string;
  /** Of a body that comes in chunks. */
  chunks: string[];
}

/** One connection of a client. */
export class RawClient implements Disposable {
  #received = "";

  constructor(readonly connection: Deno.TcpConn) {}

  async send(data: string | Uint8Array): Promise<void> {
    let rest = typeof data === "string" ? new TextEncoder().encode(data) : data;
    while (rest.length > 0) rest = rest.subarray(await this.connection.write(rest));
  }

  /** The next answer that says its length or comes in chunks; interim ones are answers too. */
  async answer(): Promise<RawAnswer> {
    const head = await this.#until("\r\n\r\n");
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)![1]);
    const length = /^content-length: (\d+)/im.exec(head)?.[1];
    let body = "";
    const chunks: string[] = [];
    if (length !== undefined) body = await this.#take(Number(length));
    for (let size = /^transfer-encoding: chunked/im.test(head) ? -1 : 0; size !== 0;) {
      size = parseInt(await this.#until("\r\n"), 16);
      const chunk = (await this.#take(size + 2)).slice(0, size);
      if (size > 0) chunks.push(chunk);
      body += chunk;
    }
    return { status, head, body, chunks };
  }

  /** Everything until the server closes. */
  async rest(): Promise<string> {
    while (await this.#more());
    return this.#received;
  }

  /** Whether the server closes the connection, long before it would for idling. */
  async closes(): Promise<boolean> {
    const timeout = Promise.withResolvers<string>();
    const timer = setTimeout(() => timeout.resolve("open"), 20_000);
    const outcome = await Promise.race([this.rest(), timeout.promise]);
    clearTimeout(timer);
    return outcome !== "open";
  }

  [Symbol.dispose](): void {
    try {
      this.connection.close();
    } catch {
      // It is closed.
    }
  }

  async #until(mark: string): Promise<string> {
    while (!this.#received.includes(mark)) await this.#must();
    return await this.#take(this.#received.indexOf(mark) + mark.length);
  }

  async #take(count: number): Promise<string> {
    while (this.#received.length < count) await this.#must();
    const taken = this.#received.slice(0, count);
    this.#received = this.#received.slice(count);
    return taken;
  }

  async #must(): Promise<void> {
    if (!await this.#more()) throw new Error(`Expected more than ${this.#received}`);
  }

  async #more(): Promise<boolean> {
    const bytes = new Uint8Array(65536);
    try {
      const count = await this.connection.read(bytes);
      if (count === null) return false;
      this.#received += new TextDecoder("latin1").decode(bytes.subarray(0, count));
      return true;
    } catch {
      return false;
    }
  }
}

/** A request with a body of that many bytes. */
export function post(size: number, { path = "/", chunked = false, fields = "" } = {}): string {
  const framing = chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${size}`;
  const body = "a".repeat(size);
  const sent = chunked ? `${size > 0 ? `${size.toString(16)}\r\n${body}\r\n` : ""}0\r\n\r\n` : body;
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n${fields}\r\n${sent}`;
}
