// POST /v1/chat/completions: the engine's events -> a stream of chunks, and the whole answer. Pure.
// Format: https://platform.openai.com/docs/api-reference/chat-streaming

import { messageOf } from "../../../../log.ts";
import type { DoneEvent, TokenLogprob } from "../../../../../engine/mod.ts";
import type { ServerSentEvent } from "../../../stream/stream.ts";
import { toLogprobs, type WireLogprob } from "../../logprobs.ts";
import {
  type OpenAiEncoder,
  SYSTEM_FINGERPRINT,
  toDropped,
  toSeconds,
  toUsage,
  waiting,
} from "../answer.ts";
import type { AnswerHead, ChoiceEvent } from "../../handler.ts";
import { openAiError } from "../error.ts";

/** A call, or the first piece of one. */
interface AnsweredCall {
  index: number;
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** What a chunk adds. */
interface Delta {
  role?: "assistant";
  content?: string;
  reasoning?: string;
  tool_calls?: (AnsweredCall | { index: number; function: { arguments: string } })[];
}

/** A chat completion. */
export class ChatEncoder implements OpenAiEncoder {
  readonly #head: { id: string; created: number; model: string; system_fingerprint: string };
  readonly #tellsUsage: boolean;
  readonly #calls: AnsweredCall[] = [];
  #isBegun = false;
  #text = "";
  #reasoning = "";
  /** Of the text, where they are wanted. */
  #logprobs: WireLogprob[] | undefined;
  #done: DoneEvent | undefined;

  /** @param tellsUsage whether a stream ends with the counts */
  constructor({ id, model, now }: AnswerHead, tellsUsage: boolean) {
    const fixed = { created: toSeconds(now()), model, system_fingerprint: SYSTEM_FINGERPRINT };
    this.#head = { id: `chatcmpl-${id}`, ...fixed };
    this.#tellsUsage = tellsUsage;
  }

  add(event: ChoiceEvent): ServerSentEvent[] {
    switch (event.type) {
      case "start":
        return [this.#chunk({})];
      case "text":
        this.#text += event.text;
        return [this.#chunk({ content: event.text }, null, this.#tell(event.logprobs))];
      case "thinking":
        this.#reasoning += event.text;
        return [this.#chunk({ reasoning: event.text })];
      case "callStart":
        return [this.#beginCall(event)];
      case "callArguments":
        return [this.#addArguments(event.json)];
      case "callEnd":
        // Those of a call that came whole may not have been told in pieces.
        if (this.#calls.at(-1)?.function.arguments) return [];
        return [this.#addArguments(JSON.stringify(event.arguments))];
      case "done":
        this.#done = event;
        return this.#end(event);
    }
  }

  readonly waiting = waiting;

  fail(failure: unknown): ServerSentEvent {
    const message = messageOf(failure);
    return { data: openAiError(500, message) };
  }

  whole(): unknown {
    const done = this.#done!;
    const calls = this.#calls;
    const message = {
      role: "assistant",
      content: this.#text === "" && calls.length > 0 ? null : this.#text,
      refusal: null,
      ...(this.#reasoning && { reasoning: this.#reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const logprobs = this.#logprobs ? { content: this.#logprobs, refusal: null } : null;
    const choice = { index: 0, message, logprobs, finish_reason: this.#reasonOf(done) };
    return {
      ...this.#head,
      object: "chat.completion",
      choices: [choice],
      usage: toUsage(done.usage),
      ...toDropped(done),
    };
  }

  #beginCall({ id, name }: { id: string; name: string }): ServerSentEvent {
    const call: AnsweredCall = {
      index: this.#calls.length,
      id,
      type: "function",
      function: { name, arguments: "" },
    };
    this.#calls.push(call);
    return this.#chunk({ tool_calls: [structuredClone(call)] });
  }

  #addArguments(json: string): ServerSentEvent {
    const call = this.#calls.at(-1)!;
    call.function.arguments += json;
    return this.#chunk({ tool_calls: [{ index: call.index, function: { arguments: json } }] });
  }

  /** There is no place for those of thinking and calls. */
  #tell(logprobs: readonly TokenLogprob[] | undefined): object {
    if (!logprobs) return {};
    const content = toLogprobs(logprobs);
    (this.#logprobs ??= []).push(...content);
    return { logprobs: { content, refusal: null } };
  }

  #chunk(delta: Delta, finish: string | null = null, told: object = {}): ServerSentEvent {
    const whole = this.#isBegun ? delta : { role: "assistant", content: "", ...delta };
    this.#isBegun = true;
    return this.#event([{ index: 0, delta: whole, ...told, finish_reason: finish }]);
  }

  #event(choices: unknown[], extras: object = {}): ServerSentEvent {
    const usage = this.#tellsUsage ? { usage: null } : {};
    const data = { ...this.#head, object: "chat.completion.chunk", choices, ...usage, ...extras };
    return { data };
  }

  #end(done: DoneEvent): ServerSentEvent[] {
    const usage = { usage: toUsage(done.usage), ...toDropped(done) };
    return [
      this.#chunk({}, this.#reasonOf(done)),
      ...(this.#tellsUsage ? [this.#event([], usage)] : []),
      { data: "[DONE]" },
    ];
  }

  #reasonOf({ reason }: DoneEvent): string {
    return reason === "stop" && this.#calls.length > 0 ? "tool_calls" : reason;
  }
}
