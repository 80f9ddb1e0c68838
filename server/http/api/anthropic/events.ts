// The engine's events -> the events of a stream, and those -> one answer: whoever does not stream
// gets exactly what a client makes of a stream. Blocks come one after the other, never interleaved.

import type { ChatEvent, DoneEvent, StartEvent } from "../../../../engine/mod.ts";
import { toWireId } from "./ids.ts";
import type {
  AnswerBlock,
  AnthropicAnswer,
  AnthropicEvent,
  AnthropicStop,
  AnthropicUsage,
  BlockDelta,
} from "./types.ts";

/** Stands at the end of thinking, where clients demand something. Nobody verifies it. */
const SIGNATURE = btoa("quern");

/** What an answer is written for. */
export interface AnswerOptions {
  id: string;
  /** As the client wrote it. */
  model: string;
  /** Tell of a stop string as Anthropic does, by `stop_reason` too. */
  exact: boolean;
}

/** Translates the events of one answer. */
export class AnswerWriter {
  readonly #options: AnswerOptions;
  readonly #events: AnthropicEvent[] = [];
  #hasBegun = false;
  #open: AnswerBlock["type"] | undefined;
  #index = -1;
  /** JSON text of the last call, and whether it is whole; undefined: nothing was called. */
  #call: { json: string; isWhole: boolean } | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  /** Whether it has said anything of the answer. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** What an event comes to. */
  write(event: ChatEvent): AnthropicEvent[] {
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
        this.#call = { json: "", isWhole: false };
        this.#begin({ type: "tool_use", id: toWireId(event.id), name: event.name, input: {} });
        break;
      case "callArguments":
        this.#call!.json += event.json;
        this.#add({ type: "input_json_delta", partial_json: event.json });
        break;
      case "callEnd":
        this.#call!.isWhole = isJson(this.#call!.json);
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
    }, { type: "message_stop" });
  }

  #stopOf({ reason, stopString }: DoneEvent): AnthropicStop {
    const stop_sequence = stopString ?? null;
    // A call that was cut short is none that a client may run.
    if (this.#call?.isWhole) return { stop_reason: "tool_use", stop_sequence };
    if (reason === "length") return { stop_reason: "max_tokens", stop_sequence };
    const isNamed = this.#options.exact && stopString !== undefined;
    return { stop_reason: isNamed ? "stop_sequence" : "end_turn", stop_sequence };
  }
}

/** Puts the events of a stream together. */
export class AnswerCollector {
  #answer: AnthropicAnswer | undefined;
  #json = "";

  /** The answer, once all events have been added. */
  get answer(): AnthropicAnswer {
    return this.#answer!;
  }

  /** Takes an event. */
  add(event: AnthropicEvent): void {
    switch (event.type) {
      case "message_start":
        this.#answer = event.message;
        break;
      case "content_block_start":
        this.#json = "";
        this.answer.content.push(event.content_block);
        break;
      case "content_block_delta":
        this.#extend(this.answer.content.at(-1)!, event.delta);
        break;
      case "content_block_stop": {
        const block = this.answer.content.at(-1)!;
        if (block.type === "tool_use" && isJson(this.#json)) block.input = JSON.parse(this.#json);
        break;
      }
      case "message_delta":
        Object.assign(this.answer, event.delta, { usage: event.usage });
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

function toUsage(prompt: number, cached: number, output: number): AnthropicUsage {
  return {
    input_tokens: prompt - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
