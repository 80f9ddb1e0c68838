// Sampling on the host's side: the memory of a sampler, and its kernels one after the other.

import type { Allocator, Buffer } from "../../operation.ts";
import type { SamplerOptions, SamplingNeeds } from "../../ops/sampling/mod.ts";
import type { CpuCore } from "../core.ts";
import { inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { workModule } from "../modules.ts";
import { HISTOGRAM_BYTES } from "./cut.ts";
import { addSampling } from "./kernels.ts";
import { CHUNK, CUT_BYTES, DRAW_BYTES, SAMPLER_ARGUMENTS, SURVEY_BYTES } from "./outputs.ts";

/** Cuts that are computed at the same time: each lists candidates in memory of its own. */
const MOST_LANES = 4;

/** A sampler: `run` chooses a token for each of the first outputs; `buffers` are its own memory. */
export function createSampler(
  core: CpuCore,
  allocator: Allocator,
  { buffers, vocabulary, context, outputs: mostOutputs }: SamplerOptions,
): { run(outputs: number, needs: SamplingNeeds): void; buffers: Buffer[] } {
  const chunks = Math.ceil(vocabulary / CHUNK);
  const mostLanes = Math.min(mostOutputs, MOST_LANES);
  const allocate = (name: string, bytes: number) =>
    allocator.buffer(`sampler ${name}`, bytes, "scratch");
  const own = {
    surveys: allocate("surveys", mostOutputs * chunks * SURVEY_BYTES),
    histograms: allocate("histograms", mostOutputs * chunks * HISTOGRAM_BYTES),
    cuts: allocate("cuts", mostOutputs * CUT_BYTES),
    draws: allocate("draws", mostOutputs * chunks * DRAW_BYTES),
    counts: allocate("counts", vocabulary * 4),
    found: allocate("found", mostLanes * vocabulary * 8),
  };
  const { outputs: outputRows, ...others } = buffers;
  const addresses = Object.fromEntries(
    Object.entries({ ...others, outputRows, ...own }).map(([name, buffer]) =>
      [name, cpu(buffer).address] as const
    ),
  ) as Record<keyof typeof others | keyof typeof own | "outputRows", number>;
  const kernels = core.kernels("sampling", () => workModule(addSampling));
  return {
    buffers: Object.values(own),
    run(outputs, { penalties, stochastic }) {
      const lanes = Math.min(outputs, mostLanes);
      const words = inOrder(SAMPLER_ARGUMENTS, {
        ...addresses,
        ...{ vocabulary, outputs, context, chunks, lanes },
      });
      const run = (name: string, items: number) =>
        core.run([{ kernels, name, arguments: words, items }]);
      if (penalties) run("penalize", 1);
      run("survey", outputs * chunks);
      if (stochastic) {
        run("count", outputs * chunks);
        run("cut", lanes);
        run("draw", outputs * chunks);
      }
      run("choose", outputs);
    },
  };
}
