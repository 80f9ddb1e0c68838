// Calls with JSON arguments between marks of their own, within marks around all calls. Each family
// defines the text before the arguments.

import { choice, type Grammar, literal, sequence } from "../../../grammar/mod.ts";
import type { CallSyntax, ReadCall } from "../types.ts";
import { readArguments } from "./json_calls.ts";
import { separated } from "./ordered.ts";
import { argumentsJson } from "./tool_schema.ts";

/** How a family writes such calls. */
export interface MarkedSyntax {
  readonly open: string;
  readonly close: string;
  /** Whether `close` is a token that ends the answer, so that the grammar need not contain it. */
  readonly endsAnswer?: boolean;
  /** Marks before and after a call. */
  readonly begin: string;
  readonly end: string;
  /** Text between two calls. */
  readonly between?: string;
  /** Matches the text between `begin` and the arguments. Groups: name, optional id. */
  readonly head: RegExp;
  /** Grammar of that text. */
  write(name: string): Grammar;
  /** Text between the arguments and `end`. */
  readonly tail?: string;
}

/** The calls of such a family. */
export function markedCalls(syntax: MarkedSyntax): CallSyntax {
  const { open, close, endsAnswer = false, begin, end, between = "", tail = "" } = syntax;
  return {
    openings: [open],
    closing: close,
    read(body) {
      const [before = "", ...parts] = body.split(begin);
      const calls = parts.map((part) => readCall(part, syntax));
      const isWhole = before.trim() === "" && calls.length > 0;
      return isWhole && calls.every((call) => call !== undefined) ? calls : undefined;
    },
    locate(body) {
      const text = body.trimStart();
      const head = text.startsWith(begin) && readHead(text.slice(begin.length), syntax.head);
      if (!head) return undefined;
      const { length, ...names } = head;
      return { ...names, arguments: body.length - text.length + begin.length + length };
    },
    grammar(tools, { parallel }) {
      const call = choice(...tools.map((tool) =>
        sequence(
          literal(begin),
          syntax.write(tool.name),
          argumentsJson(tool),
          literal(tail + end),
        )
      ));
      const last = endsAnswer ? sequence() : literal(close);
      return sequence(literal(open), separated(call, between, parallel), last);
    },
  };
}

/** The end of a code block around JSON. */
const FENCE = "```";

function readCall(part: string, { head: pattern, end }: MarkedSyntax): ReadCall | undefined {
  const [call = "", after = ""] = part.split(end);
  const head = readHead(call, pattern);
  if (!head || after.trim() !== "") return undefined;
  const { length, ...names } = head;
  const text = call.slice(length).trim();
  const isFenced = text.endsWith(FENCE);
  const members = readArguments(isFenced ? text.slice(0, -FENCE.length) : text);
  return members && { ...names, arguments: members };
}

/** The name, an optional id, and the number of their characters. */
function readHead(text: string, pattern: RegExp) {
  const match = pattern.exec(text);
  const name = match?.groups?.name?.trim();
  if (!match || !name) return undefined;
  const id = match.groups?.id?.trim();
  return { name, ...id !== undefined && { id }, length: match[0].length };
}
