// The loop of a turn: the model answers, its calls are carried out, and it answers again with their
// results, until it has said all. It knows the chat API alone. What it adds to the conversation is its
// result, so a turn that fails has changed nothing.

import { AnswerError, EngineError } from "../errors.ts";
import type {
  ChatMessage,
  ChatModel,
  ChatRequest,
  DoneEvent,
  DoneReason,
  Usage,
} from "../types/mod.ts";
import { describeIssues, type Schema, validate } from "./schema.ts";
import {
  callOfMessage,
  type CallResult,
  type CallRunner,
  messageOfResult,
  runCall,
  type SessionCall,
} from "./tools.ts";
import type { Answer, SessionEvent } from "./turn.ts";

/** What a turn is to do. */
export interface TurnPlan extends CallRunner {
  readonly model: Pick<ChatModel, "chat">;
  /** The request of each round, but for its messages. */
  readonly request: Omit<ChatRequest, "messages">;
  /** The conversation so far, the system's prompt included. */
  readonly before: readonly ChatMessage[];
  /** What comes first: a user's message, or the results of calls. */
  readonly given: readonly ChatMessage[];
  /** The schema of a structured answer. */
  readonly schema?: Schema | undefined;
  /** Most answers of the model. */
  readonly maxRounds: number;
  /** Most calls that are carried out. */
  readonly maxCalls: number;
  /** Most calls that run at a time. */
  readonly concurrency: number;
  /** How often the model may mend a structured answer that its validator refuses. */
  readonly retries: number;
}

/** What the model said in a round. */
interface Round {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly SessionCall[];
  readonly results: readonly CallResult[];
  readonly done: DoneEvent;
}

/** Carries a turn out. Errors: those of `chat`, AnswerError, the signal's reason. */
export async function runTurn(
  plan: TurnPlan,
  tell: (event: SessionEvent<unknown>) => void,
  signal: AbortSignal,
): Promise<Answer<unknown>> {
  const messages = [...plan.given];
  const calls: CallResult[] = [];
  const notes = new Set<string>();
  // A refused answer and what was said of it are not kept.
  let refused: ChatMessage[] = [];
  let usage: Usage | undefined;
  let droppedMessages = 0;
  for (let number = 1, retries = 0;; number++) {
    const isLast = number >= plan.maxRounds;
    const request: ChatRequest = {
      ...plan.request,
      messages: [...plan.before, ...messages, ...refused],
      ...(number > 1 && { toolChoice: isLast || refused.length > 0 ? "none" : "auto" }),
    };
    const round = await answerOnce(plan, request, { carriedOut: calls.length, tell, signal });
    const { text, thinking, done } = round;
    calls.push(...round.results);
    usage = sum(usage, done.usage);
    done.notes?.forEach((note) => notes.add(note));
    droppedMessages = Math.max(droppedMessages, done.droppedMessages ?? 0);
    const said: ChatMessage = {
      role: "assistant",
      content: text,
      ...(thinking && { thinking }),
      ...(round.calls.length > 0 && { toolCalls: round.calls.map(callOfMessage) }),
    };
    const pending = round.calls.filter(({ id }) => round.results.every((one) => one.id !== id));
    const conclude = (reason: Answer["reason"], value?: unknown): Answer<unknown> => {
      const answer = {
        text,
        ...(thinking && { thinking }),
        value,
        calls,
        pending,
        reason,
        rounds: number,
        usage: usage!,
        messages,
        notes: [...notes],
        droppedMessages,
      };
      tell({ type: "answer", answer });
      return answer;
    };
    if (round.calls.length > 0) {
      messages.push(said, ...round.results.map(messageOfResult));
      if (pending.length > 0) return conclude("calls");
      if (isLast) return conclude("rounds");
      continue;
    }
    const isHeldBack = isLast && number > 1 && calls.length > 0;
    const reason: DoneReason | "rounds" = isHeldBack && done.reason === "stop"
      ? "rounds"
      : done.reason;
    if (!plan.schema) {
      messages.push(said);
      return conclude(reason);
    }
    const checked = await check(text, plan.schema);
    if (!checked.issues) {
      messages.push(said);
      return conclude(reason, checked.value);
    }
    tell({ type: "refused", text, issues: checked.issues });
    const problem = describeIssues(checked.issues);
    if (retries++ >= plan.retries || isLast) throw new AnswerError(text, problem);
    const correction = `This answer is not valid: ${problem}\nGive a valid one.`;
    refused = [said, { role: "user", content: correction }];
  }
}

/** The model's answer to a request. Its calls begin as soon as each is written. */
async function answerOnce(
  plan: TurnPlan,
  request: ChatRequest,
  { carriedOut, tell, signal: given }: {
    carriedOut: number;
    tell: (event: SessionEvent<unknown>) => void;
    signal: AbortSignal;
  },
): Promise<Round> {
  given.throwIfAborted();
  // If the answer fails, the calls that have begun end with it.
  const failure = new AbortController();
  const signal = AbortSignal.any([given, failure.signal]);
  const lanes = new Lanes(plan.concurrency);
  const calls: SessionCall[] = [];
  const running: Promise<CallResult>[] = [];
  let [text, thinking] = ["", ""];
  let done: DoneEvent | undefined;
  const begin = (call: SessionCall) => {
    calls.push(call);
    if (plan.tools[call.name] && !plan.tools[call.name]!.run) return;
    const isTooMany = carriedOut + running.length >= plan.maxCalls;
    const content = `Error: no more calls are carried out, ${plan.maxCalls} were`;
    const result = isTooMany
      ? Promise.resolve({ ...call, content, isError: true })
      : lanes.run(() => runCall(plan, call, { messages: request.messages, signal }));
    result.then((result) => tell({ type: "result", result }), () => {});
    running.push(result);
  };
  try {
    for await (const event of plan.model.chat({ ...request, signal })) {
      if (event.type === "done") {
        done = event;
        continue;
      }
      tell(event);
      if (event.type === "text") text += event.text;
      if (event.type === "thinking") thinking += event.text;
      if (event.type === "callEnd") {
        begin({ id: event.id, name: event.name, arguments: event.arguments });
      }
    }
    signal.throwIfAborted();
    if (!done) throw new EngineError("Cannot answer: the model's answer has no end");
    return { text, thinking, calls, results: await Promise.all(running), done };
  } catch (error) {
    failure.abort(error);
    throw error;
  }
}

/** The value of a structured answer, or what is wrong with it. */
async function check(text: string, schema: Schema) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { issues: [{ message: "it is no complete JSON" }] };
  }
  return await validate(schema, value);
}

/** Counts and times of two answers together. */
function sum(first: Usage | undefined, second: Usage): Usage {
  if (!first) return second;
  const keys = [...new Set([...Object.keys(first), ...Object.keys(second)])] as (keyof Usage)[];
  const both = keys.map((key) => [key, (first[key] ?? 0) + (second[key] ?? 0)]);
  return Object.fromEntries(both) as unknown as Usage;
}

export { sum as sumUsage };

/** Lets a number of works run at a time, in order. */
class Lanes {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free <= 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free--;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
