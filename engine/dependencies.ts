// The packages of this layer, with their versions. They are not in the import map of deno.json,
// because programs that import the library do not use that.

export { Ajv, type ValidateFunction } from "npm:ajv@8.20.0";
