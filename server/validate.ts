// Checks request bodies against JSON Schemas with Ajv, and says in one sentence, with the field's
// name, what is wrong with the first fault. Schemas are compiled when first used.

import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { HttpError } from "./errors.ts";

const ajv = new Ajv({ strict: false });

/**
 * A function that returns the body as the type that the schema describes.
 * It throws an HttpError 400 where the body does not fit.
 */
export function createValidator<T>(schema: object): (body: unknown) => T {
  let validate: ValidateFunction<T> | undefined;
  return (body) => {
    validate ??= ajv.compile<T>(schema);
    if (validate(body)) return body;
    throw new HttpError(400, describe(validate.errors![0]!));
  };
}

/**
 * The JSON value of a request body, whatever its content type says.
 *
 * @throws {HttpError} 400 if there is none or it is no JSON
 */
export async function readJson(request: { text(): Promise<string> }): Promise<unknown> {
  const text = await request.text();
  if (text.trim() === "") throw new HttpError(400, "missing request body");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HttpError(400, `invalid JSON in the request body: ${(error as Error).message}`);
  }
}

function describe({ instancePath, keyword, params, message }: ErrorObject): string {
  const field = fieldName(instancePath.split("/").slice(1));
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
  const [first, ...rest] = path[0] === "options" && path.length > 1 ? path.slice(1) : path;
  const name = first + rest.map((part) => /^\d+$/.test(part) ? `[${part}]` : `.${part}`).join("");
  return path[0] === "options" && path.length > 1 ? `option "${name}"` : name;
}

/** null is let pass everywhere as "not given"; no need to advertise it. */
function typeNames(type: string | string[]): string {
  return String(type).split(",").filter((name) => name !== "null").join(" or ");
}
