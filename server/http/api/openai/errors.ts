// Errors in OpenAI's shape, as Ollama gives them on its /v1 paths too: the kind by status, OpenAI's own
// codes for what clients react to. Pure. Format: https://platform.openai.com/docs/guides/error-codes

import {
  ContextLengthError,
  GrammarError,
  ModelNotFoundError,
  SchemaError,
} from "../../../../engine/mod.ts";
import { bounded } from "../../../bounded.ts";
import { HttpError } from "../../errors.ts";
import type { Translation } from "../handler.ts";
import type { OpenAiError } from "./answer_schema.ts";

/** Kinds of error by status; any other is the server's fault. */
const TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  405: "invalid_request_error",
  429: "rate_limit_error",
};

/** Most characters of the name of a member, which may be one that the client has made up. */
const MAX_PARAM = 256;

/**
 * The body of an error.
 *
 * @param error what the request failed with, for `param` and `code`
 */
export function openAiError(status: number, message: string, error?: unknown): OpenAiError {
  const param = error instanceof HttpError && error.param ? bounded(error.param, MAX_PARAM) : null;
  const words = wordsOf(message, error);
  return {
    error: { message: words, type: TYPES[status] ?? "api_error", param, code: codeOf(error) },
  };
}

/** A request that cannot be done as it stands, with the name of the member at fault. */
export function refusal(message: string, param?: string): HttpError {
  return new HttpError(400, message, param);
}

/**
 * The engine's error as one that names the member at fault: where a format cannot be enforced, that of
 * the format or of the tools. Others as they are.
 */
export function withParam(
  error: unknown,
  { formatMember }: Pick<Translation, "formatMember">,
): unknown {
  if (error instanceof GrammarError) return refusal(error.message, formatMember);
  if (!(error instanceof SchemaError)) return error;
  const isOfTool = error.subject.startsWith("the schema of tool");
  return refusal(error.message, isOfTool ? "tools" : formatMember);
}

/** The message of an error. By OpenAI's words for a prompt that is too long, clients know to shorten it. */
function wordsOf(message: string, error: unknown): string {
  if (!(error instanceof ContextLengthError)) return message;
  return `This model's maximum context length is ${error.contextLength} tokens: ${message}`;
}

function codeOf(error: unknown): string | null {
  if (error instanceof ModelNotFoundError) return "model_not_found";
  if (error instanceof ContextLengthError) return "context_length_exceeded";
  if (error instanceof HttpError) return error.code ?? null;
  return null;
}
