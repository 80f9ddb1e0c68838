// The syntax of families whose answers consist of messages with headers. messages.ts parses them,
// and messages.ts makes their grammar.

import type { Grammar } from "../../../grammar/mod.ts";
import type { CallableTool, CallSyntax, ThinkingMarks } from "../types.ts";

export type MessageKind =
  | { readonly type: "thinking" | "text" }
  | { readonly type: "call"; readonly name: string };

/** How a family writes messages. */
export interface MessageSyntax {
  readonly name: string;
  /** Begins a message. The prompt ends with the beginning of one. */
  readonly start: string;
  /** Text between a header and its body. */
  readonly begin: string;
  /** Marks that end a body, besides the start of another message. */
  readonly ends: readonly string[];
  readonly thinking?: ThinkingMarks;
  /** The kind of message that a header announces; undefined if it is not a header but text. */
  kindOf(header: string, tools: readonly CallableTool[]): MessageKind | undefined;
  /** The arguments in the body of a call; undefined if there are none. */
  read(body: string, name: string, tools: readonly CallableTool[]):
    | Record<string, unknown>
    | undefined;
  /** Whether the bodies of calls are exactly the JSON of their arguments. */
  readonly isJson: boolean;
  /** The grammar of a call's body. */
  body(tool: CallableTool): Grammar;
  /** What that does not hold of a tool's schema. Missing: it holds everything. */
  readonly unheld?: NonNullable<CallSyntax["unheld"]>;
  /** Headers that models write, as the text after the end of the prompt. */
  readonly headers: {
    readonly thinking: readonly string[];
    /** Headers of text before calls. */
    readonly note: readonly string[];
    readonly text: readonly string[];
    call(name: string): readonly string[];
  };
  /** Text from the end of a body to the beginning of the next header. */
  readonly next: string;
  /** Text between parallel calls; undefined if the answer ends with a call. */
  readonly nextCall?: string;
}

/**
 * The message at the end of a prompt: the beginning of a header, or a header whose body has begun.
 */
export function begunMessage(
  { start, begin, ends }: MessageSyntax,
  prompt: string,
): { readonly header: string; readonly isBody: boolean } {
  const at = prompt.lastIndexOf(start);
  const message = at < 0 ? "" : prompt.slice(at + start.length);
  if (ends.some((end) => message.includes(end))) return { header: "", isBody: false };
  const end = message.indexOf(begin);
  return { header: end < 0 ? message : message.slice(0, end), isBody: end >= 0 };
}
