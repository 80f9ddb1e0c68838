// From a prompt to a stream of events: encodes the prompt, queues a sequence, decodes its tokens,
// gives their text to a reader, ends at an end token or where the reader finds a stop string, and
// counts. It handles one request; the scheduler runs many.

import { FILTERS_OFF, Mirostat, type ResolvedSampling } from "../../kernels/mod.ts";
import type { Tokenizer } from "../../tokenizer/mod.ts";
import { flagsOf, isCancelled } from "../cancellation.ts";
import { EngineError, RequestError } from "../errors.ts";
import { Hooks } from "../hooks/mod.ts";
import {
  encodePrompt,
  type Prompt,
  type PromptContext,
  type PromptItem,
  promptLength,
  PromptRuns,
  textTokens,
  tokensOf,
} from "../prompt/mod.ts";
import {
  type RestoredTokens,
  type Scheduler,
  type Sequence,
  type SequenceEnd,
  type StepObserver,
  withAdapters,
} from "../run/mod.ts";
import {
  type DoneEvent,
  type DoneReason,
  type GenerateEvent,
  type GenerateRequest,
  type OptionInfo,
  type ProgressEvent,
  type QueuedEvent,
  SAMPLING_OPTIONS,
  type SamplingOptions,
  type StartEvent,
  TOKEN_OPTIONS,
  type TokenLogprob,
} from "../types/mod.ts";
import { answerBiases, checkToken, onlyTokens } from "./answer_biases.ts";
import { cacheReport, TextHistory } from "./cache_report.ts";
import { type AnswerEnding, Constraint } from "./constraint.ts";
import { EventQueue } from "./event_queue.ts";
import { HostChoice } from "./host_choice.ts";
import { checkLogprobs, tokenLogprob } from "./logprobs.ts";
import { type AnswerReader, TextReader } from "./text_reader.ts";
import { ThinkingLimit, type ThinkingSyntax } from "./thinking_limit.ts";

/** The parts of a model that a generation needs. */
export interface GenerateContext extends PromptContext {
  readonly scheduler: Scheduler;
  /** Where hooks are set. Missing: a request that has any is refused. */
  readonly observer?: StepObserver;
}

/** A request whose prompt may have images. */
export type PromptRequest = Omit<GenerateRequest, "prompt"> & { prompt: Prompt };

/** The options of decoding tokens to text. */
export interface GenerateOptions {
  /**
   * Whether control tokens become their pieces, for a parser that looks for them. Default false.
   */
  readonly showControl?: boolean;
  /** The marks of thinking, if the answer may contain thinking, by which it can be ended. */
  readonly thinking?: ThinkingSyntax | undefined;
  /** The end of the prompt with which the answer's format begins. Default: none. */
  readonly begun?: string;
  /** What becomes of an answer with a format when tokens run out. Default: `document`. */
  readonly ending?: AnswerEnding;
  /** By what people know the prompt. Default: the beginning of its text. */
  readonly title?: string;
  /** The message of a chat in which a place of the prompt's text lies. */
  readonly locate?: (offset: number) => number | undefined;
}

/** Tokens of a prompt by which people know it. */
const TITLE_TOKENS = 32;

/** The last conversations of each model. */
const histories = new WeakMap<Scheduler, TextHistory>();

/** The last conversations of a model. */
export function historyOf(scheduler: Scheduler): TextHistory {
  const history = histories.get(scheduler) ?? new TextHistory();
  histories.set(scheduler, history);
  return history;
}

/** The events of every answer, whatever its text becomes. */
type AnyAnswerEvent = QueuedEvent | StartEvent | ProgressEvent | DoneEvent;

/** Queues a generation whose answer is all text. Errors: those of answer(). */
export function generate(
  context: GenerateContext,
  request: PromptRequest,
): AsyncIterableIterator<GenerateEvent> {
  return answer(context, request, new TextReader(request.stop ?? [], request.includeStop));
}

/**
 * Queues a generation. Errors at once: CancelledError, RequestError, ContextLengthError,
 * ModelClosedError, and SchemaError or GrammarError of its format.
 *
 * @param reader makes events of the answer's text, and finds the request's stop strings in it
 */
export function answer<Piece>(
  context: GenerateContext,
  request: PromptRequest,
  reader: AnswerReader<Piece>,
  {
    showControl = false,
    thinking,
    begun = "",
    ending = "document",
    title,
    locate,
  }: GenerateOptions = {},
): AsyncIterableIterator<Piece | AnyAnswerEvent> {
  const { scheduler, observer, tokenizer, contextLength } = context;
  const prompt = encodePrompt(context, request);
  const promptTokens = promptLength(prompt);
  const { format, finish = true, masks = false } = request;
  checkLogprobs(request.logprobs);
  const alternatives = request.logprobs ?? (masks ? 0 : undefined);
  const constraint = format &&
    new Constraint(format, tokenizer, finish ? ending : undefined, request);
  if (masks) constraint?.keepMasks();
  if (constraint?.begin(begun) === false) {
    throw constraint.failure ??
      new RequestError("Cannot continue the last message: the format has no answer that begins so");
  }
  const { allowedTokens = [] } = request;
  if (constraint && allowedTokens.length > 0) {
    throw new RequestError("Cannot generate: allowedTokens and a format exclude each other");
  }
  const allowed = allowedTokens.length > 0 ? onlyTokens(allowedTokens, tokenizer) : constraint;
  const resolved = resolveSampling(request, contextLength, allowed !== undefined);
  const mirostat = mirostatOf(request, resolved);
  const sampling = mirostat ? { ...resolved, ...FILTERS_OFF, topK: 0, topP: 1 } : resolved;
  for (const [name, info] of Object.entries<OptionInfo>(TOKEN_OPTIONS)) {
    const value = request[name as keyof typeof TOKEN_OPTIONS];
    if (typeof value === "number") check(name, value, info);
  }
  const stopTokens = new Set(request.stopTokens?.map((token) => checkToken(token, tokenizer)));
  const biases = answerBiases(request, tokenizer, { promptLength: promptTokens, contextLength });
  const { logitsProcessors, sampler } = request;
  const choice = new HostChoice({
    ...(logitsProcessors && { logitsProcessors }),
    ...(sampler && { sampler }),
    sampling,
    biases,
    mirostat,
    promptLength: promptTokens,
  });
  const wanted = request.maxTokens ?? Infinity;
  if (Number.isNaN(wanted)) throw new RequestError("Cannot generate: maxTokens is no number");
  const maxTokens = Math.min(wanted, contextLength - promptTokens);
  if (maxTokens > 0) constraint?.checkRoom(maxTokens);
  const { maxMilliseconds = 0 } = request;
  if (Number.isNaN(maxMilliseconds)) {
    throw new RequestError("Cannot generate: maxMilliseconds is no number");
  }
  let isOvertime = false;
  const history = historyOf(scheduler);
  const owner = request.share?.id ?? "";
  const runs = new PromptRuns(prompt);
  const keys = withAdapters(runs.keysOf(tokensOf(prompt), 0), context.adapterScales);
  const opening = history.opening(keys, owner);
  const started = performance.now();
  let first = started;
  let count = 0;
  let cached = 0;
  let readSince = started;
  let fromBeyond = {};
  let failure: Error | undefined;
  let pending: number[] = [];
  let logprobs: TokenLogprob[] = [];
  let endToken: TokenLogprob | undefined;
  const limit = thinking && limitOf(thinking, request, tokenizer);
  const decoder = tokenizer.hasText
    ? tokenizer.streamDecoder({
      special: showControl,
      // Stop strings of models are often marks of turns that are not the end of an answer by itself.
      shown: request.stop ?? [],
      textStart: startsText(tokenizer, prompt),
    })
    : { push: () => "", flush: () => "" };

  const events = new EventQueue<Piece | AnyAnswerEvent>(() => leave());
  const read = (text: string) => {
    // With a vocabulary without text, there are only tokens.
    if (text === "" && tokenizer.hasText) return;
    const decoded = { text, tokens: pending, ...(alternatives !== undefined && { logprobs }) };
    for (const event of reader.push(decoded, isSure)) events.push(event);
    [pending, logprobs] = [[], []];
  };
  const isSure = () => constraint?.endsWithin(maxTokens - count) ?? false;
  const wait = (ahead: number) => events.push({ type: "queued", ahead });
  const progress = (processedTokens: number): void => {
    const milliseconds = performance.now() - readSince;
    events.push({
      type: "progress",
      promptTokens,
      cachedTokens: cached,
      processedTokens,
      milliseconds,
    });
  };
  const begin = (cachedTokens: number, restored: RestoredTokens): void => {
    cached = cachedTokens;
    readSince = performance.now();
    fromBeyond = {
      ...(restored.fromMemory > 0 && { fromMemoryTokens: restored.fromMemory }),
      ...(restored.fromDisk > 0 && { fromDiskTokens: restored.fromDisk }),
    };
    events.push({ type: "start", promptTokens, cachedTokens });
    if (request.progress) progress(cachedTokens);
  };
  const accept = (token: number, logits?: Float32Array): boolean => {
    if (count++ === 0) first = performance.now();
    const allowed = constraint?.allowed;
    if (constraint?.accept(token) === false) {
      failure = constraint.failure ??
        new EngineError(`Cannot go on: the model chose token ${token} against its mask`);
      return false;
    }
    if (logits) mirostat?.take();
    const told = logits && alternatives !== undefined
      ? tokenLogprob(logits, token, alternatives, tokenizer, allowed)
      : undefined;
    const isEnd = !request.ignoreEnd && tokenizer.endOfGeneration.has(token);
    if (isEnd || stopTokens.has(token)) {
      endToken = told;
      return false;
    }
    pending.push(token);
    if (told) logprobs.push(told);
    const text = decoder.push(token);
    limit?.take(text);
    read(text);
    isOvertime = maxMilliseconds > 0 && text.includes("\n") &&
      performance.now() - first > maxMilliseconds;
    return reader.stopString === undefined && !constraint?.mustEnd && !isOvertime;
  };
  const end = (reason: SequenceEnd): void => {
    request.signal?.removeEventListener("abort", abort);
    hooks?.[Symbol.dispose]();
    if (typeof reason === "object") return events.close(reason);
    if (reason === "aborted") return events.close();
    failure ??= constraint?.failure;
    if (failure) return events.close({ error: failure });
    try {
      conclude(reason);
      events.close();
    } catch (error) {
      events.close({ error });
    }
  };
  const conclude = (reason: DoneReason): void => {
    if (reader.stopString === undefined) {
      const rest = decoder.flush();
      if (rest !== "") read(rest);
      const isCut = reason === "length" || isOvertime;
      const isWhole = !isCut || (constraint?.isComplete ?? false);
      for (const event of reader.end({ isCut, isWhole })) events.push(event);
    }
    const { stopString } = reader;
    const now = performance.now();
    const usage = {
      promptTokens,
      cachedTokens: cached,
      ...fromBeyond,
      completionTokens: count,
      ...(sequence?.drafts.drafted && {
        draftedTokens: sequence.drafts.drafted,
        acceptedTokens: sequence.drafts.accepted,
      }),
      promptMilliseconds: (count > 0 ? first : now) - started,
      completionMilliseconds: count > 0 ? now - first : 0,
    };
    const notes = constraint?.warnings ?? [];
    const milliseconds = (count > 0 ? first : now) - readSince;
    const report = cacheReport({ prompt: keys, opening, usage, milliseconds, tokenizer, locate });
    history.add({
      tokens: sequence ? [...sequence.keys(0, sequence.tokens.length)] : keys,
      promptLength: keys.length,
      opening,
      title: title ?? beginningOf(prompt, tokenizer),
      session: request.session,
      owner,
      report,
    });
    events.push({
      type: "done",
      reason: stopString !== undefined
        ? "stop"
        : constraint?.isShortened || isOvertime
        ? "length"
        : reason,
      usage,
      ...(stopString !== undefined && { stopString }),
      ...(endToken && { endToken }),
      ...(hooks && { captured: hooks.captured }),
      ...(request.cacheReport && { cacheReport: report }),
      ...(notes.length > 0 && { notes }),
      ...(request.context && { context: textTokens(sequence?.tokens ?? tokensOf(prompt)) }),
    });
  };
  const leave = () => {
    if (sequence) sequence.abort();
    choice.abort();
  };
  const abort = () => {
    leave();
    events.close();
  };

  let sequence: Sequence | undefined;
  let hooks: Hooks | undefined;
  if (request.signal?.aborted) events.close();
  else if (maxTokens <= 0) end("length");
  else {
    if (request.hooks) {
      if (!observer) {
        throw new RequestError("Cannot look into the model: it does not show its steps");
      }
      hooks = new Hooks(observer, request.hooks, prompt);
    }
    request.signal?.addEventListener("abort", abort);
    sequence = scheduler.add({
      prompt,
      sampling,
      maxTokens,
      wait,
      begin,
      accept,
      end,
      flags: flagsOf(request.signal),
      adapters: context.adapterScales,
      ...(request.background && { background: true }),
      ...(request.session && { session: request.session }),
      ...(request.share && { share: request.share }),
      partsAt: opening.partsAt,
      wantsLogits: alternatives !== undefined || choice.isNeeded,
      ...choice.ofSequence,
      ...(request.progress && { progress }),
      // A negative number means the default, as in Ollama.
      ...(request.draftTokens !== undefined && request.draftTokens >= 0 &&
        { draftTokens: request.draftTokens }),
      ...(biases && { biases }),
      ...((biases?.areChanging || choice.isNeeded) && { draftTokens: 0 }),
      ...(allowed && { constraint: allowed }),
      ...(limit && { steering: limit }),
    });
    if (hooks) hooks.sequence = sequence;
  }
  return events;
}

/** The limit of the answer's thinking, if there may be one. */
function limitOf(
  thinking: ThinkingSyntax,
  { thinkBudget = Infinity, answerNow }: PromptRequest,
  tokenizer: Tokenizer,
): ThinkingLimit | undefined {
  if (Number.isNaN(thinkBudget) || thinkBudget < 0) thinkBudget = Infinity;
  if (thinkBudget === Infinity && !answerNow) return undefined;
  return new ThinkingLimit(thinking, tokenizer, thinkBudget, () => isCancelled(answerNow));
}

/** What chooses the tokens in the place of the filters, if the request wants it and tokens are drawn. */
function mirostatOf(
  { mirostat: version = 0, mirostatTau, mirostatEta }: SamplingOptions,
  { temperature }: ResolvedSampling,
): Mirostat | undefined {
  if (version !== 0 && version !== 1 && version !== 2) {
    throw new RequestError(`Cannot sample: mirostat is ${version}, it must be 0, 1 or 2`);
  }
  if (version === 0 || temperature === 0) return undefined;
  const { mirostatTau: tau, mirostatEta: eta } = SAMPLING_OPTIONS;
  return new Mirostat({
    version,
    tau: mirostatTau ?? tau.default,
    eta: mirostatEta ?? eta.default,
  });
}

/** The text by which people know a prompt; none where the vocabulary has no text. */
function beginningOf(prompt: readonly PromptItem[], tokenizer: Tokenizer): string {
  if (!tokenizer.hasText) return "";
  return tokenizer.decode(textTokens(tokensOf(prompt)).slice(0, TITLE_TOKENS));
}

/** Whether the answer is the beginning of a text, because the prompt is at most a BOS. */
function startsText(tokenizer: Tokenizer, prompt: readonly PromptItem[]): boolean {
  return prompt.every((item) => item === tokenizer.bosToken);
}

/**
 * The options with defaults filled in. Errors: RequestError naming an option that is out of range.
 */
export function resolveSampling(
  options: SamplingOptions,
  contextLength: number,
  masked = false,
): ResolvedSampling {
  const { seed = -1 } = options;
  if (!Number.isInteger(seed)) throw new RequestError(`Cannot sample: seed is ${seed}, not whole`);
  const checked = Object.fromEntries(
    Object.entries<OptionInfo>(SAMPLING_OPTIONS).map(([name, info]) => {
      const value = options[name as keyof SamplingOptions] ?? info.default;
      return [name, value === undefined ? undefined : check(name, value, info)];
    }),
  ) as { [Name in keyof SamplingOptions]-?: number };
  if (checked.repeatPenalty === 0) {
    throw new RequestError("Cannot sample: repeatPenalty is 0, it divides");
  }
  const lastN = Math.trunc(checked.repeatLastN);
  return {
    ...checked,
    // Negative values and 0 mean "all", as in Ollama.
    topK: Math.min(2 ** 31, Math.max(0, Math.trunc(checked.topK))),
    repeatLastN: lastN < 0 ? contextLength : Math.min(lastN, contextLength),
    seed: seed < 0 ? randomSeed() : BigInt(seed),
    masked,
  };
}

/** A value within its bounds. Greater ones than the greatest count as that. */
function check(name: string, value: number, { minimum, maximum = Infinity }: OptionInfo): number {
  const state = !Number.isFinite(value)
    ? "a finite number"
    : minimum !== undefined && value < minimum
    ? `at least ${minimum}`
    : undefined;
  if (state === undefined) return Math.min(value, maximum);
  throw new RequestError(`Cannot sample: ${name} is ${value}, it must be ${state}`);
}

function randomSeed(): bigint {
  return crypto.getRandomValues(new BigUint64Array(1))[0];
}
