// The answers of a model family: the marks around thinking and tool calls, the parser of calls, and
// the grammar that enforces their form. Each family is a file that implements this;
// answer_parser.ts runs it on a stream. It works on texts, not on tokens or wire formats.

import type { Grammar, GrammarRules } from "../../grammar/mod.ts";

/** A tool, as far as answers depend on it. */
export interface CallableTool {
  readonly name: string;
  /** JSON Schema of the arguments, which are an object. */
  readonly parameters: unknown;
}

/** A keyword of a tool's schema that the grammar of its calls does not hold. */
export interface UnheldKeyword {
  /** JSON pointer to the schema that has it. */
  readonly pointer: string;
  readonly keyword: string;
}

/** A parsed call. */
export interface ReadCall {
  readonly name: string;
  /** Its numbers keep the text that the model wrote (JsonNumber). */
  readonly arguments: Record<string, unknown>;
  /** The call's id, if the family writes one. */
  readonly id?: string;
}

/**
 * The events of an answer, in order. A call is a start, pieces of its arguments' JSON text with
 * numbers as the model wrote them, and an end with the arguments as JavaScript has them.
 */
export type AnswerEvent =
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "callStart"; readonly name: string; readonly id?: string }
  | { readonly type: "callArguments"; readonly json: string }
  | { readonly type: "callEnd"; readonly arguments: Record<string, unknown> };

/** How a family writes calls. Calls begin with one of `openings` in the text of an answer. */
export interface CallSyntax {
  readonly openings: readonly string[];
  /** Openings that only count at the beginning of the answer, or directly after a call. */
  readonly leading?: readonly string[];
  /**
   * The mark that ends the calls after an opening. Undefined: the bracket that closes the call if
   * its arguments were located, else the end of the answer.
   */
  readonly closing?: string;
  /**
   * Parses the text between opening and closing. Undefined if it is not a call, so that it counts
   * as text.
   *
   * @param opening which of `openings` it was
   */
  read(body: string, opening: string, tools: readonly CallableTool[]): ReadCall[] | undefined;
  /**
   * For families whose arguments are JSON text: the name and the beginning of the arguments, so
   * that they can be given out while they come. Undefined as long as they are unknown; "text" if it
   * cannot be a call of these tools any more. Called repeatedly while the body grows, so patterns
   * should be anchored.
   */
  locate?(
    body: string,
    opening: string,
    tools: readonly CallableTool[],
  ): LocatedArguments | "text" | undefined;
  /**
   * Texts with which only calls of these tools begin, if an opening alone may also begin a text.
   */
  beginnings?(tools: readonly CallableTool[]): readonly string[];
  /**
   * The grammar of one call of one of the tools, or several in parallel, with opening and closing.
   */
  grammar(tools: readonly CallableTool[], options: { readonly parallel: boolean }): Grammar;
  /** What that does not hold of a tool's schema. Missing: it holds everything. */
  unheld?(tool: CallableTool): readonly UnheldKeyword[];
}

/** The beginning of the JSON object of a call's arguments. */
export interface LocatedArguments {
  readonly name: string;
  readonly id?: string;
  /** Index in the body of the opening brace, or of white space before it. */
  readonly arguments: number;
}

/** The marks around thinking. */
export interface ThinkingMarks {
  readonly open: string;
  readonly close: string;
  /** The text that ends thinking early and leads to the answer. Default: `close`. */
  readonly cut?: string;
  /** The text between thinking and the text of an answer. Default: `close` on a line of its own. */
  readonly lead?: string;
}

/** A family: models that were trained to write calls, or thinking, in the same way. */
export interface AnswerFamily {
  readonly name: string;
  /** Whether a template belongs to this family, by marks in its source, never by a model's name. */
  recognises(template: string): boolean;
  readonly calls?: CallSyntax;
  /**
   * Marks of thinking. If missing, the marks that many families share are searched in the template.
   */
  readonly thinking?: ThinkingMarks | ((template: string) => ThinkingMarks | undefined);
  /**
   * Marks around the text of an answer, such as <|START_RESPONSE|>. Both are optional and removed.
   */
  readonly text?: { readonly open: readonly string[]; readonly close: readonly string[] };
  /** The complete format, for answers that are more than text between marks. */
  readonly format?: AnswerFormat;
}

/** The facts on which an answer's grammar depends. */
export interface AnswerRequest {
  /** The rendered prompt, in which thinking may have begun. */
  readonly prompt: string;
  readonly tools: readonly CallableTool[];
  /** Whether calls are allowed (auto), required, or excluded (none). */
  readonly choice: "auto" | "required" | "none";
  readonly parallel: boolean;
  /** JSON Schema of an answer that is not a call; undefined: any text. */
  readonly schema?: unknown;
}

/** A parser that splits a stream of text. */
export interface AnswerParser {
  /** Text that came and is in no event yet, because it depends on what follows. */
  readonly held: string;
  /** The events that are certain after more text. */
  push(text: string): AnswerEvent[];
  /**
   * The events of the text that was held back, at the end. Default: the answer ended of itself.
   * Otherwise what may have become a mark is left out, and so is a call that is not whole.
   */
  end(end?: ParserEnd): AnswerEvent[];
}

/** How an answer ended. */
export interface ParserEnd {
  /** Whether a limit ended it. */
  readonly isCut: boolean;
  /** Whether its format lets it end there nevertheless. */
  readonly isWhole: boolean;
}

/** The end of an answer that ended of itself. */
export const OWN_END: ParserEnd = { isCut: false, isWhole: true };

/** How the models of a template answer. */
export interface AnswerFormat {
  readonly name: string;
  /** Undefined if they do not think. */
  readonly thinking?: ThinkingMarks;
  /** Undefined if they have no calls. */
  readonly calls?: CallSyntax;
  /**
   * The format for requests with tools, of models whose template has none: it is told to them in
   * words (generic_tools.ts).
   */
  readonly withTools?: AnswerFormat;
  parser(options: {
    readonly prompt: string;
    readonly tools: readonly CallableTool[];
    /**
     * Tells whether to give out the arguments of a call that begins now while they come: only if
     * they are sure to be whole. Default: never.
     */
    readonly streaming?: () => boolean;
  }): AnswerParser;
  /** The grammar of the whole answer; undefined if anything is allowed. */
  grammar(request: AnswerRequest): GrammarRules | undefined;
}
