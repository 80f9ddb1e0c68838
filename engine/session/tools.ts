// The tools of a session: typed functions that the model may call. Arguments are held by the mask, then
// validated; what a function gives, or throws, becomes the text that the model reads.

import { untilAborted } from "../async.ts";
import { RequestError } from "../errors.ts";
import type { ChatMessage, Tool, ToolCall } from "../types/mod.ts";
import { type ArgumentsOf, describeIssues, jsonSchemaOf, type Schema, validate } from "./schema.ts";

/** What a function learns about its call, beside the arguments. */
export interface CallContext {
  /** The call, as the model made it. */
  readonly call: SessionCall;
  /** Aborted with the turn, and when the time of the tool is over. */
  readonly signal: AbortSignal;
  /** The conversation before the message that calls. */
  readonly messages: readonly ChatMessage[];
}

/** A tool of a session; {@linkcode tool} infers the type of its arguments. */
export interface SessionTool<Parameters extends Schema = Schema> {
  /** What it does and when to call it, for the model. */
  readonly description?: string;
  /** The schema of its arguments, an object. Default: no arguments. */
  readonly parameters?: Parameters;
  /** The JSON Schema that the mask enforces, where the validator in `parameters` gives none. */
  readonly jsonSchema?: Record<string, unknown>;
  /** Whether to refuse a schema that cannot be enforced completely. Default false. */
  readonly strict?: boolean;
  /**
   * Carries a call out. What it gives is told to the model: text as it is, other values as JSON. What it
   * throws is told as well, and the model goes on. Missing: the turn ends with the call as `pending`, and
   * the program answers it with `session.answerCalls`.
   */
  run?(given: ArgumentsOf<Parameters>, context: CallContext): unknown;
  /** Most milliseconds of a call; then the model is told that it took too long. Default: no limit. */
  readonly timeout?: number;
}

/** The tools of a session by name. */
export type SessionTools = Readonly<Record<string, SessionTool>>;

/** A call with its id. */
export interface SessionCall {
  /** Refers to it in results. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** As the model wrote them. */
  readonly arguments: Record<string, unknown>;
}

/** What became of a call. */
export interface CallResult extends SessionCall {
  /** What the model reads. */
  readonly content: string;
  /** Whether that tells of an error: refused, invalid, thrown, or too slow. */
  readonly isError: boolean;
}

/**
 * Decides about a call before it runs: true lets it, false or a reason refuses it, which the model is
 * told.
 */
export type ApproveCall = (
  call: SessionCall,
  context: CallContext,
) => boolean | string | Promise<boolean | string>;

/** A tool whose function gets arguments of the type that its schema tells. */
export function tool<const Parameters extends Schema = Record<string, never>>(
  definition: SessionTool<Parameters>,
): SessionTool {
  // The session validates arguments before the function gets them.
  return definition as unknown as SessionTool;
}

/**
 * Tools as requests have them.
 *
 * @throws {RequestError} for a validator without a JSON Schema
 */
export function toolsOfRequest(tools: SessionTools): Tool[] {
  return Object.entries(tools).map(([name, one]) => {
    const { description, parameters, jsonSchema, strict } = one;
    const schema = jsonSchema ?? (parameters && jsonSchemaOf(parameters, `the tool "${name}"`));
    return {
      type: "function",
      function: {
        name,
        ...(description !== undefined && { description }),
        parameters: schema ?? { type: "object", properties: {}, additionalProperties: false },
        ...(strict !== undefined && { strict }),
      },
    };
  });
}

/** What carries calls out. */
export interface CallRunner {
  readonly tools: SessionTools;
  /** Undefined: all may run. */
  readonly approve?: ApproveCall | undefined;
}

/**
 * Carries a call out. What goes wrong with it is its result; only an abort of the turn is an error.
 *
 * @throws the signal's reason
 */
export async function runCall(
  { tools, approve }: CallRunner,
  call: SessionCall,
  { messages, signal }: Pick<CallContext, "messages" | "signal">,
): Promise<CallResult> {
  const told = (content: string, isError: boolean): CallResult => ({ ...call, content, isError });
  const { run, parameters, timeout } = tools[call.name] ?? {};
  if (!run) return told(`Error: there is no tool "${call.name}"`, true);
  const timer = new AbortController();
  const both = AbortSignal.any([signal, timer.signal]);
  const late = new RequestError(`the tool took longer than ${timeout} ms`);
  const clock = timeout === undefined ? undefined : setTimeout(() => timer.abort(late), timeout);
  try {
    return await untilAborted(
      (async () => {
        const context = { call, messages, signal: both };
        const checked = parameters && await validate(parameters, call.arguments);
        if (checked?.issues) {
          return told(`Error: the arguments are invalid: ${describeIssues(checked.issues)}`, true);
        }
        const verdict = await approve?.(call, context) ?? true;
        if (verdict !== true) {
          return told(`Error: the call was refused${verdict ? `: ${verdict}` : ""}`, true);
        }
        const given = (checked?.value ?? call.arguments) as Record<string, unknown>;
        return told(textOf(await run.call(tools[call.name], given, context)), false);
      })(),
      both,
    );
  } catch (error) {
    signal.throwIfAborted();
    return told(`Error: ${error instanceof Error ? error.message : String(error)}`, true);
  } finally {
    clearTimeout(clock);
  }
}

/** The text of what a function gave. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value) ?? "done";
}

/** A call as messages have it. */
export function callOfMessage({ id, name, arguments: given }: SessionCall): ToolCall {
  return { id, function: { name, arguments: given } };
}

/** A result as a message. */
export function messageOfResult({ id, name, content }: CallResult): ChatMessage {
  return { role: "tool", content, toolName: name, toolCallId: id };
}
