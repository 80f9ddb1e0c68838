// Work that reports its progress, as an answer: a record per line, or the last one alone. When the
// client leaves, the work ends.

import { ndjsonResponse } from "./stream.ts";
import { sentenceOf } from "../errors.ts";
import { json } from "./json.ts";

/** How progress is reported. */
export interface ProgressOptions {
  /** Whether every record is sent; default true. */
  stream?: boolean | null | undefined;
  /** Aborts when the client goes away before the answer has begun. */
  signal: AbortSignal;
  /** Called with an error that comes too late for a status. */
  onFailure: (error: unknown) => void;
}

/**
 * Answers with the records of the work, whose type a caller has to name. An error before the first one is thrown, so that it becomes a
 * status; a later one is the last line of the stream.
 */
export async function progressResponse<T = never>(
  work: (signal: AbortSignal) => AsyncGenerator<NoInfer<T>>,
  { stream, signal, onFailure }: ProgressOptions,
): Promise<Response> {
  const abandoned = new AbortController();
  const records = work(AbortSignal.any([signal, abandoned.signal]));
  if (stream === false) {
    let last: T | undefined;
    for await (const record of records) last = record;
    return json<T | undefined>(last);
  }
  const first = await records.next();
  return ndjsonResponse({
    events: withFirst<unknown>(first, records),
    fail(error) {
      onFailure(error);
      return { error: sentenceOf(error) };
    },
    cancel() {
      abandoned.abort();
      return records.return(undefined);
    },
  });
}

async function* withFirst<T>(
  first: IteratorResult<T>,
  rest: AsyncGenerator<T>,
): AsyncGenerator<T> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
