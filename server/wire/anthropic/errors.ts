// Errors in Anthropic's shape and words: https://docs.anthropic.com/en/api/errors. Pure.

import { ContextLengthError } from "../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";

/** Kinds of error by status; any other is the server's fault. */
const TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
};

/** The body that tells of an error, and the data of an `error` event. */
export interface AnthropicError {
  type: "error";
  error: { type: string; message: string };
  request_id: string;
}

/** The body of an error. @param requestId the `request-id` of its response */
export function anthropicError(status: number, message: string, requestId: string): AnthropicError {
  const type = TYPES[status] ?? "api_error";
  return { type: "error", error: { type, message }, request_id: requestId };
}

/** The error to raise for one of the engine: clients know by this sentence to shorten what they send. */
export function messagesError(error: unknown): unknown {
  if (!(error instanceof ContextLengthError)) return error;
  const { promptTokens, contextLength } = error;
  return new HttpError(
    400,
    `prompt is too long: ${promptTokens} tokens > ${contextLength} maximum`,
  );
}
