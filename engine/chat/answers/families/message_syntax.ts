// What tells apart the families whose answers are messages with headers; messages.ts reads them and
// message_grammar.ts writes their grammar.

import type { Grammar } from "../../../grammar/mod.ts";
import type { CallableTool, ThinkingMarks } from "../types.ts";

/** What a message is. */
export type MessageKind =
  | { readonly type: "thinking" | "text" }
  | { readonly type: "call"; readonly name: string };

/** How a family writes messages. */
export interface MessageSyntax {
  readonly name: string;
  /** Begins a message; the prompt ends with one that is begun. */
  readonly start: string;
  /** Between a header and its body. */
  readonly begin: string;
  /** What ends a body, besides the start of another. */
  readonly ends: readonly string[];
  readonly thinking?: ThinkingMarks;
  /** What a header announces; undefined where it is no header but text. */
  kindOf(header: string, tools: readonly CallableTool[]): MessageKind | undefined;
  /** The arguments in the body of a call; undefined where it holds none. */
  read(body: string, name: string, tools: readonly CallableTool[]):
    | Record<string, unknown>
    | undefined;
  /** Whether the bodies of calls are the JSON of their arguments, and nothing else. */
  readonly isJson: boolean;
  /** The body of a call. */
  body(tool: CallableTool): Grammar;
  /** Headers that models write, from where the prompt ends. */
  readonly headers: {
    readonly thinking: readonly string[];
    /** Of text before calls. */
    readonly note: readonly string[];
    readonly text: readonly string[];
    call(name: string): readonly string[];
  };
  /** From the end of a body to where the next header begins. */
  readonly next: string;
  /** The same between parallel calls; undefined: the answer ends with a call. */
  readonly nextCall?: string;
}

/** What a prompt ends with: the beginning of a header, or a header whose body has begun. */
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
