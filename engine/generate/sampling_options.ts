// Defaults and ranges of the sampling options. kernels/ops/sampling takes them resolved.

import type { ResolvedSampling } from "../../kernels/mod.ts";
import { RequestError } from "../errors.ts";
import type { SamplingOptions } from "../types/mod.ts";

/**
 * The options with defaults filled in. Errors: RequestError naming an option that is out of range.
 */
export function resolveSampling(
  options: SamplingOptions,
  contextLength: number,
  masked = false,
): ResolvedSampling {
  const finite = (name: keyof SamplingOptions, fallback: number) => {
    const value = options[name] ?? fallback;
    if (Number.isFinite(value)) return value;
    throw new RequestError(`Cannot sample: ${name} is ${value}, it must be a finite number`);
  };
  const least = (name: keyof SamplingOptions, fallback: number, minimum: number) => {
    const value = finite(name, fallback);
    if (value >= minimum) return value;
    throw new RequestError(`Cannot sample: ${name} is ${value}, it must be at least ${minimum}`);
  };
  const repeatPenalty = least("repeatPenalty", 1, 0);
  if (repeatPenalty === 0) throw new RequestError("Cannot sample: repeatPenalty is 0, it divides");
  const lastN = Math.trunc(least("repeatLastN", 64, -1));
  const seed = options.seed ?? -1;
  if (!Number.isInteger(seed)) throw new RequestError(`Cannot sample: seed is ${seed}, not whole`);
  return {
    temperature: least("temperature", 0.8, 0),
    // Negative values and 0 mean "all", as in Ollama.
    topK: Math.min(2 ** 31, Math.max(0, Math.trunc(finite("topK", 40)))),
    topP: Math.min(1, least("topP", 0.9, 0)),
    minP: Math.min(1, least("minP", 0, 0)),
    repeatPenalty,
    presencePenalty: finite("presencePenalty", 0),
    frequencyPenalty: finite("frequencyPenalty", 0),
    repeatLastN: lastN < 0 ? contextLength : Math.min(lastN, contextLength),
    seed: seed < 0 ? randomSeed() : BigInt(seed),
    masked,
  };
}

function randomSeed(): bigint {
  return crypto.getRandomValues(new BigUint64Array(1))[0];
}
