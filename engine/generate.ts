// From a prompt to a stream of text: encodes, queues a sequence, decodes its tokens, ends at an
// end token or a stop string, counts. Works for one request; the scheduler runs many.

import type { Tokenizer } from "../tokenizer/mod.ts";
import { Constraint } from "./constraint.ts";
import { ContextLengthError, EngineError, RequestError } from "./errors.ts";
import { resolveSampling } from "./sampling_options.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SequenceEnd } from "./sequence.ts";
import { EventQueue } from "./text/event_queue.ts";
import { StopStrings } from "./text/stop_strings.ts";
import type { GenerateEvent, GenerateRequest } from "./types.ts";

/** The parts of a model that a generation needs. */
export interface GenerateContext {
  readonly scheduler: Scheduler;
  readonly tokenizer: Tokenizer;
  readonly contextLength: number;
}

/** Token ids of a prompt. Errors: RequestError, ContextLengthError. */
export function encodePrompt(
  context: GenerateContext,
  prompt: GenerateRequest["prompt"],
): number[] {
  const { tokenizer, contextLength } = context;
  const tokens = typeof prompt === "string" ? tokenizer.encode(prompt, { bos: true }) : [...prompt];
  if (tokens.length === 0) {
    throw new RequestError(
      "Cannot generate: the prompt is empty and the vocabulary has no BOS token",
    );
  }
  checkTokens(tokens, tokenizer, "Cannot generate");
  if (tokens.length >= contextLength) throw new ContextLengthError(tokens.length, contextLength);
  return tokens;
}

/** Errors: RequestError where a token is none of the vocabulary; `attempt` begins its message. */
export function checkTokens(
  tokens: readonly number[],
  { vocabularySize }: Tokenizer,
  attempt: string,
): void {
  const isToken = (token: number) =>
    Number.isInteger(token) && token >= 0 && token < vocabularySize;
  const wrong = tokens.find((token) => !isToken(token));
  if (wrong === undefined) return;
  const state = `the vocabulary has ${vocabularySize} tokens`;
  throw new RequestError(`${attempt}: token ${wrong} is out of range: ${state}`);
}

/** How tokens become text. */
export interface GenerateOptions {
  /** Whether control tokens show as their piece, for a parser that looks for them. Default false. */
  readonly showControl?: boolean;
}

/**
 * Queues a generation. Errors at once: RequestError, ContextLengthError, ModelClosedError, and
 * SchemaError or GrammarError of its format.
 */
export function generate(
  context: GenerateContext,
  request: GenerateRequest,
  { showControl = false }: GenerateOptions = {},
): AsyncIterableIterator<GenerateEvent> {
  const { scheduler, tokenizer, contextLength } = context;
  const prompt = encodePrompt(context, request.prompt);
  const { format, finish = true } = request;
  const constraint = format && new Constraint(format, tokenizer, finish);
  const sampling = resolveSampling(request, contextLength, constraint !== undefined);
  const maxTokens = request.maxTokens ?? Infinity;
  const started = performance.now();
  let first = started;
  let count = 0;
  let cached = 0;
  let stopString: string | undefined;
  let failure: EngineError | undefined;
  let pending: number[] = [];
  const stops = new StopStrings(request.stop ?? []);
  const decoder = tokenizer.hasText
    ? tokenizer.streamDecoder({ special: showControl, textStart: startsText(tokenizer, prompt) })
    : { push: () => "", flush: () => "" };

  const events = new EventQueue<GenerateEvent>(() => sequence && (sequence.aborted = true));
  const give = (text: string) => {
    if (text === "") return;
    events.push({ type: "text", text, tokens: pending });
    pending = [];
  };
  const begin = (cachedTokens: number): void => {
    cached = cachedTokens;
    events.push({ type: "start", promptTokens: prompt.length, cachedTokens });
  };
  const accept = (token: number): boolean => {
    if (count++ === 0) first = performance.now();
    if (constraint?.accept(token) === false) {
      failure = new EngineError(`Cannot go on: the model chose token ${token} against its mask`);
      return false;
    }
    if (tokenizer.endOfGeneration.has(token)) return false;
    pending.push(token);
    const { text, stop } = stops.push(decoder.push(token));
    // A vocabulary without text gives its tokens alone.
    if (!tokenizer.hasText) events.push({ type: "text", text: "", tokens: pending.splice(0) });
    else give(text);
    stopString = stop;
    return stop === undefined && !constraint?.mustEnd;
  };
  const end = (reason: SequenceEnd): void => {
    request.signal?.removeEventListener("abort", abort);
    if (typeof reason === "object") return events.close(reason);
    if (reason === "aborted") return events.close();
    if (failure) return events.close({ error: failure });
    if (stopString === undefined) {
      const { text, stop } = stops.push(decoder.flush());
      stopString = stop;
      give(stop === undefined ? text + stops.flush() : text);
    }
    const now = performance.now();
    const usage = {
      promptTokens: prompt.length,
      cachedTokens: cached,
      completionTokens: count,
      promptMilliseconds: (count > 0 ? first : now) - started,
      completionMilliseconds: count > 0 ? now - first : 0,
    };
    const stopped = stopString !== undefined ? { stopString } : {};
    events.push({
      type: "done",
      reason: stopString !== undefined ? "stop" : reason,
      usage,
      ...stopped,
    });
    events.close();
  };
  const abort = () => {
    if (sequence) sequence.aborted = true;
    events.close();
  };

  let sequence: { aborted: boolean } | undefined;
  if (request.signal?.aborted) events.close();
  else if (maxTokens <= 0) end("length");
  else {
    request.signal?.addEventListener("abort", abort);
    sequence = scheduler.add({
      prompt,
      sampling,
      maxTokens,
      begin,
      accept,
      end,
      ...(constraint && { constraint }),
    });
  }
  return events;
}

/** Whether what follows the prompt is the beginning of a text: nothing but BOS came before. */
function startsText(tokenizer: Tokenizer, prompt: readonly number[]): boolean {
  return prompt.every((token) => token === tokenizer.bosToken);
}
