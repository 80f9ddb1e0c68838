// POST /v1/completions: the engine's events -> a stream of chunks, and the whole answer. One choice per
// prompt; thinking and calls have no place here. Pure.
// Format: https://platform.openai.com/docs/api-reference/completions/object

import type { DoneEvent, DoneReason, TokenLogprob, Usage } from "../../../../../engine/mod.ts";
import {
  type CompletionEvent,
  type CompletionRecord,
  failed,
  SYSTEM_FINGERPRINT,
  toSeconds,
  toUsage,
  waiting,
} from "../answer.ts";
import { type Deviations, toDeviations } from "../../deviations.ts";
import type { AnswerHead, ChoiceEvent, EventEncoder } from "../../handler.ts";
import type { Completion, CompletionChunk } from "../answer_schema.ts";
import { append, noLogprobs, toCompletionLogprobs } from "./logprobs.ts";

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
