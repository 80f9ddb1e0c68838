// JSON texts as values that lose nothing: exact numbers, keys in their order. Knows no schemas.

export { Decimal } from "./decimal.ts";
export { JsonError } from "./errors.ts";
export { parseJson } from "./parse.ts";
export { fromPlain, type JsonArray, type JsonObject, type JsonValue, MAX_DEPTH } from "./value.ts";
