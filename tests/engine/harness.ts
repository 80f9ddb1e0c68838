// What the tests of whole models share: the tiny model as a file, and streams read to their end.

import { assert } from "@std/assert";
import type { ChatEvent, DoneEvent, LoadOptions, ModelSource } from "../../engine/mod.ts";
import { writeTinyLlama } from "../tiny_model.ts";

/** A folder that goes away with the process. */
export const folder = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));

/** The tiny chat model. */
export const tinyPath = `${folder}/tiny.gguf`;
await writeTinyLlama(tinyPath);

/** How tests load it, one shape for all: software drivers compile every new one for seconds. */
export const tinyLoad: LoadOptions = { contextLength: 128, maxSequences: 4 };

/** Where the weights of a local model are. */
export function pathOf(source: ModelSource): string {
  assert(source.kind === "files", "a model that runs elsewhere");
  return source.path;
}

/** A stream that has been read. */
export interface Answer {
  text: string;
  thinking: string;
  calls: { name: string; arguments: Record<string, unknown> }[];
  /** Of generate() alone. */
  tokens: number[];
  /** Undefined if the stream ended without it. */
  done?: DoneEvent;
}

/** Reads a stream to its end. Fails if anything comes after `done`. */
export async function readAnswer(events: AsyncIterable<ChatEvent>): Promise<Answer> {
  const answer: Answer = { text: "", thinking: "", calls: [], tokens: [] };
  for await (const event of events) {
    assert(!answer.done, "an event after done");
    if (event.type === "done") answer.done = event;
    else if (event.type === "thinking") answer.thinking += event.text;
    else if (event.type === "callEnd") {
      answer.calls.push({ name: event.name, arguments: event.arguments });
    } else if (event.type === "text") {
      answer.text += event.text;
      if ("tokens" in event) answer.tokens.push(...event.tokens as number[]);
    }
  }
  return answer;
}
