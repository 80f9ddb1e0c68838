// Holds every answer of an application under test against /openapi.json: each JSON body, each line of
// NDJSON, each server-sent event. What does not fit fails the test that asked, where it reads. An
// answer on a path that the document does not have is let pass; openapi_test.ts looks for those.

import { Ajv, type ValidateFunction } from "ajv";
import { AssertionError } from "node:assert";
import type { createApp } from "../../../../server/http/app.ts";
import type { NamedSchema, Operation } from "../../../../server/http/api/openapi/operation.ts";
import { operations } from "../../../../server/http/api/routes.ts";

type App = ReturnType<typeof createApp>;
type Check = (text: string) => void;

const ajv = new Ajv({
  strict: false,
  allErrors: true,
  formats: { "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/ },
});
const validators = new Map<object, ValidateFunction>();

/** The application, whose `fetch` and `request` give checked answers from now on. */
export function checkAnswers(app: App): App {
  const answer = app.fetch;
  app.fetch = async (request, ...others) => {
    return checkResponse(request, await answer(request, ...others));
  };
  return app;
}

/**
 * The response, whose body fails where it is not what the document says.
 *
 * @param asked the method and URL that it answers
 */
export function checkResponse(
  asked: Pick<Request, "method" | "url">,
  response: Response,
): Response {
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const operation = operationOf(asked.method, URL.parse(asked.url)?.pathname ?? "");
  if (!operation || !response.body || type.startsWith("text/plain")) return response;
  const { answers, error, otherErrors = {} } = operation;
  const schema = response.ok ? answers[type] : otherErrors[response.status] ?? error;
  if (!schema) throw fault(operation, `an answer of ${type} is not described`);
  const unread =
    /^((text|image)\/(html|css|javascript|svg|vtt)|application\/(zip|octet-stream|openmetrics-text))/;
  if (unread.test(type)) return response;
  // Behind white space there may be an error: its status would have come too late.
  const check: Check = (text) =>
    validate(operation, /^ +\{.*"error":[^n]/.test(text) ? error : schema, text);
  const body = response.body.pipeThrough(inspector(type, check), { preventCancel: false });
  return new Response(body, response);
}

function operationOf(method: string, path: string): Operation | undefined {
  return operations.find((operation) => {
    const pattern = operation.path.replace(/\{\w+\}/g, "[^/]+");
    return operation.method.toUpperCase() === method && new RegExp(`^${pattern}$`).test(path);
  });
}

function validate(
  operation: Operation,
  { name, schema }: Pick<NamedSchema, "name" | "schema">,
  text: string,
): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw fault(operation, `no JSON: ${text}`);
  }
  const check = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, check);
  if (!check(value)) {
    throw fault(operation, `no ${name}: ${ajv.errorsText(check.errors)}: ${text}`);
  }
}

function fault({ method, path }: Operation, state: string): AssertionError {
  return new AssertionError({ message: `${method} ${path}: ${state}` });
}

/** Passes bytes on as they are and shows each complete piece of them to the check. */
function inspector(type: string, check: Check): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const separator = { "application/x-ndjson": "\n", "text/event-stream": "\n\n" }[type];
  let text = "";
  return new TransformStream(
    {
      transform(bytes, controller) {
        text += decoder.decode(bytes, { stream: true });
        const pieces = separator ? text.split(separator) : [text];
        text = pieces.pop()!;
        for (const piece of pieces) checkPiece(piece, check);
        controller.enqueue(bytes);
      },
      flush() {
        text += decoder.decode();
        if (text !== "") checkPiece(text, check);
      },
    },
    undefined,
    { highWaterMark: 0 },
  );
}

/** A line, or the data of an event; `[DONE]` and comments are no JSON. */
function checkPiece(piece: string, check: Check): void {
  const data = /^data: (.*)$/m.exec(piece)?.[1];
  if (data === "[DONE]" || (data === undefined && /^(:|event:)/.test(piece))) return;
  check(data ?? piece);
}
