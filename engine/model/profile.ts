// The profile of a model: where its time goes. A prompt and an answer run with every operation
// traced, summed by operation and by layer, and once more without a trace for comparison.

import type { Work } from "../../kernels/mod.ts";
import type { OperationTrace, StepTrace } from "../run/mod.ts";
import type { Model } from "./model.ts";

/** Options of profileModel(). */
export interface ProfileOptions {
  /** Tokens of the prompt, at least 2. Prompt and answer together have to fit the window. */
  promptTokens: number;
  /** Tokens of the answer, at least 2. */
  tokens: number;
  /** Aborting it ends the profile with its reason. */
  signal?: AbortSignal;
}

/** The sum of all operations of one kind in a phase. */
export interface OperationSum extends Work {
  /** Number of calls. */
  calls: number;
  /** Seconds that the calls took. */
  seconds: number;
  /** Seconds of these that the model's own thread computed, on the CPU device; else 0. */
  hostSeconds: number;
}

/** The steps of a prompt or of an answer. */
export interface PhaseProfile {
  /** Steps that were traced. */
  steps: number;
  /** Tokens that were fed in these steps. */
  tokens: number;
  /** Seconds that the traced steps took, by the clock. */
  seconds: number;
  /** Seconds that as many tokens take without a trace, by the clock. */
  untracedSeconds: number;
  /** Sums by name of the operation, the longest first. */
  operations: Map<string, OperationSum>;
  /** Sums by layer, in order. Operations without a layer are under `undefined`, last. */
  layers: Map<number | undefined, OperationSum>;
}

/** The profile of a model. */
export interface ModelProfile {
  /** Reading the prompt. */
  prefill: PhaseProfile;
  /** Decoding the answer, one token per step; missing if the model generates no text. */
  decode?: PhaseProfile;
}

/** Sums the traces of operations that have the same key. */
export function sumOperations<Key>(
  steps: readonly StepTrace[],
  keyOf: (operation: OperationTrace) => Key,
): Map<Key, OperationSum> {
  const sums = new Map<Key, OperationSum>();
  for (const operation of steps.flatMap(({ operations }) => operations)) {
    const key = keyOf(operation);
    const sum = sums.get(key);
    const { seconds, hostSeconds, bytesRead, bytesWritten, flops } = operation;
    sums.set(key, {
      calls: (sum?.calls ?? 0) + 1,
      seconds: (sum?.seconds ?? 0) + seconds,
      hostSeconds: (sum?.hostSeconds ?? 0) + hostSeconds,
      bytesRead: (sum?.bytesRead ?? 0) + bytesRead,
      bytesWritten: (sum?.bytesWritten ?? 0) + bytesWritten,
      flops: (sum?.flops ?? 0) + flops,
    });
  }
  return sums;
}

/**
 * Profiles a model. Nothing else may use it meanwhile.
 *
 * @throws {ContextLengthError} if prompt and answer do not fit; the signal's reason
 */
export async function profileModel(model: Model, options: ProfileOptions): Promise<ModelProfile> {
  const writes = model.operations.some(({ output }) => output === "logits");
  const run = writes ? generate : embed;
  await run(model, options, 0); // a warm-up, so that one-time costs do not count
  const untraced = await run(model, options, 1);
  const steps: StepTrace[] = [];
  {
    // The first trace allocates buffers and calibrates the GPU's clock, so it is made here.
    using _trace = model.trace(() => {});
    await run(model, { ...options, promptTokens: 2, tokens: 2 }, 3);
  }
  {
    using _trace = model.trace((step) => steps.push(step));
    await run(model, options, 2);
  }
  // The step that reads the end of the prompt also samples the first token.
  const first = writes ? steps.findIndex(({ outputs }) => outputs > 0) + 1 : steps.length;
  const decoded = steps.slice(first);
  return {
    prefill: phaseOf(steps.slice(0, first), untraced.prefillSeconds),
    ...(decoded.length > 0 && { decode: phaseOf(decoded, untraced.decodeSeconds) }),
  };
}

function phaseOf(steps: readonly StepTrace[], untracedSeconds: number): PhaseProfile {
  const byName = [...sumOperations(steps, ({ name }) => name)];
  const byLayer = [...sumOperations(steps, ({ layer }) => layer)];
  return {
    steps: steps.length,
    tokens: steps.reduce((sum, { rows }) => sum + rows, 0),
    seconds: steps.reduce((sum, { seconds }) => sum + seconds, 0),
    untracedSeconds,
    operations: new Map(byName.sort(([, a], [, b]) => b.seconds - a.seconds)),
    layers: new Map(byLayer.sort(([a = Infinity], [b = Infinity]) => a - b)),
  };
}

/** Prompts differ in their first token, so that none finds its beginning in the prefix cache. */
function promptOf({ promptTokens }: ProfileOptions, run: number): number[] {
  return Array.from({ length: promptTokens }, (_, i) => (i * 37 + 11 + 13 * run) % 120);
}

interface Untraced {
  prefillSeconds: number;
  decodeSeconds: number;
}

async function generate(model: Model, options: ProfileOptions, run: number): Promise<Untraced> {
  const { tokens: maxTokens, signal } = options;
  const request = { prompt: promptOf(options, run), maxTokens, temperature: 0, ignoreEnd: true };
  const untraced = { prefillSeconds: 0, decodeSeconds: 0 };
  for await (const event of model.generate({ ...request, ...(signal && { signal }) })) {
    if (event.type !== "done") continue;
    untraced.prefillSeconds = event.usage.promptMilliseconds / 1000;
    untraced.decodeSeconds = event.usage.completionMilliseconds / 1000;
  }
  signal?.throwIfAborted();
  return untraced;
}

async function embed(model: Model, options: ProfileOptions, run: number): Promise<Untraced> {
  const started = performance.now();
  const { signal } = options;
  await model.embed([promptOf(options, run)], signal ? { signal } : {});
  return { prefillSeconds: (performance.now() - started) / 1000, decodeSeconds: 0 };
}
