// POST /v1/completions: the engine's events -> a stream of chunks, and the whole answer. One choice per
// prompt; thinking and calls have no place here. Pure.
// Format: https://platform.openai.com/docs/api-reference/completions/object

import type {
  DoneEvent,
  DoneReason,
  TokenLogprob,
  TokenProbability,
  Usage,
} from "../../../../../engine/mod.ts";
import { type Deviations, toDeviations } from "../../deviations.ts";
import type { AnswerHead, ChoiceEvent, EventEncoder } from "../../handler.ts";
import {
  type CompletionEvent,
  type CompletionRecord,
  failed,
  SYSTEM_FINGERPRINT,
  toSeconds,
  toUsage,
  waiting,
} from "../answer.ts";
import type { Completion, CompletionChunk, CompletionLogprobs } from "../answer_schema.ts";

/** The answer to one prompt so far. */
type Choice = Omit<CompletionChunk["choices"][number], "index">;

/** How completions are written. */
export interface CompletionOptions {
  /** Number of prompts. */
  choices: number;
  /** The prompts, if they are to be repeated before the completions. */
  echo: readonly string[];
  /** Whether a stream ends with the counts. */
  tellsUsage: boolean;
}

/** Completions of one prompt or more. */
export class CompletionEncoder implements EventEncoder<CompletionRecord<CompletionChunk>> {
  readonly #head: Omit<Completion, "choices" | "usage">;
  readonly #tellsUsage: boolean;
  readonly #choices: Choice[];
  /** Characters of each choice so far. */
  readonly #lengths: number[];
  /** The prompts that have yet to be repeated. */
  readonly #echo: string[];
  /** The last end of a choice. Each has the counts of all choices that have ended so far. */
  #done: DoneEvent | undefined;

  constructor({ id, model, now }: AnswerHead, { choices, echo, tellsUsage }: CompletionOptions) {
    this.#head = {
      id: `cmpl-${id}`,
      object: "text_completion",
      created: toSeconds(now()),
      model,
      system_fingerprint: SYSTEM_FINGERPRINT,
    };
    this.#tellsUsage = tellsUsage;
    const none = { text: "", logprobs: null, finish_reason: null };
    this.#choices = Array.from({ length: choices }, () => ({ ...none }));
    this.#lengths = this.#choices.map(() => 0);
    this.#echo = [...echo];
  }

  add(event: ChoiceEvent): CompletionEvent<CompletionChunk>[] {
    const index = event.choice ?? 0;
    if (event.type === "text") return [this.#give(index, event.text, null, event.logprobs)];
    if (event.type !== "done") return [];
    this.#done = event;
    const last = this.#give(index, "", event.reason, undefined, toDeviations(event));
    const isLast = this.#choices.every((choice) => choice.finish_reason !== null);
    return isLast ? [last, ...this.#end(event.usage)] : [last];
  }

  readonly waiting = waiting;

  readonly fail = failed;

  whole(): Completion {
    const choices = this.#choices.map(({ finish_reason: finish, ...choice }, index) => {
      return { ...choice, index, finish_reason: finish! };
    });
    const done = this.#done!;
    return { ...this.#head, choices, usage: toUsage(done.usage), ...toDeviations(done) };
  }

  #give(
    index: number,
    piece: string,
    finish: DoneReason | null = null,
    told?: readonly TokenLogprob[],
    extras: Deviations = {},
  ): CompletionEvent<CompletionChunk> {
    const choice = this.#choices[index]!;
    const text = (this.#echo[index] ?? "") + piece;
    this.#echo[index] = "";
    const logprobs = told ? toCompletionLogprobs(told, this.#lengths[index]!) : null;
    if (logprobs) append(choice.logprobs ??= noLogprobs(), logprobs);
    choice.text += text;
    this.#lengths[index]! += [...text].length;
    choice.finish_reason = finish;
    return this.#event([{ text, index, logprobs, finish_reason: finish }], extras);
  }

  #event(
    choices: CompletionChunk["choices"],
    extras: Pick<CompletionChunk, "usage" | keyof Deviations> = {},
  ): CompletionEvent<CompletionChunk> {
    const counts = this.#tellsUsage ? { usage: null } : {};
    return { data: { ...this.#head, choices, ...counts, ...extras } };
  }

  #end(usage: Usage): CompletionEvent<CompletionChunk>[] {
    return [...(this.#tellsUsage ? [this.#event([], { usage: toUsage(usage) })] : []), {
      data: "[DONE]",
    }];
  }
}

// Log-probabilities as POST /v1/completions has them: lists side by side, a token each. Pure.
// Format: https://platform.openai.com/docs/api-reference/completions/object

/** No tokens. */
function noLogprobs(): CompletionLogprobs {
  return { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] };
}

/**
 * The lists of a piece of text. Parts of a character begin where it does, so that offsets never go
 * back, and are named by their bytes.
 * @param offset characters before the piece
 */
export function toCompletionLogprobs(
  logprobs: readonly TokenLogprob[],
  offset: number,
): CompletionLogprobs {
  const all = noLogprobs();
  const decoder = new TextDecoder();
  for (const shown of logprobs) {
    const alternatives = shown.top.toReversed().map((other) => [nameOf(other), other.logprob]);
    all.tokens.push(nameOf(shown));
    all.token_logprobs.push(shown.logprob);
    all.top_logprobs.push({ [nameOf(shown)]: shown.logprob, ...Object.fromEntries(alternatives) });
    all.text_offset.push(offset);
    offset += [...decoder.decode(Uint8Array.from(shown.bytes), { stream: true })].length;
  }
  return all;
}

/** The text of a token; of a part of a character its bytes, as OpenAI's models named them. */
function nameOf({ token, bytes }: TokenProbability): string {
  if (!token.includes("\uFFFD")) return token;
  return `bytes:${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`;
}

/** Appends the second to the first. */
function append(all: CompletionLogprobs, more: CompletionLogprobs): void {
  all.tokens.push(...more.tokens);
  all.token_logprobs.push(...more.token_logprobs);
  all.top_logprobs.push(...more.top_logprobs);
  all.text_offset.push(...more.text_offset);
}
