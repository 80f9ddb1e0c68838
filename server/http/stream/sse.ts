// A stream of server-sent events as a response (WHATWG HTML, section 9.2). The reader sets the pace;
// when it goes away, `cancel` ends the source. Dialects differ in what they say when the source
// fails; the status has been sent by then.

/** One event: a name for those dialects that have them, and what is sent as JSON or as it stands. */
export interface ServerSentEvent {
  event?: string;
  /** A string is sent as it stands, such as "[DONE]". */
  data: unknown;
  /** A line that parsers pass over, for people and proxies. */
  comment?: string;
}

/** A comment by itself. */
export type SseComment = Required<Pick<ServerSentEvent, "comment">>;

/** What a comment says of a request that waits. */
export function waitingComment({ ahead }: { ahead?: number }): string {
  return ahead === undefined ? "working" : `queued, ${ahead} ahead`;
}

/** What a stream of events needs. */
export interface SseOptions {
  events: AsyncIterable<ServerSentEvent | SseComment>;
  /** Ends the source, called when the client has gone. */
  cancel: () => Promise<unknown>;
  /** The last event after a failure; undefined cuts the connection, so that no end looks whole. */
  fail: (error: unknown) => ServerSentEvent | undefined;
}

/** A response of status 200. */
export function sseResponse({ events, cancel, fail }: SseOptions): Response {
  const source = events[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await source.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(encodeEvent(value)));
      } catch (error) {
        const last = fail(error);
        if (!last) return controller.error(error);
        controller.enqueue(encoder.encode(encodeEvent(last)));
        controller.close();
      }
    },
    async cancel() {
      await cancel();
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  });
}

function encodeEvent(told: ServerSentEvent | SseComment): string {
  const comment = told.comment === undefined ? "" : `: ${told.comment}\n`;
  if (!("data" in told)) return `${comment}\n`;
  const { event, data } = told;
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${comment}${event ? `event: ${event}\n` : ""}data: ${text}\n\n`;
}
