// A stream of records as a response: one JSON value per line, written as they come, each a chunk of
// its own. The reader sets the pace; when it goes away, `cancel` ends the source.

import { messageOf } from "../../log.ts";
import { spaced } from "./spaced.ts";

/** What a stream of records needs. */
export interface NdjsonOptions {
  records: AsyncIterable<unknown>;
  /** Ends the source, called when the client has gone. */
  cancel: () => Promise<unknown>;
}

/**
 * A response of status 200. An error of the source becomes the last line, `{"error": "..."}`:
 * the status has been sent by then.
 */
export function ndjsonResponse({ records, cancel }: NdjsonOptions): Response {
  const lines = spaced(encodeLines(records));
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await cancel();
    },
  });
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}

async function* encodeLines(records: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const encode = (record: unknown) => encoder.encode(JSON.stringify(record) + "\n");
  try {
    for await (const record of records) yield encode(record);
  } catch (error) {
    yield encode({ error: messageOf(error) });
  }
}
