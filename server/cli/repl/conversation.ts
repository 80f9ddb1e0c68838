// A conversation with a model over the HTTP API: what has been said, and the requests that continue
// it. The part of an answer that came before it was interrupted is kept; a turn that got no answer at
// all is taken back.

import type { Api, OllamaMessage, OllamaRecord, OllamaToolCall } from "../client/mod.ts";
import { can, knowsTurns, type ModelFacts } from "./model_facts.ts";

/** The parts of a record; absent ones are empty. */
export interface RecordParts {
  content: string;
  thinking: string;
  toolCalls: OllamaToolCall[];
}

/** The parts of a record of /api/chat or /api/generate. */
export function partsOf(record: OllamaRecord): RecordParts {
  const isChat = "message" in record;
  const { thinking = "", tool_calls: toolCalls = [] } = isChat ? record.message : record;
  return { content: isChat ? record.message.content : record.response, thinking, toolCalls };
}

/** Settings of requests, from the command line or `/set`. */
export interface RequestSettings {
  /** Ollama's options, by their names. */
  options: Record<string, unknown>;
  system?: string | undefined;
  /** "json", or a JSON Schema. */
  format?: unknown;
  /** Left out for models that do not think. */
  think?: boolean | string | undefined;
  /** Ollama's duration, such as "5m". */
  keepAlive?: string | undefined;
  /** The prompt goes to the model as it stands. */
  raw?: boolean | undefined;
}

/** A model by the name that it was asked for. */
export interface NamedModel {
  readonly name: string;
  readonly facts: ModelFacts;
}

/** The images and sounds of a turn, in base64. */
export interface TurnMedia {
  readonly images: readonly string[];
  readonly audio: readonly string[];
}

/** The members of a turn or a prompt for what there is. */
function withoutNone({ images, audio }: TurnMedia): { images?: string[]; audio?: string[] } {
  return {
    ...(images.length > 0 && { images: [...images] }),
    ...(audio.length > 0 && { audio: [...audio] }),
  };
}

/** One conversation; models can take turns in it. */
export class Conversation {
  readonly settings: RequestSettings;
  model: NamedModel;
  readonly #api: Api;
  #messages: OllamaMessage[] = [];

  constructor(api: Api, model: NamedModel, settings: RequestSettings) {
    this.#api = api;
    this.model = model;
    this.settings = settings;
  }

  /** The conversation so far, without the system message. */
  get messages(): readonly OllamaMessage[] {
    return this.#messages;
  }

  /** Forgets the conversation; the settings stay. */
  clear(): void {
    this.#messages = [];
  }

  /** Makes the server load the model, and waits until it is loaded. */
  async load(signal: AbortSignal): Promise<void> {
    const { options } = this.settings;
    // Without keep_alive: with 0 this request would unload the model. Each later request sends it.
    const body = { model: this.model.name, options, stream: false };
    await this.#api.json("/api/generate", body, { signal });
  }

  /** The answer to one more turn. A model without a chat template continues each text by itself. */
  ask(
    content: string,
    media: TurnMedia,
    signal: AbortSignal,
  ): AsyncGenerator<OllamaRecord> {
    if (this.settings.raw || !knowsTurns(this.model.facts)) {
      return this.complete(content, media, signal);
    }
    const turn = { role: "user", content, ...withoutNone(media) };
    return this.#chat(turn, signal);
  }

  /** The answer to a prompt without a conversation. */
  complete(
    prompt: string,
    media: TurnMedia,
    signal: AbortSignal,
  ): AsyncGenerator<OllamaRecord> {
    const { system } = this.settings;
    // An empty prompt would only load the model. With `raw`, generation starts from nothing.
    const raw = this.settings.raw || prompt === "" && !knowsTurns(this.model.facts);
    return this.#api.stream("/api/generate", {
      ...this.#common(),
      prompt,
      ...withoutNone(media),
      ...(raw ? { raw } : system && { system }),
    }, signal);
  }

  async *#chat(turn: OllamaMessage, signal: AbortSignal): AsyncGenerator<OllamaRecord> {
    const { system } = this.settings;
    const messages = [...this.#messages, turn];
    if (system) messages.unshift({ role: "system", content: system });
    const reply: OllamaMessage = { role: "assistant", content: "" };
    let isAnswered = false;
    try {
      const body = { ...this.#common(), messages };
      for await (const record of this.#api.stream("/api/chat", body, signal)) {
        addTo(reply, record);
        isAnswered ||= record.done;
        yield record;
      }
    } finally {
      const hasSpoken = reply.content || reply.thinking || reply.tool_calls;
      if (isAnswered || hasSpoken) this.#messages.push(turn, reply);
    }
  }

  #common() {
    const { options, format, think, keepAlive } = this.settings;
    return {
      model: this.model.name,
      options,
      return_progress: true,
      ...(format !== undefined && { format }),
      ...(think !== undefined && can(this.model.facts, "thinking") && { think }),
      ...(keepAlive !== undefined && { keep_alive: keepAlive }),
    };
  }
}

function addTo(reply: OllamaMessage, record: OllamaRecord): void {
  const { content, thinking, toolCalls } = partsOf(record);
  reply.content += content;
  if (thinking) reply.thinking = (reply.thinking ?? "") + thinking;
  if (toolCalls.length > 0) reply.tool_calls = [...reply.tool_calls ?? [], ...toolCalls];
}
