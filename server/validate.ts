// Checks request bodies against JSON Schemas with Ajv, and says in one sentence, with the field's
// name, what is wrong with the first fault. Schemas are compiled when first used.

import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { HttpError } from "./errors.ts";

/** JSON has no infinity, but 1e999 reads as one. */
const ajv = new Ajv({ strict: false, strictNumbers: true });

/** Deeper than any request has reason to be; whoever walks a body may recurse. */
const MAX_DEPTH = 512;

/**
 * A function that returns the body as the type that the schema describes.
 * It throws an HttpError 400 where the body does not fit.
 */
export function createValidator<T>(schema: object): (body: unknown) => T {
  let validate: ValidateFunction<T> | undefined;
  return (body) => {
    validate ??= ajv.compile<T>(schema);
    if (validate(body)) return body;
    const error = validate.errors![0]!;
    throw new HttpError(400, describe(error), memberName(pathOf(error)));
  };
}

/**
 * The JSON value of a request body, whatever its content type says.
 *
 * @throws {HttpError} 400 if there is none or it is no JSON
 */
export async function readJson(
  request: { arrayBuffer(): Promise<ArrayBuffer> },
): Promise<unknown> {
  const bytes = await request.arrayBuffer().catch((error) => {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, "the request body ended before it was complete");
  });
  let body: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.trim() === "") throw new HttpError(400, "missing request body");
    body = JSON.parse(text);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, `invalid JSON in the request body: ${(error as Error).message}`);
  }
  if (isDeeperThan(MAX_DEPTH, body)) {
    throw new HttpError(400, `invalid JSON in the request body: nested over ${MAX_DEPTH} levels`);
  }
  return body;
}

/** Level by level, for recursion is what it guards against. */
function isDeeperThan(limit: number, value: unknown): boolean {
  const isNested = (one: unknown) => typeof one === "object" && one !== null;
  let level = [value].filter(isNested) as object[];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((one) => Object.values(one).filter(isNested));
  }
  return false;
}

function describe(error: ErrorObject): string {
  const { keyword, params, message } = error;
  const field = fieldName(pathOf(error));
  switch (keyword) {
    case "type":
      return `${field} must be of type ${typeNames(params.type)}`;
    case "required":
      return `${field} lacks "${params.missingProperty}"`;
    case "enum":
      return `${field} must be one of ${params.allowedValues.join(", ")}`;
    default:
      return `${field} ${message}`;
  }
}

/** `messages[0].role`; for a member of `options` the words that Ollama uses: `option "seed"`. */
function fieldName(path: string[]): string {
  if (path.length === 0) return "request body";
  const isOption = path[0] === "options" && path.length > 1;
  return isOption ? `option "${memberName(path.slice(1))}"` : memberName(path)!;
}

/** `messages[0].role`; undefined for the whole. */
function memberName([first, ...rest]: string[]): string | undefined {
  return first &&
    first + rest.map((part) => /^\d+$/.test(part) ? `[${part}]` : `.${part}`).join("");
}

function pathOf({ instancePath }: ErrorObject): string[] {
  return instancePath.split("/").slice(1);
}

/** null is let pass everywhere as "not given"; no need to advertise it. */
function typeNames(type: string | string[]): string {
  return String(type).split(",").filter((name) => name !== "null").join(" or ");
}
