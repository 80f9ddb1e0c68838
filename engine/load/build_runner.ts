// One file's network on its devices, with its weights and what runs its steps: the part of a load that
// a model and its draft model have in common. A model's own head for multi-token prediction gets a
// network of its own, since it runs in steps of its own. The sizes come from assemble.ts.

import type { CacheTypes } from "../../kernels/mod.ts";
import { UnsupportedModelError } from "../errors.ts";
import { type GgufFile, type TensorBytes, TensorReader } from "../gguf/mod.ts";
import { mtpProjection } from "../models/mtp_head.ts";
import { architectureOf } from "../models/registry.ts";
import {
  allocateStep,
  type ChooseTokens,
  type Classifier,
  type Config,
  ModelBuilder,
  Network,
  readClassifier,
  type StepLimits,
} from "../nn/mod.ts";
import { chooseStateCopies, DeviceStates, StateFeed, StepRunner } from "../run/mod.ts";
import type { LoadOptions } from "../types/mod.ts";
import { Adapter, MOST_ADAPTERS, type Placement, WeightLoader } from "../weights/mod.ts";

/** How a network is built. */
export interface BuildOptions
  extends Pick<LoadOptions, "exact" | "adapters" | "onProgress" | "signal"> {
  /** The source of a file's weights. Default: the file. */
  readonly openTensors?: (gguf: GgufFile) => Promise<TensorBytes>;
  readonly config: Config;
  readonly limits: StepLimits;
  readonly cacheTypes: CacheTypes;
  /** Blocks of the KV cache. */
  readonly cacheBlocks: number;
  /** Whether rows of an image attend to each other in both directions: an image runs in one step. */
  readonly bidirectionalImages: boolean;
  /** Tokens by which some models stretch their positions. */
  readonly window: number;
  /** The tokens whose rows are loaded. Default: all. */
  readonly chooseTokens?: ChooseTokens | undefined;
  /** The limits of steps of the model's head for multi-token prediction. Missing: it is not loaded. */
  readonly headLimits?: StepLimits | undefined;
}

/** A network and what runs its steps. */
export interface Built {
  readonly network: Network;
  readonly runner: StepRunner;
  /** Tokens that it reads. */
  readonly vocabulary: number;
  /** The head of a model that ranks. */
  readonly classifier?: Classifier | undefined;
}

/** The head for multi-token prediction of a model, and the states that it reads. */
export interface BuiltHead extends Built {
  readonly states: StateFeed;
}

/**
 * How a file and this program can draft with a head for multi-token prediction. Of several heads, each
 * trained for a token further on, the first one drafts all tokens of a draft.
 */
export function mtpHeadOf(
  { tensors }: GgufFile,
  config: Config,
): "none" | "known" | "unknown" {
  const heads = config.countOr("nextn_predict_layers", 0);
  if (heads === 0 || !tensors.has(mtpProjection(config.layers))) return "none";
  const { loadMtpHead } = architectureOf(config.architecture);
  return loadMtpHead ? "known" : "unknown";
}

/** A sentence about heads for multi-token prediction in a file that are not used. */
export function mtpWarnings(gguf: GgufFile, config: Config): string[] {
  if (mtpHeadOf(gguf, config) !== "unknown") return [];
  const { architecture } = config;
  return [
    `the file's head for multi-token prediction is not used: it is not known here how it drafts in a ` +
    `model of architecture "${architecture}"; answers are the same without`,
  ];
}

/** Builds a network and loads its weights. Errors: GgufError, UnsupportedModelError, AdapterError. */
export async function buildRunner(
  gguf: GgufFile,
  placement: Placement,
  options: BuildOptions,
): Promise<Built & { head: BuiltHead | undefined }> {
  const { top: device } = placement;
  const { config, limits, cacheTypes, cacheBlocks, bidirectionalImages, headLimits } = options;
  const { openTensors = (file: GgufFile) => TensorReader.open(file) } = options;
  const { architecture } = config;
  const state = allocateStep(device, limits);
  const integer = !options.exact && device.profile.capabilities.packedDot;
  const sizes = { integer, cacheTypes, cacheBlocks };
  const hasHead = headLimits !== undefined && mtpHeadOf(gguf, config) === "known";
  const network = new Network(placement, state, {
    ...sizes,
    limits,
    bidirectionalImages,
    keepsFinalStates: hasHead,
  });
  using resources = new DisposableStack();
  const reader = resources.use(await openTensors(gguf));
  const adapters: Adapter[] = [];
  if ((options.adapters?.length ?? 0) > MOST_ADAPTERS) {
    throw new UnsupportedModelError(
      `Cannot load "${gguf.path}": it has ${
        options.adapters!.length
      } adapters, at most ${MOST_ADAPTERS} are possible`,
    );
  }
  for (const [index, { path }] of (options.adapters ?? []).entries()) {
    const opening = Adapter.open(path, { index, architecture, files: gguf.files, openTensors });
    adapters.push(resources.use(await opening));
  }
  const weights = new WeightLoader(placement, gguf, reader, { ...options, adapters });
  const model = new ModelBuilder(network, weights, config, options);
  const { load, loadMtpHead, isEncoder = false } = architectureOf(architecture);
  await load(model);
  const classifier = readClassifier(weights, config, isEncoder);
  model.checkAllTaken();
  const vocabulary = model.vocabulary.ranges.reduce((sum, [, count]) => sum + count, 0);
  const buildHead = async (most: StepLimits): Promise<BuiltHead> => {
    const state = allocateStep(device, most);
    const network = new Network(placement, state, { ...sizes, limits: most });
    const made = await loadMtpHead!(
      new ModelBuilder(network, weights, config, { ...options, trunk: model }),
    );
    const runner = new StepRunner(device, network, state, most);
    const states = new StateFeed(new DeviceStates(device, made));
    return { network, runner, vocabulary, states };
  };
  const head = hasHead ? await buildHead(headLimits) : undefined;
  for (const adapter of adapters) adapter.checkAllUsed();
  if (adapters.length > 0) network.addAdapters(weights.adapted, adapters.length);
  keepStates(network, Math.min(device.profile.maxBindingSize, device.profile.maxBufferSize));
  const runner = new StepRunner(device, network, state, limits);
  return { network, runner, vocabulary, classifier, head };
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
