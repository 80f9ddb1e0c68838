// JSON Schema as types that can be enforced while a text is written. Knows no tokens.

export { CONSTRAINTS } from "./keyword_reader.ts";
export { type ReadSchema, readSchema, SchemaSource } from "./read.ts";
export {
  DanglingReferenceError,
  SchemaError,
  type SchemaWarning,
  warningText,
} from "./schema_error.ts";
export { type SchemaOptions, schemaValue } from "./schema_input.ts";
