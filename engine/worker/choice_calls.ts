// A request's functions over logits across the border of a worker: they stay in the client's thread, and the
// worker asks it for each token. The row goes there and back; nothing else of the model waits for it but
// its step.

import type { ChoiceContext, ChoiceOptions } from "../types/mod.ts";

/** Which of a request's functions are asked. */
export interface AskedFunctions {
  readonly processes: boolean;
  readonly samples: boolean;
}

/** What a worker asks of the client: other logits, or a token. */
export interface ChoiceQuestion {
  readonly what: "process" | "sample";
  /** [vocabulary] */
  readonly logits: Float32Array;
  readonly context: ChoiceContext;
}

/** What the client tells: logits, or a token. */
export type ChoiceReply = Float32Array | number;

/** The functions of a request that are asked for; undefined if it has none. */
export function askedFunctions(request: ChoiceOptions): AskedFunctions | undefined {
  const processes = (request.logitsProcessors?.length ?? 0) > 0;
  const samples = request.sampler !== undefined;
  return processes || samples ? { processes, samples } : undefined;
}

/** Answers a question by the functions of the request. Errors: theirs. */
export async function replyTo(
  { logitsProcessors = [], sampler }: ChoiceOptions,
  { what, logits, context }: ChoiceQuestion,
): Promise<ChoiceReply> {
  if (what === "sample") return await sampler!(logits, context);
  let row = logits;
  for (const process of logitsProcessors) row = await process(row, context) ?? row;
  return row;
}

/** Functions in the worker, each of which asks the client. */
export function askingFunctions(
  { processes, samples }: AskedFunctions,
  ask: (question: ChoiceQuestion) => Promise<ChoiceReply>,
): ChoiceOptions {
  return {
    ...(processes && {
      logitsProcessors: [
        async (logits, context) => await ask({ what: "process", logits, context }) as Float32Array,
      ],
    }),
    ...(samples && {
      sampler: async (logits, context) => await ask({ what: "sample", logits, context }) as number,
    }),
  };
}
