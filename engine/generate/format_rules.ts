// The parts of a request's format that are in force at a position of one answer, for reports. It follows the
// answer beside its token masks, which do not depend on it.

import { type OpenDocument, openDocument, schemaRules, TextRules } from "../grammar/mod.ts";
import type { OutputFormat, RulesInForce } from "../types/mod.ts";

/** Follows one answer of a format, which compiled before. */
export class FormatRules {
  readonly #schema: unknown;
  readonly #rules: TextRules | undefined;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #text = "";
  #document: OpenDocument | undefined;
  #length = 0;

  constructor(format: OutputFormat) {
    if (format === "json") return;
    if ("schema" in format) this.#schema = valueOf(format.schema);
    else if ("pattern" in format) this.#rules = TextRules.ofPattern(format.pattern);
    else this.#rules = TextRules.ofGrammar(format.grammar);
  }

  /** The rules in force after the bytes of the answer so far; empty where none are told. */
  after(written: Uint8Array): RulesInForce {
    const text = this.#decoder.decode(written.subarray(this.#length), { stream: true });
    this.#length = written.length;
    this.#text += text;
    if (this.#schema !== undefined) return this.#pointers(this.#schema, this.#text);
    this.#rules?.take(text);
    const { document, spans = [] } = this.#rules ?? {};
    if (spans.length > 0) return { spans };
    // The schemas of tools are not the format of the answer.
    if (!document || document.grammar.isQuiet) return {};
    return this.#pointers(valueOf(document.grammar.schema), this.#text.slice(document.start));
  }

  /** Keys and indices that lead to the value that was open there last, if a document was. */
  get path(): OpenDocument["path"] | undefined {
    return this.#document?.path;
  }

  #pointers(schema: unknown, text: string): RulesInForce {
    this.#document = openDocument(text);
    return { pointers: schemaRules(schema, this.#document) };
  }
}

/** A schema as a value, which may be given as JSON text. */
function valueOf(schema: unknown): unknown {
  return typeof schema === "string" ? JSON.parse(schema) : schema;
}
