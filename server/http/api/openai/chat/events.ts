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

/** One of the answers so far. */
class Choice {
  /** The calls that are whole, and the one that is not yet. */
  readonly calls: ToolCall[] = [];
  call: ToolCall | undefined;
  callCount = 0;
  isBegun = false;
  text = "";
  reasoning = "";
  /** Log-probabilities of the text, where they are wanted. */
  logprobs: ChatLogprobs | undefined;
  done: DoneEvent | undefined;

  /** @param index its place among the answers */
  constructor(readonly index: number) {}

  /** Why it has ended. */
  get reason(): ChatFinish {
    const { reason } = this.done!;
    return reason === "stop" && this.calls.length > 0 ? "tool_calls" : reason;
  }

  /** The whole answer. */
  whole(): ChatCompletion["choices"][number] {
    const { index, calls } = this;
    return {
      index,
      message: {
        role: "assistant",
        content: this.text === "" && calls.length > 0 ? null : this.text,
        refusal: null,
        ...(this.reasoning && { reasoning: this.reasoning }),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
      logprobs: this.logprobs ?? null,
      finish_reason: this.reason,
    };
  }
}

/** How chat completions are written. */
export interface ChatOptions {
  /** Number of answers. */
  choices: number;
  /** Whether a stream ends with the counts. */
  tellsUsage: boolean;
}

/** A chat completion. */
export class ChatEncoder implements EventEncoder<CompletionRecord<ChatChunk>> {
  readonly #head: Pick<ChatChunk, "id" | "created" | "model" | "system_fingerprint">;
  readonly #tellsUsage: boolean;
  readonly #choices: readonly Choice[];
  /** The last end of an answer. Each has the counts of all answers that have ended so far. */
  #done: DoneEvent | undefined;

  constructor({ id, model, now }: AnswerHead, { choices, tellsUsage }: ChatOptions) {
    const fixed = { created: toSeconds(now()), model, system_fingerprint: SYSTEM_FINGERPRINT };
    this.#head = { id: `chatcmpl-${id}`, ...fixed };
    this.#tellsUsage = tellsUsage;
    this.#choices = Array.from({ length: choices }, (_, index) => new Choice(index));
  }

  add(event: ChoiceEvent): CompletionEvent<ChatChunk>[] {
    const choice = this.#choices[event.choice ?? 0]!;
    const { index } = choice;
    switch (event.type) {
      case "prompt":
        return [];
      case "start":
        return [this.#chunk(choice, {})];
      case "progress":
        return [this.#event([{ index, delta: {}, finish_reason: null }], toProgress(event))];
      case "text":
        choice.text += event.text;
        return [this.#chunk(choice, { content: event.text }, null, tell(choice, event.logprobs))];
      case "thinking":
        choice.reasoning += event.text;
        return [this.#chunk(choice, { reasoning: event.text })];
      case "callStart":
        return [this.#beginCall(choice, event)];
      case "callArguments":
        return [this.#addArguments(choice, event.json)];
      case "callEnd": {
        const call = choice.call!;
        choice.calls.push(call);
        // The arguments of a call that came as a whole were not told in pieces.
        if (call.function.arguments) return [];
        return [this.#addArguments(choice, JSON.stringify(event.arguments))];
      }
      case "done":
        choice.done = this.#done = event;
        return this.#end(choice, event);
    }
  }

  readonly waiting = waiting;

  readonly fail = failed;

  whole(): ChatCompletion {
    const done = this.#done!;
    const notes = new Set(this.#choices.flatMap((choice) => choice.done?.notes ?? []));
    return {
      ...this.#head,
      object: "chat.completion",
      choices: this.#choices.map((choice) => choice.whole()),
      usage: toUsage(done.usage),
      ...toDeviations({ ...done, ...(notes.size > 0 && { notes: [...notes] }) }),
    };
  }

  #beginCall(
    choice: Choice,
    { id, name }: { id: string; name: string },
  ): CompletionEvent<ChatChunk> {
    const call: ToolCall = {
      index: choice.callCount++,
      id,
      type: "function",
      function: { name, arguments: "" },
    };
    choice.call = call;
    return this.#chunk(choice, { tool_calls: [structuredClone(call)] });
  }

  #addArguments(choice: Choice, json: string): CompletionEvent<ChatChunk> {
    const call = choice.call!;
    call.function.arguments += json;
    return this.#chunk(choice, {
      tool_calls: [{ index: call.index, function: { arguments: json } }],
    });
  }

  #chunk(
    choice: Choice,
    delta: ChatDelta,
    finish: ChatFinish | null = null,
    told: { logprobs?: ChatLogprobs } = {},
    extras: Deviations = {},
  ): CompletionEvent<ChatChunk> {
    const { index, isBegun } = choice;
    const beginning: ChatDelta = isBegun ? {} : { role: "assistant", content: "" };
    choice.isBegun = true;
    const whole = { ...beginning, ...delta };
    return this.#event([{ index, delta: whole, ...told, finish_reason: finish }], extras);
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

  #end(choice: Choice, done: DoneEvent): CompletionEvent<ChatChunk>[] {
    const last = this.#chunk(choice, {}, choice.reason, {}, toDeviations(done));
    if (this.#choices.some((one) => one.done === undefined)) return [last];
    const usage = { usage: toUsage(done.usage) };
    return [last, ...(this.#tellsUsage ? [this.#event([], usage)] : []), { data: "[DONE]" }];
  }
}

/** The member with the log-probabilities of text. OpenAI has none for thinking and calls. */
function tell(
  choice: Choice,
  logprobs: readonly TokenLogprob[] | undefined,
): { logprobs?: ChatLogprobs } {
  if (!logprobs) return {};
  const content = toLogprobs(logprobs);
  choice.logprobs ??= { content: [], refusal: null };
  choice.logprobs.content.push(...content);
  return { logprobs: { content, refusal: null } };
}
