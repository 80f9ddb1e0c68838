// The packages of this layer, with their versions. Whoever imports the library from elsewhere has
// another import map or none, so that names in deno.json would lead nowhere there.

export { Ajv, type ValidateFunction } from "npm:ajv@8.20.0";
