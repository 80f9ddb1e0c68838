// JSON texts as values that lose nothing: exact numbers, keys in their order. Knows no schemas.

export { Decimal, JsonError } from "./decimal.ts";
export {
  fromPlain,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  MAX_DEPTH,
  parseJson,
} from "./parse.ts";
