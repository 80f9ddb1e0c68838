// The text of PDF files, read by the worker of pdf.js through the messages that the page sends it.

import { assertEquals, assertRejects } from "@std/assert";
import { readPdf } from "../../web/chat/pdf.ts";
import { WorkerMessageHandler } from "../../web/pdf_worker.ts";
import { pdfOf } from "./answers.ts";

/** readPdf() with the worker's code in this thread. */
async function read(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { port1, port2 } = new MessageChannel();
  WorkerMessageHandler.initializeFromPort(port2);
  port1.start();
  port2.start();
  try {
    return await readPdf(port1, bytes.buffer);
  } finally {
    port1.close();
  }
}

const options = { sanitizeOps: false, sanitizeResources: false };

Deno.test(
  "readPdf() gives the text of all pages, with an empty line between two",
  options,
  async () => {
    assertEquals(await read(pdfOf(["The word is kestrel."])), "The word is kestrel.");
    const lines = Array.from({ length: 30 }, (_, index) => `Page ${index}`);
    assertEquals(await read(pdfOf(lines)), lines.join("\n\n"));
  },
);

Deno.test("readPdf() says why a file has no text: no PDF, broken, or locked", options, async () => {
  const text = (content: string) => new TextEncoder().encode(content);
  await assertRejects(() => read(text("no PDF at all")), Error, "Invalid PDF structure");
  await assertRejects(() => read(text("")), Error, "zero bytes");
  const zeros = "00".repeat(32);
  const lock = `/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${zeros}> /U <${zeros}> >> ` +
    `/ID [<${"00".repeat(16)}> <${"00".repeat(16)}>] `;
  await assertRejects(() => read(pdfOf(["secret"], lock)), Error, "password");
});
