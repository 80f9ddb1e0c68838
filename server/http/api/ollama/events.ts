// The engine's events -> the native API's records. Pure: times are given, not taken.
// Format: https://github.com/ollama/ollama/blob/main/docs/api.md

import type { ChatEvent, DoneEvent, DoneReason, Usage } from "../../../../engine/mod.ts";
import { type MaskedLogprob, toMaskedLogprobs } from "../logprobs.ts";
import type {
  ChatRecord,
  GenerateRecord,
  OllamaError,
  OllamaExtras,
  OllamaMetrics,
  OllamaRecord,
  OllamaToolCall,
} from "./answer_schema.ts";
import { type Deviations, toDeviations } from "../deviations.ts";
import { nanoseconds, toProgress } from "../options.ts";
import { argumentsOfText } from "../tools.ts";
import type { AnswerHead, ChoiceEvent, EventEncoder } from "../handler.ts";
import { sentenceOf } from "../../errors.ts";

/** The part of a record that carries text. */
export type OllamaText =
  | Pick<ChatRecord, "message" | "logprobs">
  | Pick<GenerateRecord, "response" | "logprobs" | keyof OllamaExtras>;

/** The facts that a final record has besides text. */
type FinalExtras =
  & OllamaMetrics
  & Deviations
  & Pick<GenerateRecord, "context">;

/** How an answer stands in a record: the difference between those of chat and generate. */
export type TextForm = (text: string, extras?: OllamaExtras) => OllamaText;

export const chatText: TextForm = (content, extras) => ({
  message: { role: "assistant", content, ...extras },
});
export const generateText: TextForm = (response, extras) => ({ response, ...extras });

/** Gathers the text, thinking, calls and log-probabilities of an answer or a part of one. */
class AnswerParts {
  #text = "";
  #thinking = "";
  #calls: OllamaToolCall[] = [];
  /** JSON text of the call that is coming. */
  #json = "";
  #logprobs: MaskedLogprob[] = [];
  #index = 0;

  /** Takes an event. A call is told when it is complete. */
  add(event: ChatEvent): void {
    if (event.type === "text") this.#text += event.text;
    if (event.type === "thinking") this.#thinking += event.text;
    if ("logprobs" in event && event.logprobs) {
      this.#logprobs.push(...toMaskedLogprobs(event.logprobs));
    }
    if (event.type === "callStart") this.#json = "";
    if (event.type === "callArguments") this.#json += event.json;
    if (event.type === "callEnd") {
      const { id, name } = event;
      const values = argumentsOfText(this.#json) ?? event.arguments;
      this.#calls.push({ id, function: { index: this.#index++, name, arguments: values } });
    }
  }

  /** The text that was gathered since the last call; undefined if there is none. */
  take(form: TextForm): OllamaText | undefined {
    const [text, thinking, calls, logprobs] = [
      this.#text,
      this.#thinking,
      this.#calls,
      this.#logprobs,
    ];
    [this.#text, this.#thinking, this.#calls, this.#logprobs] = ["", "", [], []];
    if (text === "" && thinking === "" && calls.length === 0) return undefined;
    const extras = {
      ...(thinking && { thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return { ...form(text, extras), ...(logprobs.length > 0 && { logprobs }) };
  }
}

/** The encoder of the answers of both endpoints. */
export class OllamaEncoder implements EventEncoder<OllamaRecord | OllamaError> {
  readonly #head: AnswerHead;
  readonly #form: TextForm;
  /** The members of the next record of a stream, and those of the whole answer. */
  readonly #next = new AnswerParts();
  readonly #all = new AnswerParts();
  #done: DoneEvent | undefined;

  constructor(head: AnswerHead, form: TextForm) {
    this.#head = head;
    this.#form = form;
  }

  add(event: ChoiceEvent): OllamaRecord[] {
    if (event.type === "progress") {
      return [{ ...this.#record(this.#form("")), ...toProgress(event) }];
    }
    this.#next.add(event);
    this.#all.add(event);
    const part = this.#next.take(this.#form);
    const records = part ? [this.#record(part)] : [];
    if (event.type !== "done") return records;
    this.#done = event;
    return [...records, this.#final(this.#form(""), event)];
  }

  /** A record without text, which adds nothing to what clients show. */
  waiting(ahead: number | undefined): OllamaRecord[] {
    const record = this.#record(this.#form(""));
    return [{ ...record, ...(ahead !== undefined && { queued_ahead: ahead }) }];
  }

  fail(error: unknown): OllamaError {
    return { error: sentenceOf(error) };
  }

  /** The final record, with the whole answer in it. */
  whole(): OllamaRecord {
    return this.#final(this.#all.take(this.#form) ?? this.#form(""), this.#done!);
  }

  #record(text: OllamaText): OllamaRecord {
    const { model, now } = this.#head;
    return { model, created_at: now().toISOString(), ...text, done: false };
  }

  #final(text: OllamaText, done: DoneEvent): OllamaRecord {
    const { model, now, elapsed, loadMilliseconds } = this.#head;
    const extras = toExtras(done, elapsed(), loadMilliseconds);
    return finalRecord(model, now(), text, done.reason, extras);
  }
}

/** The last record, or the only one. */
export function finalRecord(
  model: string,
  at: Date,
  text: OllamaText,
  reason: DoneReason | "load" | "unload",
  extras: FinalExtras = {},
): OllamaRecord {
  return {
    model,
    created_at: at.toISOString(),
    ...text,
    done: true,
    done_reason: reason,
    ...extras,
  };
}

/** The answer to `_debug_render_only`: the text of the prompt, for which nothing was generated. */
export function renderedRecord(
  model: string,
  at: Date,
  text: OllamaText,
  rendered: string,
  images: number,
): OllamaRecord {
  const info = { rendered_template: rendered, ...(images > 0 && { image_count: images }) };
  return { model, created_at: at.toISOString(), ...text, done: false, _debug_info: info };
}

/** The figures of a final record. Times in milliseconds. */
function toExtras(done: DoneEvent, total: number, load: number): FinalExtras {
  const { context, usage } = done;
  return {
    ...(context && { context }),
    ...toMetrics(usage, total, load),
    ...toDeviations(done),
  };
}

function toMetrics(usage: Usage, total: number, load: number): OllamaMetrics {
  const metrics = {
    total_duration: nanoseconds(total),
    // Clients compute with it, and Ollama's is never 0: looking a loaded model up takes time.
    load_duration: Math.max(1, nanoseconds(load)),
    prompt_eval_count: usage.promptTokens,
    prompt_cached_count: usage.cachedTokens,
    prompt_eval_duration: nanoseconds(usage.promptMilliseconds),
    eval_count: usage.completionTokens,
    draft_n: usage.draftedTokens ?? 0,
    draft_accepted: usage.acceptedTokens ?? 0,
    eval_duration: nanoseconds(usage.completionMilliseconds),
  };
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== 0));
}
