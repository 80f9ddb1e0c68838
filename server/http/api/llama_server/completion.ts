// POST /completion and /infill: bodies -> the engine's requests, and its events -> llama-server's
// pieces of an answer. Pure.

import type { DoneEvent, ModelInfo } from "../../../../engine/mod.ts";
import { HttpError, sentenceOf } from "../../errors.ts";
import type { ServerSentEvent, SseComment } from "../../stream/stream.ts";
import { toDeviations } from "../deviations.ts";
import type { AnswerHead, ChoiceEvent, EventEncoder, Translation } from "../handler.ts";
import { waiting } from "../openai/answer.ts";
import type { OpenAiError } from "../openai/answer_schema.ts";
import { openAiError } from "../openai/errors.ts";
import { readWishes } from "../wishes.ts";
import type { LlamaCompletion } from "./answer_schema.ts";
import type { LlamaCompletionBody, LlamaInfillBody } from "./schema.ts";

/** @throws {HttpError} 400 for what cannot be done */
export function translateCompletion(body: LlamaCompletionBody, info: ModelInfo): Translation {
  const { prompt } = body;
  if (prompt == null) throw new HttpError(400, "prompt is required", "prompt");
  return translate(body, info, { prompt: prompt as string | number[] });
}

/** @throws {HttpError} 400 for what cannot be done, and for a model without tokens for gaps */
export function translateInfill(body: LlamaInfillBody, info: ModelInfo): Translation {
  const { input_prefix: prefix, input_suffix: suffix, input_extra: extras, prompt } = body;
  if (!info.fillsInMiddle) {
    throw new HttpError(400, `"${body.model}" does not support insert`, "model");
  }
  const around = (extras ?? []).map((extra) => `${extra?.filename ?? ""}\n${extra?.text ?? ""}\n`);
  return translate(body, info, {
    prompt: [...around, prefix ?? "", prompt ?? ""].join(""),
    suffix: suffix ?? "",
  });
}

function translate(
  body: LlamaCompletionBody | LlamaInfillBody,
  info: ModelInfo,
  request: { prompt: string | number[]; suffix?: string },
): Translation {
  if (info.isEmbeddingModel) {
    throw new HttpError(400, `"${body.model}" does not support generate`, "model");
  }
  const { engine, around } = readWishes(body, info);
  return { ...around, tasks: [{ kind: "generate", request: { ...engine, ...request } }] };
}

/** The records of a stream. */
export type LlamaRecord = ServerSentEvent<LlamaCompletion | OpenAiError> | SseComment;

/** An answer, piece by piece. */
export class LlamaEncoder implements EventEncoder<LlamaRecord> {
  readonly #model: string;
  #text = "";
  #done: DoneEvent | undefined;

  constructor({ model }: AnswerHead) {
    this.#model = model;
  }

  add(event: ChoiceEvent): LlamaRecord[] {
    if (event.type === "text") {
      this.#text += event.text;
      return [{ data: { index: 0, content: event.text, stop: false } }];
    }
    if (event.type !== "done") return [];
    this.#done = event;
    return [{ data: this.#end("") }];
  }

  readonly waiting = waiting;

  fail(error: unknown): LlamaRecord {
    return { data: openAiError(500, sentenceOf(error), error) };
  }

  whole(): LlamaCompletion {
    return this.#end(this.#text);
  }

  #end(content: string): LlamaCompletion {
    const done = this.#done!;
    const { promptTokens, cachedTokens, completionTokens } = done.usage;
    const isWord = done.stopString !== undefined;
    return {
      index: 0,
      content,
      stop: true,
      model: this.#model,
      tokens_predicted: completionTokens,
      tokens_evaluated: promptTokens,
      tokens_cached: cachedTokens,
      truncated: false,
      stop_type: done.reason === "length" ? "limit" : isWord ? "word" : "eos",
      stopping_word: done.stopString ?? "",
      timings: {
        prompt_n: promptTokens - cachedTokens,
        prompt_ms: done.usage.promptMilliseconds,
        predicted_n: completionTokens,
        predicted_ms: done.usage.completionMilliseconds,
        cache_n: cachedTokens,
      },
      ...toDeviations(done),
    };
  }
}
