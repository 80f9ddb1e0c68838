// A prompt that is run once for what its hooks keep, as an encoder's text is or a decoder's.

import { throwIfCancelled } from "../cancellation.ts";
import { Hooks } from "../hooks/mod.ts";
import type { Assembly } from "../load/mod.ts";
import { encodePrompt, type PromptContext, tokensOf } from "../prompt/mod.ts";
import type { RunRequest, RunResult } from "../types/mod.ts";

/** Runs a prompt. Errors: ContextLengthError, RequestError, TapError; the signal's reason. */
export async function runWithHooks(
  context: PromptContext & Pick<Assembly, "scheduler" | "observer" | "encoder" | "chunkSize">,
  { prompt: given, signal, ...options }: RunRequest,
): Promise<RunResult> {
  throwIfCancelled(signal);
  const { scheduler, observer, encoder } = context;
  const prompt = encodePrompt(context, { prompt: given });
  using hooks = new Hooks(observer, options, prompt);
  const isLogits = (text: string) => text.trim() === "logits";
  const isLast = options.positions === "last";
  const wantsLogits = [...options.capture ?? [], ...(options.changes ?? []).map((c) => c.point)]
    .some(isLogits);
  await scheduler.evaluate({
    branches: [{ tokens: prompt, wanted: !wantsLogits ? "none" : isLast ? "last" : "all" }],
    output: encoder ? "hidden" : "logits",
    take: () => {},
    chunkSize: context.chunkSize,
    whole: encoder,
    signal,
    adapters: context.adapterScales,
    watch: ([sequence]) => hooks.sequence = sequence,
  });
  return { tokens: tokensOf(prompt), captured: hooks.captured };
}
