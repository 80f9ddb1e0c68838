// The engine's events -> the native API's records. Pure: times are given, not taken.
// Format: https://github.com/ollama/ollama/blob/main/docs/api.md

import type { ChatEvent, DoneEvent, DoneReason, Usage } from "../../../../engine/mod.ts";
import { toLogprobs, type WireLogprob } from "../logprobs.ts";
import type {
  OllamaExtras,
  OllamaMetrics,
  OllamaRecord,
  OllamaText,
  OllamaToolCall,
} from "./types.ts";
import { nanoseconds } from "../options.ts";

/** How an answer stands in a record: the difference between those of chat and generate. */
export type TextForm = (text: string, extras?: OllamaExtras) => OllamaText;

export const chatText: TextForm = (content, extras) => ({
  message: { role: "assistant", content, ...extras },
});
export const generateText: TextForm = (response, extras) => ({ response, ...extras });

/** An answer, or a part of one, as it is gathered. */
export class AnswerParts {
  #text = "";
  #thinking = "";
  #calls: OllamaToolCall[] = [];
  #logprobs: WireLogprob[] = [];
  #index = 0;

  /** Takes an event. Calls are told whole, at their end. */
  add(event: ChatEvent): void {
    if (event.type === "text") this.#text += event.text;
    if (event.type === "thinking") this.#thinking += event.text;
    if ("logprobs" in event && event.logprobs) {
      this.#logprobs.push(...toLogprobs(event.logprobs));
    }
    if (event.type === "callEnd") {
      const { id, name, arguments: values } = event;
      this.#calls.push({ id, function: { index: this.#index++, name, arguments: values } });
    }
  }

  /** What was gathered since the last time; undefined if that is nothing. */
  take(form: TextForm): OllamaText | undefined {
    const [text, thinking, calls, logprobs] = [
      this.#text,
      this.#thinking,
      this.#calls,
      this.#logprobs,
    ];
    [this.#text, this.#thinking, this.#calls, this.#logprobs] = ["", "", [], []];
    if (text === "" && thinking === "" && calls.length === 0) return undefined;
    const extras = {
      ...(thinking && { thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return { ...form(text, extras), ...(logprobs.length > 0 && { logprobs }) };
  }
}

/** A record that carries text and is not the last. */
export function partRecord(model: string, at: Date, text: OllamaText): OllamaRecord {
  return { model, created_at: at.toISOString(), ...text, done: false };
}

/** A record without text, which clients add to nothing: the request waits, or is being worked on. */
export function waitingRecord(
  model: string,
  at: Date,
  text: OllamaText,
  ahead?: number,
): OllamaRecord {
  return { ...partRecord(model, at, text), ...(ahead !== undefined && { queued_ahead: ahead }) };
}

/** The last record, or the only one. */
export function finalRecord(
  model: string,
  at: Date,
  text: OllamaText,
  reason: DoneReason | "load" | "unload",
  extras: OllamaMetrics & Pick<OllamaRecord, "dropped_messages" | "context"> = {},
): OllamaRecord {
  return {
    model,
    created_at: at.toISOString(),
    ...text,
    done: true,
    done_reason: reason,
    ...extras,
  };
}

/** The answer to `_debug_render_only`: the prompt text, and nothing has run. */
export function renderedRecord(
  model: string,
  at: Date,
  text: OllamaText,
  rendered: string,
  images: number,
): OllamaRecord {
  const info = { rendered_template: rendered, ...(images > 0 && { image_count: images }) };
  return { ...partRecord(model, at, text), _debug_info: info };
}

/** What a final record tells of how the answer came about. Times in milliseconds. */
export function toExtras(
  { usage, context, droppedMessages }: DoneEvent,
  total: number,
  load: number,
): OllamaMetrics & Pick<OllamaRecord, "dropped_messages" | "context"> {
  return {
    ...(context && { context }),
    ...toMetrics(usage, total, load),
    ...(droppedMessages && { dropped_messages: droppedMessages }),
  };
}

function toMetrics(usage: Usage, total: number, load: number): OllamaMetrics {
  const metrics = {
    total_duration: nanoseconds(total),
    load_duration: nanoseconds(load),
    prompt_eval_count: usage.promptTokens,
    prompt_eval_duration: nanoseconds(usage.promptMilliseconds),
    eval_count: usage.completionTokens,
    eval_duration: nanoseconds(usage.completionMilliseconds),
  };
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== 0));
}
