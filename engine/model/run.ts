// A prompt that is run once for what its hooks keep, as an encoder's text is or a decoder's.

import { throwIfCancelled } from "../cancellation.ts";
import { Hooks } from "../hooks/mod.ts";
import type { Assembly } from "../load/mod.ts";
import { encodePrompt, type PromptContext, type PromptItem, tokensOf } from "../prompt/mod.ts";
import type { CaptureEvent, RunRequest, RunResult } from "../types/mod.ts";

/** What a run needs of a model. */
type RunContext =
  & PromptContext
  & Pick<Assembly, "scheduler" | "observer" | "encoder" | "chunkSize">;

/** Runs a prompt. Errors: ContextLengthError, RequestError, TapError; the signal's reason. */
export async function runWithHooks(context: RunContext, request: RunRequest): Promise<RunResult> {
  throwIfCancelled(request.signal);
  const prompt = encodePrompt(context, request);
  using hooks = new Hooks(context.observer, request, prompt);
  await runHooked(context, request, prompt, hooks);
  return { tokens: tokensOf(prompt), captured: hooks.captured };
}

/** Runs a prompt, and gives what is captured as steps compute it. Errors: those of runWithHooks(). */
export async function* captureEvents(
  context: RunContext,
  request: RunRequest,
): AsyncGenerator<CaptureEvent> {
  throwIfCancelled(request.signal);
  const prompt = encodePrompt(context, request);
  // A step waits until its values are taken, so that there are never those of two.
  const { readable, writable } = new TransformStream<CaptureEvent, CaptureEvent>();
  const writer = writable.getWriter();
  using hooks = new Hooks(
    context.observer,
    request,
    prompt,
    (index, captured) => writer.write({ type: "values", index, captured }),
  );
  const ended = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, ended.signal]) : ended.signal;
  yield { type: "begin", tokens: tokensOf(prompt), points: hooks.shapes };
  const running = runHooked(context, { ...request, signal }, prompt, hooks)
    .then(() => writer.close(), (error) => writer.abort(error));
  try {
    yield* readable;
  } finally {
    ended.abort();
    await running.catch(() => {});
  }
}

/** Runs a prompt under its hooks. */
async function runHooked(
  context: RunContext,
  { signal, ...options }: RunRequest,
  prompt: readonly PromptItem[],
  hooks: Hooks,
): Promise<void> {
  const isLogits = (text: string) => text.trim() === "logits";
  const isLast = options.positions === "last";
  const wantsLogits = [...options.capture ?? [], ...(options.changes ?? []).map((c) => c.point)]
    .some(isLogits);
  await context.scheduler.evaluate({
    branches: [{ tokens: prompt, wanted: !wantsLogits ? "none" : isLast ? "last" : "all" }],
    output: context.encoder ? "hidden" : "logits",
    take: () => {},
    chunkSize: context.chunkSize,
    whole: context.encoder,
    signal,
    adapters: context.adapterScales,
    watch: ([sequence]) => hooks.sequence = sequence,
  });
}
