// The events of an answer as the parts of AI SDK's streams, and those parts as one result.

import type { ChatEvent, DoneEvent, Usage } from "../../mod.ts";
import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "./dependencies.ts";

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;
type Kind = "text" | "reasoning";

/** Makes the parts of a stream of events, one event after the other. */
export class PartWriter {
  /** The block of text or thinking that is open. */
  #open: { kind: Kind; id: string } | undefined;
  #blocks = 0;
  #calls = 0;

  /** The parts of an event. */
  *parts(event: ChatEvent): Generator<LanguageModelV4StreamPart, void> {
    switch (event.type) {
      case "text":
      case "thinking": {
        const kind = event.type === "text" ? "text" : "reasoning";
        if (this.#open?.kind !== kind) {
          yield* this.#close();
          this.#open = { kind, id: `${this.#blocks++}` };
          yield { type: `${kind}-start`, id: this.#open.id };
        }
        return yield { type: `${kind}-delta`, id: this.#open.id, delta: event.text };
      }
      case "callStart":
        yield* this.#close();
        return yield { type: "tool-input-start", id: event.id, toolName: event.name };
      case "callArguments":
        return yield { type: "tool-input-delta", id: event.id, delta: event.json };
      case "callEnd": {
        const { id, name: toolName, arguments: given } = event;
        this.#calls++;
        yield { type: "tool-input-end", id };
        // From the object at the end: a number in it is what JavaScript makes of the text.
        const input = JSON.stringify(given);
        return yield { type: "tool-call", toolCallId: id, toolName, input };
      }
      case "done":
        yield* this.#close();
        return yield this.#finish(event);
    }
  }

  *#close(): Generator<LanguageModelV4StreamPart, void> {
    if (this.#open) yield { type: `${this.#open.kind}-end`, id: this.#open.id };
    this.#open = undefined;
  }

  #finish(done: DoneEvent): Finish {
    const unified = done.reason === "stop" && this.#calls > 0 ? "tool-calls" : done.reason;
    return {
      type: "finish",
      finishReason: { unified, raw: done.reason } satisfies LanguageModelV4FinishReason,
      usage: usageOf(done.usage),
      providerMetadata: metadataOf(done),
    };
  }
}

/** Puts parts of a stream together. */
export class PartReader {
  readonly content: LanguageModelV4Content[] = [];
  finish: Finish | undefined;

  /** Takes a part. */
  take(part: LanguageModelV4StreamPart): void {
    if (part.type === "text-start") this.content.push({ type: "text", text: "" });
    if (part.type === "reasoning-start") this.content.push({ type: "reasoning", text: "" });
    if (part.type === "text-delta" || part.type === "reasoning-delta") {
      (this.content.at(-1) as { text: string }).text += part.delta;
    }
    if (part.type === "tool-call") this.content.push(part);
    if (part.type === "finish") this.finish = part;
  }
}

function usageOf(usage: Usage): LanguageModelV4Usage {
  const { promptTokens, cachedTokens, completionTokens } = usage;
  return {
    inputTokens: {
      total: promptTokens,
      noCache: promptTokens - cachedTokens,
      cacheRead: cachedTokens,
      cacheWrite: undefined,
    },
    outputTokens: { total: completionTokens, text: undefined, reasoning: undefined },
    raw: { ...usage },
  };
}

function metadataOf(
  { stopString, notes, droppedMessages, usage }: DoneEvent,
): SharedV4ProviderMetadata {
  return {
    quern: {
      promptMilliseconds: usage.promptMilliseconds,
      completionMilliseconds: usage.completionMilliseconds,
      ...(stopString !== undefined && { stopString }),
      ...(notes && { notes }),
      ...(droppedMessages && { droppedMessages }),
    },
  };
}
