// Jinja as chat templates use it. The grammar is @huggingface/jinja's, which parses; the meaning
// is Python's, which the models were trained with: values print, compare and fail as in jinja2.
// The rest of the tokenizer comes in through chat_template.ts alone.

export { JinjaError } from "./errors.ts";
export { toJson } from "./json.ts";
export { type RenderOptions, renderStatements } from "./renderer.ts";
export { parseTemplate, type Statement } from "./syntax.ts";
export { CallArguments, Dictionary, isText, toValue, type Value } from "./values.ts";
