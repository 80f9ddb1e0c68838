// What a format makes of a whole answer, for tests.

import {
  type AnswerFormat,
  type CallableTool,
  OWN_END,
  type ParserEnd,
} from "../../../../../engine/chat/answers/types.ts";
import { assert, assertEquals } from "@std/assert";

/** The pieces of an answer, put together. */
export interface WholeAnswer {
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly (readonly [name: string, members: Record<string, unknown>])[];
}

/** How an answer is read. */
export interface ReadOptions {
  readonly piece?: number;
  readonly streaming?: boolean;
  readonly end?: ParserEnd;
}

/** Reads an answer, in pieces of some characters, as one that follows a prompt. */
export function readAnswer(
  format: AnswerFormat,
  prompt: string,
  answer: string,
  tools: readonly CallableTool[],
  { piece = answer.length, streaming = false, end = OWN_END }: ReadOptions = {},
): WholeAnswer {
  const parser = format.parser({ prompt, tools, streaming: () => streaming });
  const pieces = Array.from(
    { length: Math.ceil(answer.length / piece) },
    (_, index) => answer.slice(index * piece, (index + 1) * piece),
  );
  const events = [...pieces.flatMap((text) => parser.push(text)), ...parser.end(end)];
  const textOf = (type: "thinking" | "text") =>
    events.map((event) => event.type === type ? event.text : "").join("");
  const names = events.flatMap((event) => event.type === "callStart" ? [event.name] : []);
  const members = events.flatMap((event) => event.type === "callEnd" ? [event.arguments] : []);
  return {
    thinking: textOf("thinking"),
    text: textOf("text"),
    calls: members.map((values, index) => [names[index]!, values]),
  };
}

/** Fails if an answer that a limit cuts off anywhere has half a call, or anything of one as text. */
export function assertCutWhole(
  format: AnswerFormat,
  prompt: string,
  answer: string,
  tools: readonly CallableTool[],
): void {
  const whole = readAnswer(format, prompt, answer, tools);
  const end = { isCut: true, isWhole: false };
  for (let length = 0; length < answer.length; length++) {
    for (const streaming of [false, true]) {
      const about = `${answer.slice(0, length)} streaming: ${streaming}`;
      const read = readAnswer(format, prompt, answer.slice(0, length), tools, { streaming, end });
      assertEquals(read.calls, whole.calls.slice(0, read.calls.length), about);
      assert(whole.text.startsWith(read.text.trimEnd()), `${about}: ${read.text}`);
      assert(whole.thinking.startsWith(read.thinking.replace(/<[^>]*$/, "").trimEnd()), about);
    }
  }
}
