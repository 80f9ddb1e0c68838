// What editors show at an option of requests. The members of SamplingOptions follow from the table of
// options, and so do their comments: a type that drops them, or a comment that says something else than the
// option's help, fails here.

import { optionHelp, type OptionInfo, SAMPLING_OPTIONS } from "../../../engine/types/mod.ts";
import { assertEquals } from "@std/assert";

const PROBE = new URL("../../../engine/types/probe.ts", import.meta.url).href;

/** The language server of Deno. It hears one request at a time. */
class LanguageServer implements AsyncDisposable {
  readonly #process = new Deno.Command(Deno.execPath(), {
    args: ["lsp", "-q"],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  readonly #writer = this.#process.stdin.getWriter();
  readonly #reader = this.#process.stdout.getReader();
  #received = new Uint8Array();
  #lastId = 0;

  /** Sends a message. */
  async send(message: { method?: string; params?: unknown; id?: number; result?: unknown }) {
    const body = new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", ...message }));
    await this.#writer.write(new TextEncoder().encode(`Content-Length: ${body.length}\r\n\r\n`));
    await this.#writer.write(body);
  }

  /** The result of a request. What the server asks meanwhile gets no answer but null. */
  async ask(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#lastId;
    await this.send({ method, params, id });
    for (;;) {
      const message = await this.#receive();
      if (message.method === undefined && message.id === id) return message.result;
      if (message.method !== undefined && message.id !== undefined) {
        const { items } = (message.params ?? {}) as { items?: unknown[] };
        const result = items?.map(() => ({ enable: true })) ?? null;
        await this.send({ id: message.id, result });
      }
    }
  }

  async #receive(): Promise<{ method?: string; id?: number; params?: unknown; result?: unknown }> {
    for (;;) {
      const text = new TextDecoder("latin1").decode(this.#received);
      const [head = "", length] = /^Content-Length: (\d+)[^]*?\r\n\r\n/.exec(text) ?? [];
      const end = head.length + Number(length);
      if (head !== "" && this.#received.length >= end) {
        const body = new TextDecoder().decode(this.#received.subarray(head.length, end));
        this.#received = this.#received.slice(end);
        return JSON.parse(body);
      }
      const { value } = await this.#reader.read();
      if (!value) throw new Error("the language server has ended");
      const both = new Uint8Array(this.#received.length + value.length);
      both.set(this.#received);
      both.set(value, this.#received.length);
      this.#received = both;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill();
    await this.#process.status;
    await this.#reader.cancel();
    await this.#writer.abort().catch(() => {});
  }
}

Deno.test("editors show the help of each option where a request sets it", async () => {
  await using server = new LanguageServer();
  await server.ask("initialize", {
    processId: null,
    rootUri: null,
    capabilities: { textDocument: { hover: { contentFormat: ["markdown"] } } },
    initializationOptions: { enable: true },
  });
  await server.send({ method: "initialized", params: {} });
  const names = Object.keys(SAMPLING_OPTIONS);
  const lines = names.map((name) => `options.${name};`);
  const text = 'declare const options: import("./requests.ts").SamplingOptions;\n' +
    lines.join("\n");
  const textDocument = { uri: PROBE, languageId: "typescript", version: 1, text };
  await server.send({ method: "textDocument/didOpen", params: { textDocument } });
  for (const [index, name] of names.entries()) {
    const position = { line: 1 + index, character: "options.".length };
    const hover = await server.ask("textDocument/hover", { textDocument, position }) as {
      contents: { value: string };
    };
    const [, shown] = hover.contents.value.split("```\n").slice(-2);
    const info: OptionInfo = SAMPLING_OPTIONS[name as keyof typeof SAMPLING_OPTIONS];
    assertEquals(shown?.replaceAll(/\s+/g, " "), optionHelp(info));
  }
});
