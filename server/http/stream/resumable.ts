// Streams of server-sent events that go on without their client: what a response sends is written to a
// log as it comes, and clients read the log, the first one like those that come back. Events get ids
// there, their numbers from 0, by which browsers and libraries say where they were (Last-Event-ID; WHATWG
// HTML, section 9.2). Knows no API.

import type { EventLog, EventLogs, LogPosition } from "./event_log.ts";

/** A piece of a stream that has an event in it; what has none is a comment. */
const EVENT = /^(?:event|data):/m;

/**
 * A response whose stream goes on when its client leaves, until it ends by itself or the log is
 * canceled.
 *
 * @param logs where the log is, and that make room for it
 */
export function resumable(response: Response, log: EventLog, logs: EventLogs): Response {
  void record(response, log, logs);
  return replay(log, { from: 0 }, response.headers);
}

/**
 * A response with what is in a log from a position on, and what is still to come.
 *
 * @throws {HttpError} 400 if it does not have that position
 */
export function replay(log: EventLog, position: LogPosition, headers: Headers): Response {
  const pieces = log.read(position);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers });
}

/** Writes a stream into a log, at its own pace. Each of its chunks is an event or a comment. */
export async function record(response: Response, log: EventLog, logs: EventLogs): Promise<void> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  try {
    for await (const bytes of response.body!) {
      const text = decoder.decode(bytes);
      const isEvent = EVENT.test(text);
      log.add(isEvent ? encoder.encode(`id: ${log.events}\n${text}`) : bytes, isEvent);
      logs.trim();
    }
    log.end();
  } catch (error) {
    log.end(error);
  }
}
