// Jinja as chat templates use it. Grammar and meaning are those of Python's jinja2, which the models
// were trained with: values print, compare and fail as they do there.
// The rest of the tokenizer comes in through chat_template.ts alone.

export { toJson } from "./values/json.ts";
export { type RenderOptions, renderStatements } from "./renderer.ts";
export { parseTemplate } from "./parser.ts";
export type { Statement } from "./syntax.ts";
export {
  CallArguments,
  Dictionary,
  isText,
  JinjaError,
  toValue,
  type Value,
} from "./values/values.ts";
