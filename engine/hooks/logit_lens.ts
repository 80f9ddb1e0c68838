// The logit lens (nostalgebraist, 2020): what a model would say if it ended after a layer. The residual
// stream after each layer is put in the place of the last one's, and the model's own norm and head make
// logits of it, whatever its architecture; so it takes a run more than there are layers.

import { exponential, logSumOfExponentials } from "../../kernels/mod.ts";
import { RequestError } from "../errors.ts";
import type { ChatModel, HookPositions } from "../types/mod.ts";

/** A prompt to look at through the lens. */
export interface LogitLensRequest {
  /** Text (BOS is added as the vocabulary says, special tokens are parsed), or token ids as they are. */
  readonly prompt: string | readonly number[];
  /** Positions to tell of. Default: the last. */
  readonly positions?: HookPositions;
  /** Layers as in names of points, such as "0:12" or "-1". Default: all. */
  readonly layers?: string;
  /** Number of most likely tokens to tell for each. Default 5. */
  readonly top?: number;
  /** Aborting it ends the runs. */
  readonly signal?: AbortSignal;
}

/** A likely token. */
export interface LensToken {
  /** Its number in the vocabulary. */
  readonly id: number;
  /** Its text, control tokens by their pieces. */
  readonly text: string;
  /** Its probability, from 0 to 1. */
  readonly probability: number;
}

/** What the model would say at a position after a layer. */
export interface LensPlace {
  /** The layer, from 0 on. */
  readonly layer: number;
  /** Position of the token that is followed. */
  readonly position: number;
  /** The most likely tokens, in descending order. */
  readonly top: readonly LensToken[];
  /** How undecided it is, in bits. */
  readonly entropy: number;
  /** [vocabulary] */
  readonly logits: Float32Array;
}

/** What a model would say after each of its layers. */
export interface LogitLens {
  /** The tokens of the prompt. */
  readonly tokens: readonly number[];
  /** By layer, and by position in each. Those of the last layer are what the model says. */
  readonly places: readonly LensPlace[];
}

/**
 * What a model would say after each of its layers. Errors: RequestError for a number that is none, and
 * for models without logits; those of `run`.
 */
export async function logitLens(
  model: Pick<ChatModel, "run" | "detokenize">,
  { prompt, positions = "last", layers = "*", top = 5, signal }: LogitLensRequest,
): Promise<LogitLens> {
  if (!Number.isInteger(top) || top < 0) {
    throw new RequestError(`Cannot look through the lens: top is ${top}, it must be whole`);
  }
  const ask = { prompt, positions, ...(signal && { signal }) };
  const { tokens, captured } = await model.run({ ...ask, capture: [`residual.post[${layers}]`] });
  const texts = new Map<number, string>();
  const places: LensPlace[] = [];
  for (const { point, values, positions: at } of captured) {
    const layer = Number(/\d+/.exec(point)![0]);
    const replaced = { point: "residual.post[-1]", positions: at, replace: values };
    const seen = await model.run({ ...ask, capture: ["logits"], changes: [replaced] });
    const [{ values: all, shape }] = seen.captured as [typeof captured[number]];
    const columns = shape[1]!;
    for (const [row, position] of at.entries()) {
      const logits = all.slice(row * columns, (row + 1) * columns);
      const { probabilities, entropy } = softmax(logits);
      const ids = greatest(probabilities, top);
      for (const id of ids) {
        if (!texts.has(id)) texts.set(id, await model.detokenize([id]));
      }
      const named = ids.map((id) => {
        return { id, text: texts.get(id)!, probability: probabilities[id]! };
      });
      places.push({ layer, position, top: named, entropy, logits });
    }
  }
  return { tokens, places };
}

function softmax(logits: Float32Array): { probabilities: Float64Array; entropy: number } {
  const normalizer = logSumOfExponentials(logits);
  const probabilities = new Float64Array(logits.length);
  let nats = 0;
  for (let id = 0; id < logits.length; id++) {
    const logprob = logits[id]! - normalizer;
    const probability = probabilities[id] = exponential(logprob);
    if (probability > 0) nats -= probability * logprob;
  }
  return { probabilities, entropy: nats * Math.LOG2E };
}

/** The indices of the greatest values, in descending order, of equal ones the lowest first. */
function greatest(values: Float64Array, count: number): number[] {
  const order = Array.from(values.keys()).sort((a, b) => values[b]! - values[a]! || a - b);
  return order.slice(0, count);
}
