// The chunks of an answer of OpenAI's API -> our events. Times are taken here, as the API tells none.
// Thinking is `reasoning_content` (DeepSeek, SGLang, older vLLM) or `reasoning`.

import type { ChatEvent, DoneEvent, TokenLogprob } from "../../engine/mod.ts";
import { type CallPiece, CallStream } from "./events.ts";
import { errorIn, type RemoteClient } from "./client.ts";
import { fromLogprobLists, fromLogprobs, type LogprobLists, type WireLogprob } from "./logprobs.ts";

/** A piece of a message; of a server that does not stream, the whole of it. */
interface Delta {
  content?: string | null;
  refusal?: string | null;
  reasoning?: string | null;
  reasoning_content?: string | null;
  tool_calls?: CallPiece[] | null;
}

interface Choice {
  index?: number;
  delta?: Delta;
  message?: Delta;
  /** Of /v1/completions. */
  text?: string;
  logprobs?: { content?: WireLogprob[] | null } & LogprobLists | null;
  finish_reason?: string | null;
  /** vLLM: the stop string that came. */
  stop_reason?: string | number | null;
}

interface Usage {
  prompt_tokens?: number;
  completion_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number } | null;
}

/** An event of a stream, or the whole of an answer. */
export interface OpenAiChunk {
  object?: string;
  choices?: Choice[];
  usage?: Usage | null;
  error?: unknown;
}

/** Gathers one answer. */
export class OpenAiAnswer {
  readonly #client: RemoteClient;
  readonly #notes: string[];
  readonly #calls = new CallStream();
  readonly #started = performance.now();
  #firstAt: number | undefined;
  #lastAt = this.#started;
  #usage: Usage = {};
  #last: Choice | undefined;

  /** @param notes what is done in another way than asked for, as sentences */
  constructor(client: RemoteClient, notes: string[]) {
    this.#client = client;
    this.#notes = notes;
  }

  /**
   * The events that a chunk brings.
   *
   * @throws {RemoteError} 502 if it tells of a failure
   */
  *add(chunk: OpenAiChunk): Generator<ChatEvent> {
    if (chunk.error !== undefined || chunk.object === "error") {
      throw this.#client.error(502, this.#client.inItsWords(errorIn(chunk), "it failed"));
    }
    if (chunk.usage) this.#usage = chunk.usage;
    const choice = chunk.choices?.find(({ index = 0 }) => index === 0);
    if (!choice) return;
    for (const event of this.#pieces(choice)) {
      this.#lastAt = performance.now();
      this.#firstAt ??= this.#lastAt;
      yield event;
    }
    if (choice.finish_reason) this.#last = choice;
  }

  /**
   * The events at the end of the stream.
   *
   * @throws {RemoteError} 502 if the answer is not whole
   */
  *end(): Generator<ChatEvent> {
    if (!this.#last) throw this.#client.error(502, "its answer ended before it was whole");
    yield* this.#calls.end({ isCut: this.#last.finish_reason === "length" });
    yield this.#done(this.#last);
  }

  *#pieces({ delta, message, text: plain, logprobs }: Choice): Generator<ChatEvent> {
    const piece = delta ?? message ?? {};
    const thinking = piece.reasoning_content ?? piece.reasoning;
    const text = piece.content ?? piece.refusal ?? plain;
    const told: TokenLogprob[] | undefined = logprobs
      ? fromLogprobs(logprobs.content) ?? fromLogprobLists(logprobs)
      : undefined;
    if (thinking) yield { type: "thinking", text: thinking };
    if (text) yield { type: "text", text, ...(told && { logprobs: told }) };
    for (const call of piece.tool_calls ?? []) yield* this.#calls.add(call);
  }

  #done({ finish_reason: reason, stop_reason: stop }: Choice): DoneEvent {
    const firstAt = this.#firstAt ?? performance.now();
    return {
      type: "done",
      reason: reason === "length" ? "length" : "stop",
      ...(typeof stop === "string" && { stopString: stop }),
      usage: {
        promptTokens: this.#usage.prompt_tokens ?? 0,
        cachedTokens: this.#usage.prompt_tokens_details?.cached_tokens ?? 0,
        completionTokens: this.#usage.completion_tokens ?? 0,
        promptMilliseconds: firstAt - this.#started,
        completionMilliseconds: Math.max(0, this.#lastAt - firstAt),
      },
      ...(this.#notes.length > 0 && { notes: this.#notes }),
    };
  }
}
