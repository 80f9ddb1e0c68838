// Answers that outlive the connection of their request: those that are made in the background, and
// streams that a client can take up again, as llama-server has them. Both are written to a log
// (stream/event_log.ts), and end when they are complete, when somebody cancels them, or with the server.

import type { Context } from "../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../app_types.ts";
import { HttpError, statusOf } from "../errors.ts";
import type { EventLog } from "../stream/event_log.ts";
import { json } from "../stream/json.ts";
import { record, replay } from "../stream/resumable.ts";

/** Header by which a client names the conversation whose stream it wants to take up again. */
const CONVERSATION = "x-conversation-id";
/** Most characters of such a name. */
const MOST_CHARACTERS = 256;

/** The name of a log. Nobody with another API key finds it: no key contains a line feed. */
export function logName(
  { var: { apiKey = "" } }: { var: { apiKey?: string } },
  kind: "conversation" | "response",
  id: string,
): string {
  return `${apiKey}\n${kind} ${id}`;
}

/**
 * The log of the stream that a request begins, if the request names its conversation. The stream before
 * it ends.
 *
 * @throws {HttpError} 400 if the name is too long
 */
export function logOfConversation(
  context: Context<AppEnvironment>,
  { logs }: AppDependencies,
): EventLog | undefined {
  const conversation = context.req.header(CONVERSATION);
  if (!conversation) return undefined;
  if (conversation.length > MOST_CHARACTERS) {
    throw new HttpError(400, `${CONVERSATION} has more than ${MOST_CHARACTERS} characters`);
  }
  return logs.open(logName(context, "conversation", conversation));
}

/** An encoder of answers that are made in the background. */
export interface LastingEncoder<Told> {
  /** The records before anything else: that the answer is queued. */
  queue(): Told[];
  /** The answer as far as it exists. */
  state(): unknown;
  /** The last record after a failure. */
  fail(error: unknown): Told | undefined;
}

/** What is known of an answer that is made in the background. */
export interface BackgroundAnswer<Told> {
  /** The name of its log. */
  name: string;
  encoder: LastingEncoder<Told>;
  /** Keeps the answer as far as it exists. */
  finish: () => Promise<void>;
  /** Makes a response of its records. */
  stream: (records: AsyncIterable<Told>) => Response;
  /** Whether the client follows its stream. */
  isStreamed: boolean;
  /** Of the response, besides those of its kind. */
  headers: Record<string, string>;
}

/**
 * Begins an answer whose client may go: it is told that the answer is queued, or follows its stream.
 * What fails from here on is told by the answer.
 *
 * @param start begins the generation and gives its records
 * @throws {HttpError} 503 if too many requests wait
 */
export function inBackground<Told>(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  { name, encoder, finish, stream, isStreamed, headers }: BackgroundAnswer<Told>,
  start: (signal: AbortSignal) => Promise<AsyncIterable<Told>>,
): Response {
  // The generation takes its place later, when the client cannot be refused any more.
  dependencies.queue.enter()[Symbol.dispose]();
  const log = dependencies.logs.open(name, () => encoder.state());
  async function* records(): AsyncGenerator<Told> {
    yield* encoder.queue();
    try {
      await finish();
      yield* await start(log.signal);
    } catch (error) {
      const { status } = dependencies.tellFailure(error, context);
      context.set("lateStatus", status);
      const last = encoder.fail(stopped(error, dependencies));
      await finish();
      if (last !== undefined) yield last;
    }
  }
  // Whoever waits for the end of this request waits for that of the answer.
  context.set("late", log.whenEnded());
  const queued = json<unknown>(encoder.state(), 200, headers);
  const response = stream(records());
  void record(response, log, dependencies.logs);
  return isStreamed ? replay(log, { from: 0 }, response.headers) : queued;
}

/** The error of an answer, in words that tell if it is the end of the server. */
export function stopped(error: unknown, { drain }: AppDependencies): unknown {
  if (!drain.begun || statusOf(error) !== 503) return error;
  return new HttpError(503, "the server was stopped before the answer was complete: ask again");
}
