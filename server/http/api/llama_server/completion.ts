// POST /completion and /infill: bodies -> the engine's requests, and its events -> llama-server's
// pieces of an answer. Pure.

import type { DoneEvent, ModelInfo, TokenLogprob } from "../../../../engine/mod.ts";
import { HttpError, sentenceOf } from "../../errors.ts";
import type { ServerSentEvent, SseComment } from "../../stream/stream.ts";
import { toDeviations } from "../deviations.ts";
import { isAlternatives, MOST_ALTERNATIVES, toLogprobs } from "../logprobs.ts";
import type { AnswerHead, ChoiceEvent, EventEncoder, Translation } from "../handler.ts";
import { waiting } from "../openai/answer.ts";
import type { OpenAiError } from "../openai/answer_schema.ts";
import { openAiError } from "../openai/errors.ts";
import { readWishes, refuseVariables } from "../wishes.ts";
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
  const { engine, think, around } = readWishes(body, info);
  refuseVariables(think);
  const { n_probs: alternatives } = body;
  if (alternatives && !isAlternatives(alternatives)) {
    throw new HttpError(400, `n_probs must be between 0 and ${MOST_ALTERNATIVES}`, "n_probs");
  }
  const told = alternatives ? { logprobs: alternatives } : {};
  return { ...around, tasks: [{ kind: "generate", request: { ...engine, ...told, ...request } }] };
}

/** The records of a stream. */
export type LlamaRecord = ServerSentEvent<LlamaCompletion | OpenAiError> | SseComment;

/** What a request wants to be told besides the text. */
type AskedFacts = Pick<LlamaCompletionBody, "return_tokens" | "response_fields">;

/** An answer, piece by piece. */
export class LlamaEncoder implements EventEncoder<LlamaRecord> {
  readonly #model: string;
  readonly #body: AskedFacts;
  #text = "";
  #tokens: number[] = [];
  #logprobs: TokenLogprob[] = [];
  #done: DoneEvent | undefined;

  constructor({ model }: AnswerHead, body: AskedFacts = {}) {
    this.#model = model;
    this.#body = body;
  }

  add(event: ChoiceEvent): LlamaRecord[] {
    if (event.type === "text") {
      const { text, logprobs = [] } = event;
      const tokens = "tokens" in event ? event.tokens as number[] : [];
      this.#text += text;
      this.#tokens.push(...tokens);
      this.#logprobs.push(...logprobs);
      const piece = { index: 0 as const, content: text, stop: false };
      return [{ data: this.#shown({ ...piece, ...this.#facts(tokens, logprobs) }) }];
    }
    if (event.type !== "done") return [];
    this.#done = event;
    return [{ data: this.#shown(this.#end("")) }];
  }

  readonly waiting = waiting;

  fail(error: unknown): LlamaRecord {
    return { data: openAiError(500, sentenceOf(error), error) };
  }

  whole(): LlamaCompletion {
    return this.#shown({
      ...this.#end(this.#text),
      ...this.#facts(this.#tokens, this.#logprobs),
    });
  }

  /** What is asked for of tokens. */
  #facts(
    tokens: number[],
    logprobs: TokenLogprob[],
  ): Pick<LlamaCompletion, "tokens" | "completion_probabilities"> {
    return {
      ...(this.#body.return_tokens && { tokens }),
      ...(logprobs.length > 0 && { completion_probabilities: toLogprobs(logprobs) }),
    };
  }

  /** The members that are asked for; all unless it is said. */
  #shown(answer: LlamaCompletion): LlamaCompletion {
    const fields = this.#body.response_fields;
    if (!fields?.length) return answer;
    const found = fields.flatMap((field) => {
      const path = field.split("/");
      // deno-lint-ignore no-explicit-any
      const value = path.reduce((at: any, name) => at?.[name], answer);
      return value === undefined ? [] : [[path.at(-1)!, value]];
    });
    return Object.fromEntries(found) as LlamaCompletion;
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
