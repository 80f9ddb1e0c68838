// Runs answers through the parser of a format in pieces, as a model gives them: helpers for tests.

import type {
  AnswerEvent,
  AnswerFormat,
  CallableTool,
} from "../../../../engine/chat/answers/types.ts";

/** A tool that most tests offer. */
export const WEATHER: CallableTool = {
  name: "get_weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city"],
  },
};

/** What an answer is parsed with. */
export interface StreamOptions {
  readonly prompt?: string;
  readonly tools?: readonly CallableTool[];
  readonly streaming?: boolean;
}

/** The events of an answer that comes in these pieces. */
export function parsePieces(
  format: AnswerFormat,
  pieces: readonly string[],
  { prompt = "", tools = [WEATHER], streaming = false }: StreamOptions = {},
): AnswerEvent[] {
  const parser = format.parser({ prompt, tools, streaming: () => streaming });
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

/** The events of a whole answer, joined. */
export function parse(format: AnswerFormat, answer: string, options?: StreamOptions) {
  return joined(parsePieces(format, [answer], options));
}

/** A part of an answer: thinking, text, or a call with the JSON that was given out for it. */
export type Part =
  | { readonly thinking: string }
  | { readonly text: string }
  | { name: string; id?: string; json: string; arguments?: Record<string, unknown> };

/**
 * Events without the seams between pieces. Fails where they make no sense. A call that was given out
 * while it came, and then broke off, has no arguments.
 */
export function joined(events: readonly AnswerEvent[]): Part[] {
  const parts: Part[] = [];
  for (const event of events) {
    const last = parts.at(-1);
    const open = last && "name" in last && last.arguments === undefined ? last : undefined;
    if (event.type === "callArguments" || event.type === "callEnd") {
      if (!open) throw new Error(`${event.type} without a call`);
      if (event.type === "callArguments") open.json += event.json;
      else open.arguments = event.arguments;
    } else if (event.type === "callStart") {
      const { name, id } = event;
      parts.push({ name, ...id !== undefined && { id }, json: "" });
    } else if (event.text === "") throw new Error(`An empty ${event.type} event`);
    else if (last && event.type in last) {
      const text = (last as Record<string, string>)[event.type] + event.text;
      parts[parts.length - 1] = { [event.type]: text } as Part;
    } else parts.push({ [event.type]: event.text } as Part);
  }
  return parts;
}

/** Names and arguments of the calls of an answer. */
export function callsOf(parts: readonly Part[]): [string, unknown][] {
  return parts.flatMap((part) =>
    "name" in part ? [[part.name, part.arguments] as [string, unknown]] : []
  );
}

/** A text in pieces of so many UTF-8 bytes, decoded as a stream. */
export function bytePieces(text: string, size: number): string[] {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const count = Math.ceil(bytes.length / size);
  return Array.from(
    { length: count },
    (_, index) =>
      decoder.decode(bytes.subarray(index * size, (index + 1) * size), { stream: true }),
  );
}
