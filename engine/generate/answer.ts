// An answer while it is generated: decodes its tokens, gives their text to a reader, ends at an end token or
// where the reader finds a stop string, and counts. The scheduler calls begin, accept and end; what the
// client reads leaves through `events`.

import type { Mirostat } from "../../kernels/mod.ts";
import type { Tokenizer } from "../../tokenizer/mod.ts";
import { EngineError } from "../errors.ts";
import type { Hooks } from "../hooks/mod.ts";
import {
  type Prompt,
  type PromptItem,
  textTokens,
  type TokenKey,
  tokensOf,
} from "../prompt/mod.ts";
import type { RestoredTokens, Sequence, SequenceEnd, SequenceStep } from "../run/mod.ts";
import type {
  CacheReport,
  DoneEvent,
  DoneReason,
  GenerateRequest,
  ProgressEvent,
  QueuedEvent,
  StartEvent,
  TokenLogprob,
  Usage,
} from "../types/mod.ts";
import { cacheReport, type Opening, type TextHistory } from "./cache_report.ts";
import type { Constraint } from "./constraint.ts";
import { EventQueue } from "./event_queue.ts";
import { tokenLogprob } from "./logprobs.ts";
import type { AnswerReader } from "./text_reader.ts";
import type { ThinkingLimit } from "./thinking_limit.ts";
import { Timeline } from "./timeline.ts";

/** A request whose prompt may have images. */
export type PromptRequest = Omit<GenerateRequest, "prompt"> & { prompt: Prompt };

/** The events of every answer, whatever its text becomes. */
export type AnyAnswerEvent = QueuedEvent | StartEvent | ProgressEvent | DoneEvent;

/** Tokens of a prompt by which people know it. */
const TITLE_TOKENS = 32;

/** What an answer is made of and by. */
export interface AnswerParts<Piece> {
  readonly request: PromptRequest;
  readonly tokenizer: Tokenizer;
  readonly prompt: readonly PromptItem[];
  /** Positions of the prompt. */
  readonly promptTokens: number;
  readonly maxTokens: number;
  readonly reader: AnswerReader<Piece>;
  readonly constraint: Constraint | undefined;
  readonly mirostat: Mirostat | undefined;
  readonly limit: ThinkingLimit | undefined;
  /** Tokens that end it, beside the model's own. */
  readonly stopTokens: ReadonlySet<number>;
  /** Log-probabilities of how many other tokens are wanted; undefined: of none, not even its own. */
  readonly alternatives: number | undefined;
  /** Whether control tokens become their pieces. */
  readonly showControl: boolean;
  /** The conversations before, and what the prompt has in common with them. */
  readonly history: TextHistory;
  readonly keys: readonly TokenKey[];
  readonly opening: Opening;
  /** By what people know the prompt; undefined: the beginning of its text. */
  readonly title: string | undefined;
  /** The message of a chat in which an offset of the prompt's text lies. */
  readonly locate: ((offset: number) => number | undefined) | undefined;
  /** Waits for no function of the request any more. */
  readonly abandon: () => void;
}

/** One answer. */
export class Answer<Piece> {
  readonly events = new EventQueue<Piece | AnyAnswerEvent>(() => this.#leave());
  /** What generates it, once it is queued. */
  sequence: Sequence | undefined;
  hooks: Hooks | undefined;
  readonly #parts: AnswerParts<Piece>;
  readonly #decoder: { push(token: number): string; flush(): string };
  readonly #timeline: Timeline | undefined;
  readonly #started = performance.now();
  #first = this.#started;
  #count = 0;
  #cached = 0;
  #readSince = this.#started;
  #fromBeyond: Pick<Usage, "fromMemoryTokens" | "fromDiskTokens"> = {};
  #failure: Error | undefined;
  /** Tokens whose text was not read yet, and their log-probabilities. */
  #pending: number[] = [];
  #logprobs: TokenLogprob[] = [];
  #endToken: TokenLogprob | undefined;
  #isOvertime = false;

  constructor(parts: AnswerParts<Piece>) {
    const { tokenizer, request, prompt, showControl } = parts;
    this.#parts = parts;
    this.#timeline = request.timeline ? new Timeline() : undefined;
    this.#decoder = tokenizer.hasText
      ? tokenizer.streamDecoder({
        special: showControl,
        // Stop strings of models are often marks of turns that are not the end of an answer by itself.
        shown: request.stop ?? [],
        textStart: prompt.every((item) => item === tokenizer.bosToken),
      })
      : { push: () => "", flush: () => "" };
  }

  readonly wait = (ahead: number): void => this.events.push({ type: "queued", ahead });

  readonly progress = (processedTokens: number): void => {
    const { promptTokens } = this.#parts;
    const milliseconds = performance.now() - this.#readSince;
    const cachedTokens = this.#cached;
    this.events.push({
      type: "progress",
      promptTokens,
      cachedTokens,
      processedTokens,
      milliseconds,
    });
  };

  /** Takes the steps, where the request asks when they ran. */
  get stepped(): ((step: SequenceStep) => void) | undefined {
    return this.#timeline?.add;
  }

  readonly begin = (cachedTokens: number, restored: RestoredTokens): void => {
    const { promptTokens, request } = this.#parts;
    this.#cached = cachedTokens;
    this.#readSince = performance.now();
    this.#fromBeyond = {
      ...(restored.fromMemory > 0 && { fromMemoryTokens: restored.fromMemory }),
      ...(restored.fromDisk > 0 && { fromDiskTokens: restored.fromDisk }),
    };
    this.events.push({ type: "start", promptTokens, cachedTokens });
    if (request.progress) this.progress(cachedTokens);
  };

  readonly accept = (token: number, logits?: Float32Array): boolean => {
    const { request, tokenizer, constraint, mirostat, limit, reader, alternatives } = this.#parts;
    if (this.#count++ === 0) this.#first = performance.now();
    const allowed = constraint?.allowed;
    if (constraint?.accept(token) === false) {
      this.#failure = constraint.failure ??
        new EngineError(`Cannot go on: the model chose token ${token} against its mask`);
      return false;
    }
    if (logits) mirostat?.take();
    const logprob = logits && alternatives !== undefined
      ? tokenLogprob(logits, token, alternatives, tokenizer, allowed)
      : undefined;
    const isEnd = !request.ignoreEnd && tokenizer.endOfGeneration.has(token);
    if (isEnd || this.#parts.stopTokens.has(token)) {
      this.#endToken = logprob;
      return false;
    }
    this.#pending.push(token);
    if (logprob) this.#logprobs.push(logprob);
    const text = this.#decoder.push(token);
    limit?.take(text);
    this.#read(text);
    const { maxMilliseconds = 0 } = request;
    this.#isOvertime = maxMilliseconds > 0 && text.includes("\n") &&
      performance.now() - this.#first > maxMilliseconds;
    return reader.stopString === undefined && !constraint?.mustEnd && !this.#isOvertime;
  };

  readonly end = (reason: SequenceEnd): void => {
    this.#parts.request.signal?.removeEventListener("abort", this.abort);
    this.hooks?.[Symbol.dispose]();
    if (typeof reason === "object") return this.events.close(reason);
    if (reason === "aborted") return this.events.close();
    this.#failure ??= this.#parts.constraint?.failure;
    if (this.#failure) return this.events.close({ error: this.#failure });
    try {
      this.#conclude(reason);
      this.events.close();
    } catch (error) {
      this.events.close({ error });
    }
  };

  /** Ends it at once, without an event. */
  readonly abort = (): void => {
    this.#leave();
    this.events.close();
  };

  #leave(): void {
    this.sequence?.abort();
    this.#parts.abandon();
  }

  #read(text: string): void {
    const { tokenizer, reader, constraint, maxTokens, alternatives } = this.#parts;
    // With a vocabulary without text, there are only tokens.
    if (text === "" && tokenizer.hasText) return;
    const decoded = {
      text,
      tokens: this.#pending,
      ...(alternatives !== undefined && { logprobs: this.#logprobs }),
    };
    const isSure = () => constraint?.endsWithin(maxTokens - this.#count) ?? false;
    for (const event of reader.push(decoded, isSure)) this.events.push(event);
    [this.#pending, this.#logprobs] = [[], []];
  }

  #conclude(reason: DoneReason): void {
    const { request, reader, constraint, prompt } = this.#parts;
    if (reader.stopString === undefined) this.#readRest(reason);
    const { stopString } = reader;
    const usage = this.#usage();
    const report = this.#remember(usage);
    const notes = constraint?.warnings ?? [];
    const isShort = constraint?.isShortened || this.#isOvertime;
    this.events.push({
      type: "done",
      reason: stopString !== undefined ? "stop" : isShort ? "length" : reason,
      usage,
      ...(stopString !== undefined && { stopString }),
      ...(this.#endToken && { endToken: this.#endToken }),
      ...(this.hooks && { captured: this.hooks.captured }),
      ...(request.cacheReport && { cacheReport: report }),
      ...(this.#timeline && { timeline: this.#timeline.spans }),
      ...(notes.length > 0 && { notes }),
      ...(request.context && { context: textTokens(this.sequence?.tokens ?? tokensOf(prompt)) }),
    });
  }

  /** Reads what the decoder and the reader have held back. */
  #readRest(reason: DoneReason): void {
    const { reader, constraint } = this.#parts;
    const rest = this.#decoder.flush();
    if (rest !== "") this.#read(rest);
    const isCut = reason === "length" || this.#isOvertime;
    const isWhole = !isCut || (constraint?.isComplete ?? false);
    for (const event of reader.end({ isCut, isWhole })) this.events.push(event);
  }

  #usage(): Usage {
    const now = performance.now();
    const { drafts } = this.sequence ?? {};
    return {
      promptTokens: this.#parts.promptTokens,
      cachedTokens: this.#cached,
      ...this.#fromBeyond,
      completionTokens: this.#count,
      ...(drafts?.drafted && {
        draftedTokens: drafts.drafted,
        acceptedTokens: drafts.accepted,
      }),
      promptMilliseconds: (this.#count > 0 ? this.#first : now) - this.#started,
      completionMilliseconds: this.#count > 0 ? now - this.#first : 0,
    };
  }

  /** Adds it to the conversations of the model, with what the prefix cache did for it. */
  #remember(usage: Usage): CacheReport {
    const { request, history, keys, opening, prompt, tokenizer, locate } = this.#parts;
    const { title = beginningOf(prompt, tokenizer) } = this.#parts;
    const milliseconds = (this.#count > 0 ? this.#first : performance.now()) - this.#readSince;
    const report = cacheReport({ prompt: keys, opening, usage, milliseconds, tokenizer, locate });
    const { sequence } = this;
    history.add({
      tokens: sequence ? [...sequence.keys(0, sequence.tokens.length)] : keys,
      promptLength: keys.length,
      opening,
      title,
      session: request.session,
      owner: request.share?.id ?? "",
      report,
    });
    return report;
  }
}

/** The text by which people know a prompt; none where the vocabulary has no text. */
function beginningOf(prompt: readonly PromptItem[], tokenizer: Tokenizer): string {
  if (!tokenizer.hasText) return "";
  return tokenizer.decode(textTokens(tokensOf(prompt)).slice(0, TITLE_TOKENS));
}
