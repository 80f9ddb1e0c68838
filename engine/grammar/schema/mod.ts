// JSON Schema as types that can be enforced while a text is written. Knows no tokens.

export { type ReadSchema, readSchema } from "./read.ts";
export {
  DanglingReferenceError,
  SchemaError,
  type SchemaWarning,
  warningText,
} from "./schema_error.ts";
export { type SchemaOptions, schemaValue } from "./schema_input.ts";
