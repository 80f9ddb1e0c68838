// The packages of this layer, with their versions. Programs that import mod.ts do not have our
// import map, so names in deno.json would not resolve there.

export {
  Argument,
  Command,
  CommanderError,
  InvalidArgumentError,
  Option,
} from "npm:commander@15.1.0";
export { type Context, Hono, type MiddlewareHandler, type Next } from "npm:hono@4.13.19";
export { cors } from "npm:hono@4.13.19/cors";
export { routePath } from "npm:hono@4.13.19/route";
export type { ContentfulStatusCode } from "npm:hono@4.13.19/utils/http-status";
export { Marked, type Tokens } from "npm:marked@18.1.2";
export { default as stringWidth } from "npm:string-width@9.0.0";
