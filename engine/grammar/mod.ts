// Output that always fits its schema: JSON Schemas as masks of the tokens that may come next.

export { compileSchema } from "./compile.ts";
export type { CompiledSchema, CompileOptions, Matcher } from "./compile.ts";
export { SchemaError } from "./schema/mod.ts";
