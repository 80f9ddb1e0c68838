// Errors in Anthropic's shape and words: https://docs.anthropic.com/en/api/errors. Pure.

import { ContextLengthError } from "../../../../engine/mod.ts";
import { HttpError, sentenceOf, statusOf } from "../../errors.ts";
import type { AnthropicError, ThreadDetails } from "./answer_schema.ts";

/** Kinds of error by status; any other is the server's fault. */
const TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
};

/** The error for a request that expects the server to remember the conversation. */
export class ThreadError extends HttpError {
  override name = "ThreadError";
  readonly details: ThreadDetails = {
    error_code: "thread_unsupported_request",
    unsupported: ["thread"],
  };

  constructor() {
    super(400, "thread: conversations are not kept here, send all of their messages");
  }
}

/**
 * The body that tells of an error.
 *
 * @param requestId the `request-id` of its response
 */
export function anthropicError(error: unknown, requestId: string): AnthropicError {
  return {
    type: "error",
    error: {
      type: TYPES[statusOf(error)] ?? "api_error",
      message: wordsOf(error),
      ...(error instanceof ThreadError && { details: error.details }),
    },
    request_id: requestId,
  };
}

/** The message of an error. By the one for a prompt that is too long, clients know to shorten it. */
function wordsOf(error: unknown): string {
  const sentence = sentenceOf(error);
  if (!(error instanceof ContextLengthError)) return sentence;
  const { promptTokens, contextLength } = error;
  return `prompt is too long: ${promptTokens} tokens > ${contextLength} maximum: ${sentence}`;
}
