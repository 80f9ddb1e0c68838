// A stream as a response of status 200: server-sent events (WHATWG HTML, section 9.2), or one JSON
// value per line. Each event or line is a chunk of its own, written as it comes, at the pace of the
// client. When the client leaves, `cancel` ends the source. Knows no API.

/** Milliseconds between the items of a burst: enough for a client to read each by itself. */
const DISTANCE = 3;
/** Longest burst that is spread out. A submit gives fewer tokens: a longer one is a fast source. */
const MOST_IN_BURST = 16;

/** The parts of a stream. */
export interface StreamOptions<T> {
  events: AsyncIterable<T>;
  /** Ends the source, called when the client has gone. */
  cancel: () => Promise<unknown>;
  /**
   * The last event after a failure, which comes too late for a status; undefined cuts the
   * connection, so that no client takes the answer for complete.
   */
  fail: (error: unknown) => T | undefined;
  /** Headers of the response besides those of its kind. */
  headers?: Record<string, string>;
}

/** One event: a name for those APIs that have them, and what is sent as JSON or as it stands. */
export interface ServerSentEvent<Data = unknown> {
  event?: string;
  /** A string is sent as it stands, such as "[DONE]". */
  data: Data;
  /** A line that parsers skip, for people and proxies. */
  comment?: string;
}

/** A comment by itself. */
export type SseComment = Required<Pick<ServerSentEvent, "comment">>;

/**
 * What a comment says of a request that waits.
 *
 * @param ahead requests that come first; undefined where this one is being worked on
 */
export function waitingComment(ahead: number | undefined): string {
  return ahead === undefined ? "working" : `queued, ${ahead} ahead`;
}

/** The headers of a stream of server-sent events. */
export const EVENT_STREAM = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
};

export function sseResponse(options: StreamOptions<ServerSentEvent | SseComment>): Response {
  return streamResponse(withLast(options), encodeEvent, options.cancel, {
    ...EVENT_STREAM,
    ...options.headers,
  });
}

/** A stream of lines. Those that come in a burst are spread out. */
export function ndjsonResponse<T>(options: StreamOptions<T>): Response {
  const encode = (record: T) => `${JSON.stringify(record)}\n`;
  return streamResponse(spaced(withLast(options)), encode, options.cancel, {
    "content-type": "application/x-ndjson",
    ...options.headers,
  });
}

function streamResponse<T>(
  source: AsyncGenerator<T>,
  encode: (event: T) => string,
  cancel: () => Promise<unknown>,
  headers: Record<string, string>,
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await source.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(encode(value)));
    },
    async cancel() {
      await cancel();
    },
  });
  return new Response(body, { headers });
}

/** The events, and after a failure the last one. */
async function* withLast<T>({ events, fail }: StreamOptions<T>): AsyncGenerator<T> {
  try {
    yield* events;
  } catch (error) {
    const last = fail(error);
    if (last === undefined) throw error;
    yield last;
  }
}

function encodeEvent(told: ServerSentEvent | SseComment): string {
  const comment = told.comment === undefined ? "" : `: ${told.comment}\n`;
  if (!("data" in told)) return `${comment}\n`;
  const { event, data } = told;
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${comment}${event ? `event: ${event}\n` : ""}data: ${text}\n\n`;
}

/**
 * The items of the source, spread out in time. A submit to the GPU gives several tokens at once, and
 * clients that take the bytes of one read for one record fail at two.
 */
export async function* spaced<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  let inBurst = 0;
  let given = -Infinity;
  let asked = performance.now();
  for await (const item of source) {
    const now = performance.now();
    inBurst = now - asked < DISTANCE ? inBurst + 1 : 0;
    const early = given + DISTANCE - now;
    if (early > 0 && inBurst <= MOST_IN_BURST) {
      await new Promise((resolve) => setTimeout(resolve, early));
    }
    given = performance.now();
    yield item;
    asked = performance.now();
  }
}
