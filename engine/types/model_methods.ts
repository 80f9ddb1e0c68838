// What a model can be asked, as a table: how the argument and the result of each method of ChatModel go
// to another thread or process. A worker's client and its service, and models that only pass calls on,
// have their methods from here, so that a method is declared once.

import type { ChatModel } from "./model.ts";

/** The methods that ask a model. `embed` is a form of `embedWithUsage`. */
export type ModelMethod = Exclude<
  {
    [M in keyof ChatModel]-?: ChatModel[M] extends (...given: never[]) => unknown ? M : never;
  }[keyof ChatModel],
  "close" | "embed" | typeof Symbol.asyncDispose
>;

export type ArgumentOf<M extends ModelMethod> = Parameters<ChatModel[M]>[0];

/** The methods of a model that ask it. */
export type ModelMethods = Pick<ChatModel, ModelMethod>;

/**
 * How a method is called. A `request` may have an abort signal among its members; a `value` is all that
 * there is. It gives the `events` of a stream, one `value`, or one so long that it is sent in `pieces`.
 */
type CallOf<M extends ModelMethod> = {
  readonly takes: "signal" extends keyof ArgumentOf<M> ? "request" : "value";
  readonly gives: ReturnType<ChatModel[M]> extends AsyncIterable<unknown> ? "events"
    : "value" | "pieces";
};

/** All methods that ask a model. */
export const MODEL_METHODS: { readonly [M in ModelMethod]: CallOf<M> } = {
  generate: { takes: "request", gives: "events" },
  chat: { takes: "request", gives: "events" },
  renderChat: { takes: "request", gives: "value" },
  countTokens: { takes: "request", gives: "value" },
  tokenize: { takes: "value", gives: "pieces" },
  rank: { takes: "request", gives: "value" },
  decide: { takes: "request", gives: "value" },
  score: { takes: "request", gives: "pieces" },
  cacheState: { takes: "value", gives: "value" },
  detokenize: { takes: "value", gives: "value" },
  embedWithUsage: { takes: "request", gives: "value" },
  run: { takes: "request", gives: "value" },
  capture: { takes: "request", gives: "events" },
  embedImage: { takes: "value", gives: "value" },
  transcribe: { takes: "request", gives: "events" },
};

/** The methods, each of which calls `ask` with its name and its argument. */
export function modelMethods(
  ask: <M extends ModelMethod>(method: M, argument: ArgumentOf<M>) => ReturnType<ChatModel[M]>,
): ModelMethods {
  const methods = (Object.keys(MODEL_METHODS) as ModelMethod[]).map((method) =>
    [method, (argument: ArgumentOf<typeof method>) => ask(method, argument)] as const
  );
  return Object.fromEntries(methods) as unknown as ModelMethods;
}

/** Calls a method of a model. */
export function askModel<M extends ModelMethod>(
  model: ModelMethods,
  method: M,
  argument: ArgumentOf<M>,
): ReturnType<ChatModel[M]> {
  const ask = model[method] as (argument: ArgumentOf<M>) => ReturnType<ChatModel[M]>;
  return ask.call(model, argument);
}
