// One file's network on its devices, with its weights and what runs its steps: the part of a load that
// a model and its draft model have in common. The sizes come from assemble.ts.

import type { CacheTypes } from "../../kernels/mod.ts";
import { type GgufFile, type TensorBytes, TensorReader } from "../gguf/mod.ts";
import { architectureOf } from "../models/registry.ts";
import { allocateStep, type Config, ModelBuilder, Network, type StepLimits } from "../nn/mod.ts";
import { chooseStateCopies, StepRunner } from "../run/mod.ts";
import type { LoadOptions } from "../types.ts";
import { Adapter, type Placement, WeightLoader } from "../weights/mod.ts";

/** How a network is built. */
export interface BuildOptions
  extends Pick<LoadOptions, "exact" | "adapters" | "onProgress" | "signal"> {
  /** Where the weights of a file come from. Default: from the file. */
  readonly openTensors?: (gguf: GgufFile) => Promise<TensorBytes>;
  readonly config: Config;
  readonly limits: StepLimits;
  readonly cacheTypes: CacheTypes;
  /** Blocks of the KV cache. */
  readonly cacheBlocks: number;
  /** Whether an image has to run in one step. */
  readonly wholeImages: boolean;
  /** Tokens by which some models stretch their positions. */
  readonly window: number;
}

/** Builds a network and loads its weights. Errors: GgufError, UnsupportedModelError, AdapterError. */
export async function buildRunner(
  gguf: GgufFile,
  placement: Placement,
  options: BuildOptions,
): Promise<{ network: Network; runner: StepRunner }> {
  const { top: device } = placement;
  const { config, limits, cacheTypes, cacheBlocks, wholeImages } = options;
  const { openTensors = (file: GgufFile) => TensorReader.open(file) } = options;
  const { architecture } = config;
  const state = allocateStep(device, limits);
  const network = new Network(placement, state, {
    limits,
    integer: !options.exact && device.profile.capabilities.packedDot,
    cacheTypes,
    cacheBlocks,
    wholeImages,
  });
  using resources = new DisposableStack();
  const reader = resources.use(await openTensors(gguf));
  const adapters: Adapter[] = [];
  for (const { path, scale = 1 } of options.adapters ?? []) {
    adapters.push(resources.use(await Adapter.open(path, { scale, architecture, openTensors })));
  }
  const weights = new WeightLoader(placement, gguf, reader, { ...options, adapters });
  const model = new ModelBuilder(network, weights, config, options.window);
  await architectureOf(architecture).load(model);
  model.checkAllTaken();
  for (const adapter of adapters) adapter.checkAllUsed();
  keepStates(network, Math.min(device.profile.maxBindingSize, device.profile.maxBufferSize));
  return { network, runner: new StepRunner(device, network, state, limits) };
}

/** Allocates the copies of recurrent states from which conversations continue. */
function keepStates({ memory }: Network, maxBuffer: number): void {
  const bytes = memory.states.map(({ floats }) => floats * 4);
  const cacheBytes = memory.caches.reduce(
    (sum, { keys, values }) => sum + keys.size + (values?.size ?? 0),
    0,
  );
  memory.allocateStateCopies(chooseStateCopies({
    stateBytes: bytes.reduce((sum, count) => sum + count, 0),
    largest: Math.max(0, ...bytes),
    cacheBytes,
    maxBuffer,
  }));
}
