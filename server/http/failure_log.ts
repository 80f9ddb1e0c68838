// Errors of the server in its log, where people find what the sentence for the client leaves out: the
// trace, and what the system said.

import { ResourceError } from "../../engine/mod.ts";
import { type Log, type LogFields, messageOf } from "../log.ts";
import { HttpError, statusOf } from "./errors.ts";

/** Most causes of an error that are logged with it. */
const MOST_CAUSES = 4;

/**
 * Logs an error if it is the server's own. A refusal because the server is busy is none: the access
 * log has it.
 *
 * @param path that of the request @param fields what else is known of it
 */
export function logFailure(log: Log, path: string, error: unknown, fields: LogFields = {}): void {
  const status = statusOf(error);
  if (status < 500 || error instanceof HttpError && status === 503) return;
  if (error instanceof ResourceError) return log.warn(`${path}: ${error.message}`, fields);
  const parts = [traceOf(error)];
  let cause = error instanceof Error ? error.cause : undefined;
  for (; cause !== undefined && parts.length <= MOST_CAUSES; cause = (cause as Error)?.cause) {
    parts.push(`caused by ${traceOf(cause)}`);
  }
  log.error(`${path}: ${parts.join("\n")}`, fields);
}

function traceOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? messageOf(error);
}
