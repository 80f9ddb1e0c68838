// POST /v1/responses: the engine's events -> a stream of numbered events, and the whole answer. Pure.
// Format: https://platform.openai.com/docs/api-reference/responses-streaming

import { CLIENT_CLOSED_REQUEST, sentenceOf, statusOf } from "../../../errors.ts";
import type { DoneEvent, TokenLogprob, Usage } from "../../../../../engine/mod.ts";
import type { ServerSentEvent, SseComment } from "../../../stream/stream.ts";
import { toSeconds, waiting } from "../answer.ts";
import { type Deviations, toDeviations } from "../../deviations.ts";
import type { AnswerHead, ChoiceEvent, EventEncoder } from "../../handler.ts";
import type {
  ItemStatus,
  OutputItem,
  ResponseEvent,
  ResponseStatus,
  UnnumberedEvent,
  WholeResponse,
} from "./answer_schema.ts";
import { conversationOf, toResponseId } from "./kept_items.ts";
import { isCompaction } from "./compaction.ts";
import {
  CallItem,
  CompactionItem,
  CustomCallItem,
  type GrowingItem,
  MessageItem,
  ReasoningItem,
} from "./items.ts";
import { type CalledFunction, calledFunctions, toolsTold } from "./tools.ts";
import type { ResponsesBody } from "../schema.ts";

/** The parts of a stream. */
export type ResponsesRecord = ServerSentEvent<ResponseEvent> | SseComment;

/** A response. */
export class ResponsesEncoder implements EventEncoder<ResponsesRecord> {
  readonly #head: AnswerHead;
  readonly #created: number;
  readonly #settings: Settings;
  readonly #called: Map<string, CalledFunction>;
  /** Whether the answer is a summary. */
  readonly #compacts: boolean;
  readonly #output: OutputItem[] = [];
  #item: GrowingItem | undefined;
  #sequence = 0;
  /** How far it has come: told to nobody, told as queued, told as begun. */
  #phase: "new" | "queued" | "begun" = "new";
  #whole: WholeResponse | undefined;

  constructor(head: AnswerHead, body: ResponsesBody) {
    this.#head = head;
    this.#created = toSeconds(head.now());
    this.#settings = settingsOf(body);
    this.#called = calledFunctions(body);
    this.#compacts = isCompaction(body);
  }

  add(event: ChoiceEvent): ServerSentEvent<ResponseEvent>[] {
    return [...this.#begin(), ...this.#follow(event)].map((each) => this.#number(each));
  }

  readonly waiting = waiting;

  queue(): ServerSentEvent<ResponseEvent>[] {
    this.#phase = "queued";
    const response = this.#response("queued");
    const events: UnnumberedEvent[] = [
      { type: "response.created", response },
      { type: "response.queued", response },
    ];
    return events.map((event) => this.#number(event));
  }

  fail(failure: unknown): ServerSentEvent<ResponseEvent> {
    // The part of a call is none: a client must not run it.
    if (this.#item && !this.#isInCall) this.#output.push(this.#item.item("incomplete"));
    this.#item = undefined;
    const isCancelled = this.#settings.background && statusOf(failure) === CLIENT_CLOSED_REQUEST;
    const response = isCancelled ? this.#response("cancelled") : this.#response("failed", {
      error: { code: "server_error", message: sentenceOf(failure) },
    });
    this.#whole = response;
    // There is no event of its own for what was cancelled.
    const type = isCancelled ? "response.incomplete" : "response.failed";
    return this.#number({ type, response });
  }

  whole(): WholeResponse | undefined {
    return this.#whole;
  }

  state(): WholeResponse {
    if (this.#whole) return this.#whole;
    const response = this.#response(this.#phase === "begun" ? "in_progress" : "queued");
    if (this.#item) response.output.push(this.#item.item("in_progress"));
    return response;
  }

  #begin(): UnnumberedEvent[] {
    if (this.#phase === "begun") return [];
    const wasTold = this.#phase === "queued";
    this.#phase = "begun";
    const response = this.#response("in_progress");
    const begun: UnnumberedEvent = { type: "response.in_progress", response };
    return wasTold ? [begun] : [{ type: "response.created", response }, begun];
  }

  #follow(event: ChoiceEvent): UnnumberedEvent[] {
    switch (event.type) {
      case "prompt":
      case "start":
      case "progress":
        return [];
      case "text":
        return this.#grow(
          this.#compacts ? CompactionItem : MessageItem,
          event.text,
          event.logprobs,
        );
      case "thinking":
        return this.#compacts ? [] : this.#grow(ReasoningItem, event.text);
      case "callStart": {
        const called = this.#called.get(event.name);
        const Item = called?.isCustom ? CustomCallItem : CallItem;
        return this.#open(new Item(...this.#nextPlace(), { ...event, ...called }));
      }
      case "callArguments":
        return this.#item!.grow(event.json);
      case "callEnd":
        return this.#endCall(this.#item as CallItem | CustomCallItem, event.arguments);
      case "done":
        return this.#end(event);
    }
  }

  #grow(
    Item: typeof MessageItem | typeof ReasoningItem | typeof CompactionItem,
    text: string,
    logprobs?: readonly TokenLogprob[],
  ): UnnumberedEvent[] {
    if (this.#item instanceof Item) return (this.#item as GrowingItem).grow(text, logprobs);
    const item: GrowingItem = new Item(...this.#nextPlace());
    return [...this.#open(item), ...item.grow(text, logprobs)];
  }

  #endCall(call: CallItem | CustomCallItem, values: Record<string, unknown>): UnnumberedEvent[] {
    if (call instanceof CustomCallItem) {
      call.take(values);
      return this.#close("completed");
    }
    // The arguments of a call that came as a whole were not told in pieces.
    const pieces = call.isEmpty ? call.grow(JSON.stringify(values)) : [];
    return [...pieces, ...this.#close("completed")];
  }

  #open(item: GrowingItem): UnnumberedEvent[] {
    const closed = this.#close("completed");
    this.#item = item;
    return [...closed, ...item.begin()];
  }

  #close(status: ItemStatus): UnnumberedEvent[] {
    const item = this.#item;
    if (!item) return [];
    this.#item = undefined;
    this.#output.push(item.item(status));
    return item.end(status);
  }

  get #isInCall(): boolean {
    return this.#item instanceof CallItem || this.#item instanceof CustomCallItem;
  }

  /** The id and index of the next item. */
  #nextPlace(): [id: string, index: number] {
    const index = this.#output.length + (this.#item ? 1 : 0);
    return [`${this.#head.id}${index}`, index];
  }

  #end(done: DoneEvent): UnnumberedEvent[] {
    const status = done.reason === "stop" ? "completed" : "incomplete";
    // A client must not run a call that was cut short.
    if (this.#isInCall) this.#item = undefined;
    const closed = this.#close(status);
    const response = this.#response(status, {
      completed_at: status === "completed" ? toSeconds(this.#head.now()) : null,
      incomplete_details: status === "completed" ? null : { reason: "max_output_tokens" },
      usage: toResponseUsage(done.usage),
      ...toDeviations(done),
    });
    this.#whole = response;
    return [...closed, { type: `response.${status}`, response }];
  }

  #response(status: ResponseStatus, changes: Partial<WholeResponse> = {}): WholeResponse {
    return {
      id: toResponseId(this.#head.id),
      object: "response",
      created_at: this.#created,
      completed_at: null,
      status,
      error: null,
      incomplete_details: null,
      model: this.#head.model,
      output: [...this.#output],
      usage: null,
      ...this.#settings,
      ...changes,
    };
  }

  #number(event: UnnumberedEvent): ServerSentEvent<ResponseEvent> {
    return { event: event.type, data: { ...event, sequence_number: this.#sequence++ } };
  }
}

/** Counts of tokens. Those of thinking are not counted apart. */
function toResponseUsage(
  { promptTokens, cachedTokens, completionTokens }: Usage,
): WholeResponse["usage"] {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: promptTokens + completionTokens,
  };
}

/** The members of a response that are not settings of its request. */
type Outcome =
  | "id"
  | "object"
  | "created_at"
  | "completed_at"
  | "status"
  | "error"
  | "incomplete_details"
  | "model"
  | "output"
  | "usage"
  | keyof Deviations;

type Settings = Omit<WholeResponse, Outcome>;

/** The settings of a request, which each response repeats. */
function settingsOf(body: ResponsesBody): Settings {
  const conversation = conversationOf(body);
  return {
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: null,
    temperature: body.temperature ?? 1,
    top_p: body.top_p ?? 1,
    presence_penalty: body.presence_penalty ?? 0,
    frequency_penalty: body.frequency_penalty ?? 0,
    top_logprobs: body.top_logprobs ?? 0,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    tool_choice: body.tool_choice ?? "auto",
    tools: toolsTold(body),
    text: { format: body.text?.format ?? { type: "text" } },
    reasoning: {
      effort: body.reasoning?.effort ?? null,
      summary: body.reasoning?.summary ?? null,
    },
    truncation: body.truncation ?? "disabled",
    metadata: body.metadata ?? {},
    previous_response_id: body.previous_response_id ?? null,
    conversation: conversation === undefined ? null : { id: conversation },
    background: body.background ?? false,
    store: body.store ?? true,
    service_tier: "default",
    user: null,
    safety_identifier: null,
    prompt_cache_key: null,
  };
}
