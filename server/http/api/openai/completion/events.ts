// POST /v1/completions: the engine's events -> a stream of chunks, and the whole answer. One choice per
// prompt, or the best of several; thinking and calls have no place here. Pure.
// Format: https://platform.openai.com/docs/api-reference/completions/object

import type {
  DoneEvent,
  DoneReason,
  PromptEvent,
  TokenLogprob,
  TokenProbability,
  TokenScore,
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
import type {
  Completion,
  CompletionChunk,
  CompletionLogprobs,
  PromptLogprobs,
} from "../answer_schema.ts";

/** The answer to one prompt so far. */
type Choice = Omit<CompletionChunk["choices"][number], "index">;

/** How completions are written. */
export interface CompletionOptions {
  /** Number of continuations, those of one prompt in a row. */
  choices: number;
  /** How many of those of a prompt are given, and of how many the best. */
  answers: { given: number; of: number };
  /** The prompts, if they are to be repeated before the completions; "" of token ids. */
  echo: readonly string[];
  /** Alternatives of each token that are told; missing: no log-probabilities are. */
  alternatives?: number;
  /** Alternatives of each token of a prompt that are told apart from the text; missing: nothing is. */
  promptAlternatives?: number;
  /** Whether a stream ends with the counts. */
  tellsUsage: boolean;
}

/** Completions of one prompt or more. */
export class CompletionEncoder implements EventEncoder<CompletionRecord<CompletionChunk>> {
  readonly #head: Omit<Completion, "choices" | "usage">;
  readonly #options: CompletionOptions;
  readonly #choices: Choice[];
  /** Characters of each choice so far. */
  readonly #lengths: number[];
  /** The prompts that have yet to be repeated. */
  readonly #echo: string[];
  /** The log-probabilities of the tokens of each choice, and their number. */
  readonly #weights: { sum: number; count: number }[];
  /** The last end of a choice. Each has the counts of all choices that have ended so far. */
  #done: DoneEvent | undefined;

  constructor({ id, model, now }: AnswerHead, options: CompletionOptions) {
    const { choices, echo } = options;
    this.#head = {
      id: `cmpl-${id}`,
      object: "text_completion",
      created: toSeconds(now()),
      model,
      system_fingerprint: SYSTEM_FINGERPRINT,
    };
    this.#options = options;
    const none = { text: "", logprobs: null, finish_reason: null };
    this.#choices = Array.from({ length: choices }, () => ({ ...none }));
    this.#lengths = this.#choices.map(() => 0);
    this.#weights = this.#choices.map(() => ({ sum: 0, count: 0 }));
    this.#echo = [...echo];
  }

  add(event: ChoiceEvent): CompletionEvent<CompletionChunk>[] {
    const index = event.choice ?? 0;
    if (event.type === "prompt") return this.#givePrompt(index, event);
    if (event.type === "text") {
      this.#weigh(index, event.logprobs);
      return [this.#give(index, event.text, null, event.logprobs)];
    }
    if (event.type !== "done") return [];
    this.#done = event;
    // Harnesses count on a log-probability of every token, of that which ends an answer too.
    const ended = event.endToken && [event.endToken];
    this.#weigh(index, ended);
    const last = this.#give(index, "", event.reason, ended, toDeviations(event));
    const isLast = this.#choices.every((choice) => choice.finish_reason !== null);
    return isLast ? [last, ...this.#end(event.usage)] : [last];
  }

  readonly waiting = waiting;

  readonly fail = failed;

  whole(): Completion {
    const choices = this.#best().map(({ finish_reason: finish, ...choice }, index) => {
      return { ...choice, index, finish_reason: finish! };
    });
    const done = this.#done!;
    return { ...this.#head, choices, usage: toUsage(done.usage), ...toDeviations(done) };
  }

  /** Counts the tokens of an answer. */
  #weigh(index: number, logprobs: readonly TokenLogprob[] = []): void {
    const weight = this.#weights[index]!;
    for (const { logprob } of logprobs) weight.sum += logprob;
    weight.count += logprobs.length;
  }

  /** The choices that are given: of those of each prompt the ones with the likeliest tokens. */
  #best(): Choice[] {
    const { given, of } = this.#options.answers;
    if (given === of) return this.#choices;
    const order = this.#choices.map((choice, index) => {
      const { sum, count } = this.#weights[index]!;
      return { choice, prompt: Math.floor(index / of), mean: count > 0 ? sum / count : -Infinity };
    });
    return [...Map.groupBy(order, ({ prompt }) => prompt).values()].flatMap((one) =>
      one.sort((a, b) => b.mean - a.mean).slice(0, given).map(({ choice }) => choice)
    );
  }

  /** What is told of a prompt whose tokens were scored. */
  #givePrompt(index: number, { scores, added }: PromptEvent): CompletionEvent<CompletionChunk>[] {
    const { alternatives, promptAlternatives } = this.#options;
    const events: CompletionEvent<CompletionChunk>[] = [];
    if (promptAlternatives !== undefined) {
      const choice = this.#choices[index]!;
      choice.prompt_logprobs = toPromptLogprobs(scores, promptAlternatives);
      const told = { text: "", index, logprobs: null, finish_reason: null };
      events.push(this.#event([{ ...told, prompt_logprobs: choice.prompt_logprobs }]));
    }
    const given = this.#echo[index];
    if (given === undefined) return events;
    const tokens = scores.slice(added).map(({ text, bytes, logprob, top = [] }) => {
      return { token: text, bytes, logprob, top: top.slice(0, alternatives).map(named) };
    });
    const bytes = Uint8Array.from(tokens.flatMap(({ bytes }) => bytes));
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const whole = given || text;
    // Some vocabularies put a space before a text.
    if (text.endsWith(whole)) this.#lengths[index] = [...whole].length - [...text].length;
    this.#echo[index] = whole;
    const logprobs = alternatives === undefined ? undefined : tokens;
    events.push(this.#give(index, "", null, logprobs));
    this.#lengths[index] = [...whole].length;
    return events;
  }

  #give(
    index: number,
    piece: string,
    finish: DoneReason | null = null,
    told?: readonly ToldToken[],
    extras: Deviations = {},
  ): CompletionEvent<CompletionChunk> {
    const choice = this.#choices[index]!;
    const text = (this.#echo[index] ?? "") + piece;
    this.#echo[index] = "";
    // The best answers are chosen by log-probabilities that nobody else asked for.
    const isAsked = told && this.#options.alternatives !== undefined;
    const logprobs = isAsked ? toCompletionLogprobs(told, this.#lengths[index]!) : null;
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
    const counts = this.#options.tellsUsage ? { usage: null } : {};
    return { data: { ...this.#head, choices, ...counts, ...extras } };
  }

  #end(usage: Usage): CompletionEvent<CompletionChunk>[] {
    return [...(this.#options.tellsUsage ? [this.#event([], { usage: toUsage(usage) })] : []), {
      data: "[DONE]",
    }];
  }
}

// Log-probabilities as POST /v1/completions has them: lists side by side, a token each. Pure.
// Format: https://platform.openai.com/docs/api-reference/completions/object

/** A token of an answer, or of a prompt, whose first one has no log-probability. */
type ToldToken = Omit<TokenLogprob, "logprob"> & { logprob?: number | undefined };

function named({ text, bytes, logprob }: NonNullable<TokenScore["top"]>[number]): TokenProbability {
  return { token: text, bytes, logprob };
}

/** The tokens of a prompt as vLLM has them: a first one with nothing before it is null. */
function toPromptLogprobs(scores: readonly TokenScore[], alternatives: number): PromptLogprobs {
  return scores.map(({ id, text, logprob, rank, top = [] }) => {
    if (logprob === undefined) return null;
    const likeliest = top.slice(0, alternatives).map((other, index) => {
      return { id: other.id, logprob: other.logprob, rank: index + 1, decoded_token: other.text };
    }).filter((other) => other.id !== id);
    const all = [{ id, logprob, rank: rank!, decoded_token: text }, ...likeliest];
    return Object.fromEntries(all.map(({ id, ...told }) => [`${id}`, told]));
  });
}

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
  logprobs: readonly ToldToken[],
  offset: number,
): CompletionLogprobs {
  const all = noLogprobs();
  const decoder = new TextDecoder();
  for (const shown of logprobs) {
    const alternatives = shown.top.toReversed().map((other) => [nameOf(other), other.logprob]);
    all.tokens.push(nameOf(shown));
    const { logprob } = shown;
    all.token_logprobs.push(logprob ?? null);
    all.top_logprobs.push(
      logprob === undefined
        ? null
        : { [nameOf(shown)]: logprob, ...Object.fromEntries(alternatives) },
    );
    all.text_offset.push(Math.max(0, offset));
    offset += [...decoder.decode(Uint8Array.from(shown.bytes), { stream: true })].length;
  }
  return all;
}

/** The text of a token; of a part of a character its bytes, as OpenAI's models named them. */
function nameOf({ token, bytes }: Omit<TokenProbability, "logprob">): string {
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
