// From a prompt to a stream of events: checks a request, encodes its prompt, and queues the sequence of its
// answer. It handles one request; the scheduler runs many.

import { FILTERS_OFF } from "../../kernels/mod.ts";
import type { Tokenizer } from "../../tokenizer/mod.ts";
import { flagsOf, isCancelled } from "../cancellation.ts";
import { RequestError } from "../errors.ts";
import { Hooks } from "../hooks/mod.ts";
import {
  encodePrompt,
  type PromptContext,
  promptLength,
  PromptRuns,
  tokensOf,
} from "../prompt/mod.ts";
import { type Scheduler, type StepObserver, withAdapters } from "../run/mod.ts";
import type { GenerateEvent } from "../types/mod.ts";
import { Answer, type AnyAnswerEvent, type PromptRequest } from "./answer.ts";
import { answerBiases, checkToken, onlyTokens } from "./answer_biases.ts";
import { TextHistory } from "./cache_report.ts";
import { type AnswerEnding, Constraint } from "./constraint.ts";
import { HostChoice } from "./host_choice.ts";
import { checkLogprobs } from "./logprobs.ts";
import { checkTokenOptions, mirostatOf, resolveSampling } from "./sampling_request.ts";
import { type AnswerReader, TextReader } from "./text_reader.ts";
import { ThinkingLimit, type ThinkingSyntax } from "./thinking_limit.ts";

/** The parts of a model that a generation needs. */
export interface GenerateContext extends PromptContext {
  readonly scheduler: Scheduler;
  /** Where hooks are set. Missing: a request that has any is refused. */
  readonly observer?: StepObserver;
}

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

/** The last conversations of each model. */
const histories = new WeakMap<Scheduler, TextHistory>();

/** The last conversations of a model. */
export function historyOf(scheduler: Scheduler): TextHistory {
  const history = histories.get(scheduler) ?? new TextHistory();
  histories.set(scheduler, history);
  return history;
}

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
  const { format, finish = true, masks = false, allowedTokens = [] } = request;
  checkLogprobs(request.logprobs);
  const alternatives = request.logprobs ?? (masks ? 0 : undefined);
  const constraint = format &&
    new Constraint(format, tokenizer, finish ? ending : undefined, request);
  if (masks) constraint?.keepMasks();
  if (constraint?.begin(begun) === false) {
    throw constraint.failure ??
      new RequestError("Cannot continue the last message: the format has no answer that begins so");
  }
  if (constraint && allowedTokens.length > 0) {
    throw new RequestError("Cannot generate: allowedTokens and a format exclude each other");
  }
  const allowed = allowedTokens.length > 0 ? onlyTokens(allowedTokens, tokenizer) : constraint;
  const resolved = resolveSampling(request, contextLength, allowed !== undefined);
  const mirostat = mirostatOf(request, resolved);
  const sampling = mirostat ? { ...resolved, ...FILTERS_OFF, topK: 0, topP: 1 } : resolved;
  checkTokenOptions(request);
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
  for (
    const [name, value] of Object.entries({
      maxTokens: wanted,
      maxMilliseconds: request.maxMilliseconds,
    })
  ) {
    if (Number.isNaN(value)) throw new RequestError(`Cannot generate: ${name} is no number`);
  }
  const maxTokens = Math.min(wanted, contextLength - promptTokens);
  if (maxTokens > 0) constraint?.checkRoom(maxTokens);
  const limit = thinking && limitOf(thinking, request, tokenizer);
  const history = historyOf(scheduler);
  const runs = new PromptRuns(prompt);
  const keys = withAdapters(runs.keysOf(tokensOf(prompt), 0), context.adapterScales);
  const opening = history.opening(keys, request.share?.id ?? "");
  const answer = new Answer({
    request,
    tokenizer,
    prompt,
    promptTokens,
    maxTokens,
    reader,
    constraint,
    mirostat,
    limit,
    stopTokens,
    alternatives,
    showControl,
    history,
    keys,
    opening,
    title,
    locate,
    abandon: () => choice.abort(),
  });
  if (request.signal?.aborted) answer.events.close();
  else if (maxTokens <= 0) answer.end("length");
  else {
    if (request.hooks) {
      if (!observer) {
        throw new RequestError("Cannot look into the model: it does not show its steps");
      }
      answer.hooks = new Hooks(observer, request.hooks, prompt);
    }
    const { wait, begin, accept, end, progress, stepped, hooks } = answer;
    request.signal?.addEventListener("abort", answer.abort);
    const sequence = scheduler.add({
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
      ...(stepped && { stepped }),
      // A negative number means the default, as in Ollama.
      ...(request.draftTokens !== undefined && request.draftTokens >= 0 &&
        { draftTokens: request.draftTokens }),
      ...(hooks && { isHooked: true }),
      ...(biases && { biases }),
      ...((biases?.areChanging || choice.isNeeded) && { draftTokens: 0 }),
      ...(allowed && { constraint: allowed }),
      ...(limit && { steering: limit }),
    });
    answer.sequence = sequence;
    if (hooks) hooks.sequence = sequence;
  }
  return answer.events;
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
