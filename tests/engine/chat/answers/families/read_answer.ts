// What a format makes of a whole answer, for tests.

import type { AnswerFormat, CallableTool } from "../../../../../engine/chat/answers/types.ts";

/** The pieces of an answer, put together. */
export interface WholeAnswer {
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly (readonly [name: string, members: Record<string, unknown>])[];
}

/** Reads an answer, in pieces of some characters, as one that follows a prompt. */
export function readAnswer(
  format: AnswerFormat,
  prompt: string,
  answer: string,
  tools: readonly CallableTool[],
  options: { readonly piece?: number; readonly streaming?: boolean } = {},
): WholeAnswer {
  const { piece = answer.length, streaming = false } = options;
  const parser = format.parser({ prompt, tools, streaming });
  const pieces = Array.from(
    { length: Math.ceil(answer.length / piece) },
    (_, index) => answer.slice(index * piece, (index + 1) * piece),
  );
  const events = [...pieces.flatMap((text) => parser.push(text)), ...parser.end()];
  const textOf = (type: "thinking" | "text") =>
    events.map((event) => event.type === type ? event.text : "").join("");
  const names = events.flatMap((event) => event.type === "callStart" ? [event.name] : []);
  const members = events.flatMap((event) => event.type === "callEnd" ? [event.arguments] : []);
  return {
    thinking: textOf("thinking"),
    text: textOf("text"),
    calls: names.map((name, index) => [name, members[index]!]),
  };
}
