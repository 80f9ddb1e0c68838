// What OpenAI's dialect has of its own on all of its paths: errors. Pure.

/** Kinds of error by status; any other is the server's fault. */
const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  404: "not_found_error",
};

/** The body of an error, as Ollama gives it on /v1 paths. */
export function openAiError(status: number, message: string) {
  return {
    error: { message, type: ERROR_TYPES[status] ?? "api_error", param: null, code: null },
  };
}
