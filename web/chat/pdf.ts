// The text of a PDF. The worker of pdf.js (web/pdf_worker.ts) reads the file; the other half of pdf.js,
// which draws pages and is 97 kB of Brotli, is not needed for it. So what that half would send to the
// worker is sent here: the few messages of src/shared/message_handler.js that ask for text. They are
// internal to pdf.js, and belong to the version that web/deno.json pins.

import { text } from "../strings.ts";

/** What the worker compares with its own, so that no other version is spoken to. */
const VERSION = "5.4.296";

/** Kinds of messages of a stream, as pdf.js numbers them. */
const [STREAM_CLOSE, STREAM_ENQUEUE, STREAM_ERROR] = [3, 4, 5];
/** The kind of an answer to a question of the worker that says no. */
const CALLBACK_ERROR = 2;

/** Names that the two ends give themselves: before a document is open, and for the document. */
const [PAGE, WORKER, DOCUMENT] = ["main", "worker", "pdf"];

/** More pieces than a page has, so that the worker never waits to be asked for the next one. */
const WANTED_PIECES = 1e9;

/** Where messages go and come from: a worker, or a port to code that runs as one. */
export interface Port {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
}

interface Reason {
  name?: string;
  message?: string;
}

/** Part of a message of the worker. */
interface Message {
  action?: string;
  callbackId?: number;
  sourceName: string;
  stream?: number;
  streamId: number;
  reason?: Reason;
  chunk: { items: readonly { str?: string; hasEOL?: boolean }[] };
  data: Reason & { pdfInfo: { numPages: number } };
}

/**
 * The text of the pages, with an empty line between two. The bytes are transferred.
 *
 * @param port leads to the worker of pdf.js
 * @throws Error that says why there is no text
 */
export async function readPdf(port: Port, data: ArrayBuffer): Promise<string> {
  const opened = Promise.withResolvers<number>();
  const pages: { content: string; settle: PromiseWithResolvers<void> }[] = [];
  port.addEventListener("message", ({ data: message }) => {
    const { action, callbackId, stream, streamId, reason, chunk, data } = message as Message;
    const page = pages[streamId - 1];
    if (action === "GetDoc") opened.resolve(data.pdfInfo.numPages);
    else if (action === "DocException") opened.reject(new Error(data.message));
    else if (action === "PasswordRequest") opened.reject(new Error(text.chat.passwordWanted));
    else if (action && callbackId) {
      // It asks for tables of characters and fonts that the page does not have, and goes on without.
      const { sourceName } = message as Message;
      const refused = { name: "UnknownErrorException", message: "not available" };
      const answer = { sourceName: DOCUMENT, targetName: sourceName, callbackId };
      port.postMessage({ ...answer, callback: CALLBACK_ERROR, reason: refused }, []);
    } else if (page && stream === STREAM_ENQUEUE) page.content += textOf(chunk);
    else if (page && stream === STREAM_CLOSE) page.settle.resolve();
    else if (page && stream === STREAM_ERROR) page.settle.reject(new Error(reason?.message));
    else if (reason) opened.reject(new Error(reason.message));
  });
  port.addEventListener("error" as "message", () => opened.reject(new Error("pdf.js failed")));
  const request = {
    docId: DOCUMENT,
    apiVersion: VERSION,
    data: new Uint8Array(data),
    enableXfa: false,
    evaluatorOptions: {
      disableFontFace: true,
      ignoreErrors: true,
      isEvalSupported: false,
      maxImageSize: -1,
      useSystemFonts: false,
    },
  };
  const toWorker = { sourceName: PAGE, targetName: WORKER };
  port.postMessage({ ...toWorker, action: "configure", data: { verbosity: 0 } }, []);
  const asked = { action: "GetDocRequest", callbackId: 1, data: request };
  port.postMessage({ ...toWorker, ...asked }, [data]);
  const toDocument = { sourceName: DOCUMENT, targetName: `${DOCUMENT}_worker` };
  port.postMessage({ ...toDocument, action: "Ready", data: null }, []);
  const count = await opened.promise;
  for (let index = 0; index < count; index++) {
    const page = { content: "", settle: Promise.withResolvers<void>() };
    const streamId = pages.push(page);
    port.postMessage({
      ...toDocument,
      action: "GetTextContent",
      streamId,
      desiredSize: WANTED_PIECES,
      data: { pageIndex: index, includeMarkedContent: false, disableNormalization: false },
    }, []);
    await page.settle.promise;
  }
  return pages.map(({ content }) => content.trim()).join("\n\n");
}

function textOf({ items }: Message["chunk"]): string {
  return items.map(({ str = "", hasEOL }) => str + (hasEOL ? "\n" : "")).join("");
}
