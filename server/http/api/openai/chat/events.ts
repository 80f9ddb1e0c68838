// POST /v1/chat/completions: the engine's events -> a stream of chunks, and the whole answer. Pure.
// Format: https://platform.openai.com/docs/api-reference/chat-streaming

import type { DoneEvent, TokenLogprob } from "../../../../../engine/mod.ts";
import { toLogprobs } from "../../logprobs.ts";
import {
  type CompletionEvent,
  type CompletionRecord,
  failed,
  SYSTEM_FINGERPRINT,
  toSeconds,
  toUsage,
  waiting,
} from "../answer.ts";
import type {
  ChatChunk,
  ChatCompletion,
  ChatDelta,
  ChatFinish,
  ChatLogprobs,
  ToolCall,
} from "../answer_schema.ts";
import type { AnswerHead, ChoiceEvent, EventEncoder } from "../../handler.ts";
import { type Deviations, toDeviations } from "../../deviations.ts";
import { toProgress } from "../../options.ts";

/** A chat completion. */
export class ChatEncoder implements EventEncoder<CompletionRecord<ChatChunk>> {
  readonly #head: Pick<ChatChunk, "id" | "created" | "model" | "system_fingerprint">;
  readonly #tellsUsage: boolean;
  /** The calls that are whole, and the one that is not yet. */
  readonly #calls: ToolCall[] = [];
  #call: ToolCall | undefined;
  #callCount = 0;
  #isBegun = false;
  #text = "";
  #reasoning = "";
  /** Log-probabilities of the text, where they are wanted. */
  #logprobs: ChatLogprobs | undefined;
  #done: DoneEvent | undefined;

  /** @param tellsUsage whether a stream ends with the counts */
  constructor({ id, model, now }: AnswerHead, tellsUsage: boolean) {
    const fixed = { created: toSeconds(now()), model, system_fingerprint: SYSTEM_FINGERPRINT };
    this.#head = { id: `chatcmpl-${id}`, ...fixed };
    this.#tellsUsage = tellsUsage;
  }

  add(event: ChoiceEvent): CompletionEvent<ChatChunk>[] {
    switch (event.type) {
      case "start":
        return [this.#chunk({})];
      case "progress":
        return [this.#event([{ index: 0, delta: {}, finish_reason: null }], toProgress(event))];
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
      case "callEnd": {
        const call = this.#call!;
        this.#calls.push(call);
        // The arguments of a call that came as a whole were not told in pieces.
        if (call.function.arguments) return [];
        return [this.#addArguments(JSON.stringify(event.arguments))];
      }
      case "done":
        this.#done = event;
        return this.#end(event);
    }
  }

  readonly waiting = waiting;

  readonly fail = failed;

  whole(): ChatCompletion {
    const done = this.#done!;
    const calls = this.#calls;
    const message: ChatCompletion["choices"][number]["message"] = {
      role: "assistant",
      content: this.#text === "" && calls.length > 0 ? null : this.#text,
      refusal: null,
      ...(this.#reasoning && { reasoning: this.#reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return {
      ...this.#head,
      object: "chat.completion",
      choices: [{
        index: 0,
        message,
        logprobs: this.#logprobs ?? null,
        finish_reason: this.#reasonOf(done),
      }],
      usage: toUsage(done.usage),
      ...toDeviations(done),
    };
  }

  #beginCall({ id, name }: { id: string; name: string }): CompletionEvent<ChatChunk> {
    const call: ToolCall = {
      index: this.#callCount++,
      id,
      type: "function",
      function: { name, arguments: "" },
    };
    this.#call = call;
    return this.#chunk({ tool_calls: [structuredClone(call)] });
  }

  #addArguments(json: string): CompletionEvent<ChatChunk> {
    const call = this.#call!;
    call.function.arguments += json;
    return this.#chunk({ tool_calls: [{ index: call.index, function: { arguments: json } }] });
  }

  /** The member with the log-probabilities of text. OpenAI has none for thinking and calls. */
  #tell(logprobs: readonly TokenLogprob[] | undefined): { logprobs?: ChatLogprobs } {
    if (!logprobs) return {};
    const content = toLogprobs(logprobs);
    this.#logprobs ??= { content: [], refusal: null };
    this.#logprobs.content.push(...content);
    return { logprobs: { content, refusal: null } };
  }

  #chunk(
    delta: ChatDelta,
    finish: ChatFinish | null = null,
    told: { logprobs?: ChatLogprobs } = {},
    extras: Deviations = {},
  ): CompletionEvent<ChatChunk> {
    const beginning: ChatDelta = this.#isBegun ? {} : { role: "assistant", content: "" };
    this.#isBegun = true;
    const whole = { ...beginning, ...delta };
    return this.#event([{ index: 0, delta: whole, ...told, finish_reason: finish }], extras);
  }

  #event(
    choices: ChatChunk["choices"],
    extras: Pick<ChatChunk, "usage" | keyof Deviations | "prompt_progress"> = {},
  ): CompletionEvent<ChatChunk> {
    const data: ChatChunk = {
      ...this.#head,
      object: "chat.completion.chunk",
      choices,
      ...(this.#tellsUsage && { usage: null }),
      ...extras,
    };
    return { data };
  }

  #end(done: DoneEvent): CompletionEvent<ChatChunk>[] {
    const usage = { usage: toUsage(done.usage) };
    return [
      this.#chunk({}, this.#reasonOf(done), {}, toDeviations(done)),
      ...(this.#tellsUsage ? [this.#event([], usage)] : []),
      { data: "[DONE]" },
    ];
  }

  #reasonOf({ reason }: DoneEvent): ChatFinish {
    return reason === "stop" && this.#calls.length > 0 ? "tool_calls" : reason;
  }
}
