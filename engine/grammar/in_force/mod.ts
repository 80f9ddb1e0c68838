// Which parts of a format, as its author wrote it, say what may come next in an answer.

export { type OpenDocument, openDocument, schemaRules } from "./schema_rules.ts";
export { TextRules } from "./text_rules.ts";
