// Checks request bodies against JSON Schemas with Ajv, and says in one sentence, with the field's
// name, what is wrong with the first fault. Schemas are compiled when first used.

import { Ajv, type ErrorObject, type ValidateFunction } from "../../dependencies.ts";
import { HttpError } from "../errors.ts";
import type { BodyOf } from "./schema.ts";

/** A number such as 1e999, which is read as infinity, is refused. */
const ajv = new Ajv({ strict: false, strictNumbers: true });

/**
 * A function that returns the body as the type that the schema describes. It throws an HttpError
 * 400 where the body does not fit.
 */
export function createValidator<const Schema extends object>(
  schema: Schema,
): (body: unknown) => BodyOf<Schema> {
  let validate: ValidateFunction<BodyOf<Schema>> | undefined;
  return (body) => {
    validate ??= ajv.compile<BodyOf<Schema>>(schema);
    if (validate(body)) return body;
    const error = validate.errors![0]!;
    throw new HttpError(400, describe(error), memberName(pathOf(error)));
  };
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

/** The types without null, which means "not given" everywhere and need not be mentioned. */
function typeNames(type: string | string[]): string {
  return String(type).split(",").filter((name) => name !== "null").join(" or ");
}
