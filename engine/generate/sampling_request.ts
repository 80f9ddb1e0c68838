// The options of a request that decide how a token is chosen: defaults filled in, and bounds checked by the
// table of options (engine/types).

import { Mirostat, type ResolvedSampling } from "../../kernels/mod.ts";
import { RequestError } from "../errors.ts";
import {
  type GenerateRequest,
  type OptionInfo,
  SAMPLING_OPTIONS,
  type SamplingOptions,
  TOKEN_OPTIONS,
} from "../types/mod.ts";

/**
 * The options with defaults filled in. Errors: RequestError naming an option that is out of range.
 */
export function resolveSampling(
  options: SamplingOptions,
  contextLength: number,
  masked = false,
): ResolvedSampling {
  const { seed = -1 } = options;
  if (!Number.isInteger(seed)) throw new RequestError(`Cannot sample: seed is ${seed}, not whole`);
  const checked = Object.fromEntries(
    Object.entries<OptionInfo>(SAMPLING_OPTIONS).map(([name, info]) => {
      const value = options[name as keyof SamplingOptions] ?? info.default;
      return [name, value === undefined ? undefined : check(name, value, info)];
    }),
  ) as { [Name in keyof SamplingOptions]-?: number };
  if (checked.repeatPenalty === 0) {
    throw new RequestError("Cannot sample: repeatPenalty is 0, it divides");
  }
  const lastN = Math.trunc(checked.repeatLastN);
  return {
    ...checked,
    // Negative values and 0 mean "all", as in Ollama.
    topK: Math.min(2 ** 31, Math.max(0, Math.trunc(checked.topK))),
    repeatLastN: lastN < 0 ? contextLength : Math.min(lastN, contextLength),
    seed: seed < 0 ? randomSeed() : BigInt(seed),
    masked,
  };
}

/** Checks the options of single tokens, such as of repetition. Errors: RequestError naming one out of range. */
export function checkTokenOptions(
  request: Pick<GenerateRequest, keyof typeof TOKEN_OPTIONS>,
): void {
  for (const [name, info] of Object.entries<OptionInfo>(TOKEN_OPTIONS)) {
    const value = request[name as keyof typeof TOKEN_OPTIONS];
    if (typeof value === "number") check(name, value, info);
  }
}

/** What chooses the tokens in the place of the filters, if the request wants it and tokens are drawn. */
export function mirostatOf(
  { mirostat: version = 0, mirostatTau, mirostatEta }: SamplingOptions,
  { temperature }: ResolvedSampling,
): Mirostat | undefined {
  if (version !== 0 && version !== 1 && version !== 2) {
    throw new RequestError(`Cannot sample: mirostat is ${version}, it must be 0, 1 or 2`);
  }
  if (version === 0 || temperature === 0) return undefined;
  const { mirostatTau: tau, mirostatEta: eta } = SAMPLING_OPTIONS;
  return new Mirostat({
    version,
    tau: mirostatTau ?? tau.default,
    eta: mirostatEta ?? eta.default,
  });
}

/** A value within its bounds. Greater ones than the greatest count as that. */
function check(name: string, value: number, { minimum, maximum = Infinity }: OptionInfo): number {
  const state = !Number.isFinite(value)
    ? "a finite number"
    : minimum !== undefined && value < minimum
    ? `at least ${minimum}`
    : undefined;
  if (state === undefined) return Math.min(value, maximum);
  throw new RequestError(`Cannot sample: ${name} is ${value}, it must be ${state}`);
}

function randomSeed(): bigint {
  return crypto.getRandomValues(new BigUint64Array(1))[0];
}
