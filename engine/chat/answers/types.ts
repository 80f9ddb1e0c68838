// What a model family's answers look like: the marks around thinking and tool calls, how calls are
// read, and the grammar that keeps them right. One file per family fills this in; answer_parser.ts
// runs it on a stream. Knows texts only: no tokens, no wire formats.

import type { Grammar, GrammarRules } from "../../grammar/mod.ts";

/** A tool as answers need it. */
export interface CallableTool {
  readonly name: string;
  /** JSON Schema of the arguments: an object. */
  readonly parameters: unknown;
}

/** A call that was read. */
export interface ReadCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  /** Where the family writes one. */
  readonly id?: string;
}

/** Pieces of an answer, in order. A call is a start, pieces of its arguments' JSON text, and an end. */
export type AnswerEvent =
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "callStart"; readonly name: string; readonly id?: string }
  | { readonly type: "callArguments"; readonly json: string }
  | { readonly type: "callEnd"; readonly arguments: Record<string, unknown> };

/** How a family writes calls. Calls begin with one of `openings` in the text of an answer. */
export interface CallSyntax {
  readonly openings: readonly string[];
  /** Openings that are ones only where the answer, or what follows a call, begins with them. */
  readonly leading?: readonly string[];
  /**
   * What ends the calls that an opening began. Undefined: the bracket that closes the call where
   * its arguments were located, else the end of the answer.
   */
  readonly closing?: string;
  /**
   * Reads what stands between opening and closing. Undefined where it is no call: then it was text.
   *
   * @param opening the one of `openings` that came
   */
  read(body: string, opening: string, tools: readonly CallableTool[]): ReadCall[] | undefined;
  /**
   * For families whose arguments are JSON text: where they begin, once the name is known, so that
   * they can be given out as they come. Undefined until then; "text" once it cannot be a call of
   * these tools any more. Asked again and again while the body grows, so anchor what it looks for.
   */
  locate?(
    body: string,
    opening: string,
    tools: readonly CallableTool[],
  ): LocatedArguments | "text" | undefined;
  /** What only calls of these tools begin with, where an opening alone may begin a text too. */
  beginnings?(tools: readonly CallableTool[]): readonly string[];
  /** One call of one of the tools, or several in parallel, opening and closing included. */
  grammar(tools: readonly CallableTool[], options: { readonly parallel: boolean }): Grammar;
}

/** Where the JSON object of a call's arguments begins. */
export interface LocatedArguments {
  readonly name: string;
  readonly id?: string;
  /** Index in the body, white space before the brace or not. */
  readonly arguments: number;
}

/** What thinking stands between. */
export interface ThinkingMarks {
  readonly open: string;
  readonly close: string;
  /** What leads to the answer where thinking is cut off. Default: `close`. */
  readonly cut?: string;
}

/** Models that were taught to write calls, or thinking, in one way. */
export interface AnswerFamily {
  readonly name: string;
  /** Whether a template is of this family, by marks in its source, never by a model's name. */
  recognises(template: string): boolean;
  readonly calls?: CallSyntax;
  /** Left out: found in the template by the marks that many families share. */
  readonly thinking?: ThinkingMarks | ((template: string) => ThinkingMarks | undefined);
  /** Marks around the text of an answer, such as <|START_RESPONSE|>: either may come, none is text. */
  readonly text?: { readonly open: readonly string[]; readonly close: readonly string[] };
  /** For answers that are more than text between marks: what detecting such a template gives. */
  readonly format?: AnswerFormat;
}

/** What an answer is asked to be, for its grammar. */
export interface AnswerRequest {
  /** The rendered prompt: thinking may have begun in it. */
  readonly prompt: string;
  readonly tools: readonly CallableTool[];
  /** Whether calls may (auto), must (required) or must not (none) come. */
  readonly choice: "auto" | "required" | "none";
  readonly parallel: boolean;
  /** JSON Schema of an answer that is no call; undefined: any text. */
  readonly schema?: unknown;
}

/** Splits a stream of text. */
export interface AnswerParser {
  /** What is certain after some more text. */
  push(text: string): AnswerEvent[];
  /** What was held back. */
  end(): AnswerEvent[];
}

/** How the models of a template answer. */
export interface AnswerFormat {
  readonly name: string;
  /** Undefined: they do not think. */
  readonly thinking?: ThinkingMarks;
  /** Undefined: they know no calls. */
  readonly calls?: CallSyntax;
  parser(options: {
    readonly prompt: string;
    readonly tools: readonly CallableTool[];
    /** Give arguments out as they come; only where a grammar keeps them right. */
    readonly streaming?: boolean;
  }): AnswerParser;
  /** What the whole answer must look like; undefined where anything goes. */
  grammar(request: AnswerRequest): GrammarRules | undefined;
}
