// Jinja for chat templates, with the grammar and semantics of Python's jinja2, with which the
// models were trained: values print, compare and fail as they do there. Outside of this folder only
// chat_template.ts uses it.

export { toJson } from "./values/json.ts";
export { type RenderOptions, renderStatements } from "./renderer.ts";
export { parseTemplate } from "./parser.ts";
export type { Statement } from "./syntax.ts";
export { CallArguments, Dictionary, isText, toValue, type Value } from "./values/values.ts";
