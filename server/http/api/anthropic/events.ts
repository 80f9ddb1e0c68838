// The engine's events -> the events of a stream, and those -> one whole answer. So an answer that
// is not streamed is exactly what a client would make of the stream. Blocks come one after the
// other and are never interleaved. Ids of answers and requests are made here as well.

import type { DoneEvent, StartEvent } from "../../../../engine/mod.ts";
import { type ServerSentEvent, waitingComment } from "../../stream/stream.ts";
import { type Deviations, toDeviations } from "../deviations.ts";
import type { AnswerHead, ChoiceEvent, EventEncoder } from "../handler.ts";
import { argumentsOfText } from "../tools.ts";
import type {
  AnswerBeginning,
  AnswerBlock,
  AnthropicAnswer,
  AnthropicEvent,
  AnthropicStop,
  AnthropicUsage,
  BlockDelta,
} from "./answer_schema.ts";
import { anthropicError } from "./errors.ts";
import { toWireId } from "./tools.ts";

/** The signature of thinking: clients demand one, and nobody verifies it. */
const SIGNATURE = btoa("quern");

/** Options of an answer's events. */
export interface AnswerOptions extends Pick<AnswerHead, "id" | "model"> {
  /** Name of the request, by which clients report a fault. */
  requestId: string;
  /** Whether failures are told as Anthropic does, not as Ollama does. */
  exact: boolean;
  /** The stop strings that the request names; a model may have others, which are its own ends. */
  stopSequences: readonly string[];
}

/** The events of one answer, and the answer that a client puts together of them. */
export class AnthropicEncoder implements EventEncoder<ServerSentEvent<AnthropicEvent>> {
  readonly headers: Record<string, string>;
  readonly #options: AnswerOptions;
  readonly #events: AnthropicEvent[] = [];
  readonly #collector = new AnswerCollector();
  #hasBegun = false;
  #open: AnswerBlock["type"] | undefined;
  #index = -1;
  /** Whether there was a whole call. */
  #hasCalled = false;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.headers = { "request-id": options.requestId };
  }

  add(event: ChoiceEvent): ServerSentEvent<AnthropicEvent>[] {
    const events = this.#write(event);
    for (const each of events) this.#collector.add(each);
    return events.map(named);
  }

  waiting(ahead: number | undefined): ServerSentEvent<AnthropicEvent>[] {
    const ping = named({ type: "ping" });
    return [ahead === undefined ? ping : { ...ping, comment: waitingComment(ahead) }];
  }

  fail(error: unknown): ServerSentEvent<AnthropicEvent> | undefined {
    const { exact, requestId } = this.#options;
    // Once the answer has begun, cutting the connection is the only way to show that it is not
    // complete.
    if (!exact && this.#hasBegun) return undefined;
    const data = anthropicError(error, requestId);
    return { event: data.type, data };
  }

  whole(): AnthropicAnswer {
    return this.#collector.answer;
  }

  /** The events of the stream for an event of the engine. */
  #write(event: ChoiceEvent): AnthropicEvent[] {
    this.#hasBegun = true;
    switch (event.type) {
      case "start":
        this.#start(event);
        break;
      case "text":
        if (this.#open !== "text") this.#begin({ type: "text", text: "" });
        this.#add({ type: "text_delta", text: event.text });
        break;
      case "thinking":
        if (this.#open !== "thinking") {
          this.#begin({ type: "thinking", thinking: "", signature: "" });
        }
        this.#add({ type: "thinking_delta", thinking: event.text });
        break;
      case "callStart":
        this.#begin({ type: "tool_use", id: toWireId(event.id), name: event.name, input: {} });
        break;
      case "callArguments":
        this.#add({ type: "input_json_delta", partial_json: event.json });
        break;
      case "callEnd":
        this.#hasCalled = true;
        this.#end();
        break;
      case "done":
        this.#end();
        this.#finish(event);
    }
    return this.#events.splice(0);
  }

  #start({ promptTokens, cachedTokens }: StartEvent): void {
    const { id, model } = this.#options;
    this.#events.push({
      type: "message_start",
      message: {
        id,
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: toUsage(promptTokens, cachedTokens, 0),
      },
    }, { type: "ping" });
  }

  #begin(block: AnswerBlock): void {
    this.#end();
    this.#open = block.type;
    this.#events.push({ type: "content_block_start", index: ++this.#index, content_block: block });
  }

  #add(delta: BlockDelta): void {
    this.#events.push({ type: "content_block_delta", index: this.#index, delta });
  }

  #end(): void {
    if (this.#open === undefined) return;
    if (this.#open === "thinking") this.#add({ type: "signature_delta", signature: SIGNATURE });
    this.#open = undefined;
    this.#events.push({ type: "content_block_stop", index: this.#index });
  }

  #finish(done: DoneEvent): void {
    const { promptTokens, cachedTokens, completionTokens } = done.usage;
    this.#events.push({
      type: "message_delta",
      delta: this.#stopOf(done),
      usage: toUsage(promptTokens, cachedTokens, completionTokens),
      ...toDeviations(done),
    }, { type: "message_stop" });
  }

  #stopOf({ reason, stopString }: DoneEvent): AnthropicStop {
    const stop_sequence = this.#options.stopSequences.find((stop) => stop === stopString) ?? null;
    if (reason === "length") return { stop_reason: "max_tokens", stop_sequence };
    if (this.#hasCalled) return { stop_reason: "tool_use", stop_sequence };
    return { stop_reason: stop_sequence === null ? "end_turn" : "stop_sequence", stop_sequence };
  }
}

/**
 * Puts the events of a stream together to one answer. Since they are sent as well, it changes
 * copies.
 */
class AnswerCollector {
  #beginning: AnswerBeginning | undefined;
  readonly #content: AnswerBlock[] = [];
  #end: AnthropicStop & { usage: AnthropicUsage } & Deviations | undefined;
  #json = "";

  /** The answer, once all events have been added. */
  get answer(): AnthropicAnswer {
    return { ...this.#beginning!, content: this.#content, ...this.#end! };
  }

  /** Takes an event. */
  add(event: AnthropicEvent): void {
    switch (event.type) {
      case "message_start":
        this.#beginning = event.message;
        break;
      case "content_block_start":
        this.#json = "";
        this.#content.push(structuredClone(event.content_block));
        break;
      case "content_block_delta":
        this.#extend(this.#content.at(-1)!, event.delta);
        break;
      case "content_block_stop": {
        const block = this.#content.at(-1)!;
        if (block.type !== "tool_use") break;
        const input = argumentsOfText(this.#json);
        if (input) block.input = input;
        // A client must not run a call that was cut short.
        else this.#content.pop();
        break;
      }
      case "message_delta": {
        const { type: _, delta, ...counts } = event;
        this.#end = { ...delta, ...counts };
      }
    }
  }

  #extend(block: AnswerBlock, delta: BlockDelta): void {
    if (delta.type === "input_json_delta") this.#json += delta.partial_json;
    if (block.type === "text" && delta.type === "text_delta") block.text += delta.text;
    if (block.type !== "thinking") return;
    if (delta.type === "thinking_delta") block.thinking += delta.thinking;
    if (delta.type === "signature_delta") block.signature += delta.signature;
  }
}

function named(data: AnthropicEvent): ServerSentEvent<AnthropicEvent> {
  return { event: data.type, data };
}

function toUsage(prompt: number, cached: number, output: number): AnthropicUsage {
  return {
    input_tokens: prompt - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}

/** A unique id, such as "msg_" and 24 digits. */
export function newId(kind: "msg" | "req"): string {
  return `${kind}_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}
