// Puts a model together on a device: step memory, network, weights with their adapters, runner and
// scheduler. It decides all sizes, except that of the KV cache, which run/cache_size.ts does.

import { basename, sha256 } from "../../host/mod.ts";
import { BLOCK, type CacheTypes, typesOf } from "../../kernels/mod.ts";
import { type GgufFile, MetadataReader, type TensorBytes, TensorReader } from "../gguf/mod.ts";
import { architectureOf } from "../models/registry.ts";
import { checkLayers, type Classifier, Config, poolingOf } from "../nn/mod.ts";
import type { MediaLimits } from "../prompt/mod.ts";
import { chooseCacheSize, Scheduler, type StepObserver, tokenBytes } from "../run/mod.ts";
import { DeviceProof, prove, type ProvedPart, proveParts, type TwinOptions } from "../proof/mod.ts";
import { type DeviceFault, KernelTuning } from "../tuning/mod.ts";
import type { LoadOptions, LoadProgress, ModelInfo } from "../types/mod.ts";
import { type BuildOptions, buildRunner } from "./build_runner.ts";
import { keepBlocks, ModelContents } from "./block_tiers.ts";
import { defaultChunk, ENCODER_STEP, LARGE_CHUNK } from "./prefill_chunk.ts";
import { headDrafter, loadDraftModel } from "./draft_model.ts";
import {
  findEncoder,
  hasBidirectionalImages,
  type LoadedVision,
  loadVision,
  provedEncoder,
} from "../vision/mod.ts";
import { findHearing, type LoadedHearing, loadHearing, provedHearing } from "../hearing/mod.ts";
import type { Placement } from "../weights/mod.ts";

/**
 * Default window of encoders in tokens. A text runs in one step, so all activations grow with it.
 */
const ENCODER_CONTEXT = 4096;

const DEFAULT_SEQUENCES = 8;

/** Most workgroups of a dispatch in one direction. Each row of a step may take one for each head. */
const MOST_WORKGROUPS = 65_535;

/** The options of assemble(). */
export interface AssembleOptions extends LoadOptions {
  /** Opens the source of the weights. Default: the file. */
  openTensors?: (gguf: GgufFile) => Promise<TensorBytes>;
  /**
   * Most tokens of an image. A model whose images attend in both directions runs each image in one
   * step. Default: the most that its encoder makes of an image, or 0 without an encoder.
   */
  imageTokens?: number;
  /**
   * Whether to allocate memory for the largest image at once, as an estimate has to. Default: for a
   * usual image.
   */
  largestImage?: boolean;
}

/** An assembled model, ready to run. */
export interface Assembly {
  scheduler: Scheduler;
  /**
   * What the device computes wrongly of the model, compared with the CPU unless that was done before;
   * nothing where no proof is wanted. Call it before anything else runs.
   */
  faults(): Promise<readonly DeviceFault[]>;
  /** The observer for traces and taps of its steps. */
  observer: StepObserver;
  config: Config;
  /** Window in tokens. */
  contextLength: number;
  /** Sequences that can run at the same time. */
  maxSequences: number;
  /** Most tokens of a sequence per step. */
  chunkSize: number;
  /** Whether tokens attend to later ones, so that a text has to run in one step. */
  encoder: boolean;
  /** Images and sounds that a prompt may have; missing for encoders. */
  media: MediaLimits | undefined;
  /** The encoder of images; undefined if the model has none. */
  vision: LoadedVision | undefined;
  /** The encoder of sounds; undefined if the model has none. */
  hearing: LoadedHearing | undefined;
  /** The head of a model that ranks; undefined if it has none. */
  classifier: Classifier | undefined;
  /** Undefined where the device's kernels are not to be tuned. */
  tuning: { start(): void; stop(): Promise<void> } | undefined;
}

/**
 * Loads the weights and builds all that runs them.
 *
 * @throws {GgufError} if the file is not what its architecture needs
 * @throws {UnsupportedModelError} if the architecture or a format is not supported
 * @throws {GpuMemoryError} if the device has too little memory; the signal's reason
 */
export async function assemble(
  gguf: GgufFile,
  info: ModelInfo,
  placement: Placement,
  options: AssembleOptions,
): Promise<Assembly> {
  const { top: device } = placement;
  const { openTensors = (file: GgufFile) => TensorReader.open(file) } = options;
  const { architecture } = info;
  const { isEncoder: encoder = false } = architectureOf(architecture);
  const config = new Config(new MetadataReader(gguf), gguf.path, architecture);
  checkLayers(gguf, config);
  poolingOf(config);
  const exact = options.exact ?? false;
  const cacheTypes = cacheTypesOf(options.cacheType ?? (exact ? "f32" : "f16"));
  const maxBuffer = Math.min(device.profile.maxBindingSize, device.profile.maxBufferSize);
  const slots = encoder ? ENCODER_STEP.texts : options.maxSequences ?? DEFAULT_SEQUENCES;
  const asked = options.contextLength ?? (encoder ? ENCODER_CONTEXT : undefined);
  const { context, blocks } = chooseCacheSize({
    asked,
    trained: info.trainedContextLength,
    slots,
    windows: options.cacheWindows,
    fileSize: info.fileSize,
    tokenBytes: tokenBytes(config, cacheTypes),
    maxBuffer,
  });
  const wanted = options.prefillChunk ?? defaultChunk(device.profile);
  const most = Math.min(LARGE_CHUNK, mostRows(config) - slots);
  const chunkSize = encoder ? context : Math.max(1, Math.min(wanted, most));
  const found = await findEncoder(
    gguf,
    { readsImages: info.readsImages, isEncoder: encoder },
    options,
  );
  const heard = await findHearing(gguf, encoder, options);
  const imageTokens = options.imageTokens ?? found?.mostTokens ?? 0;
  const bidirectionalImages = hasBidirectionalImages(config);
  const imageRows = bidirectionalImages ? imageTokens : 0;
  const rows = encoder
    ? Math.max(context, ENCODER_STEP.rows)
    : Math.max(chunkSize, Math.min(imageRows, context)) + slots;
  // Of an encoder nothing stays in the cache after a step.
  const cacheBlocks = encoder ? Math.ceil(rows / BLOCK) + slots : blocks;
  const limits = {
    rows,
    outputs: encoder ? rows : Math.max(slots, Math.min(chunkSize, 64)),
    slots,
    context,
  };
  // Before the weights are read: the digests are to be those of the weights.
  const contents = encoder ? undefined : await ModelContents.look(gguf, options);
  let own = 0; // bytes of the model's own weights
  const tell = (progress: LoadProgress) => options.onProgress?.(progress);
  const isDrafted = options.draft !== undefined && !encoder;
  const common = { config, cacheTypes, bidirectionalImages, window: asked ?? context };
  const { head, ...built } = await buildRunner(gguf, placement, {
    ...options,
    ...common,
    headLimits: isDrafted || encoder
      ? undefined
      : { rows: chunkSize + slots, outputs: slots, slots, context },
    onProgress(progress) {
      own = progress.total;
      tell(progress);
    },
    limits,
    cacheBlocks,
  });
  const { network, runner } = built;
  const sizes = { slots, context, chunkSize, cacheTypes, cacheBlocks };
  const buildTwin = (where: Placement, twin: TwinOptions & Pick<BuildOptions, "headLimits">) => {
    const { onProgress: _, ...rest } = options;
    const exact = !network.options.integer;
    return buildRunner(gguf, where, { ...rest, ...common, ...twin, exact });
  };
  const drafting = !isDrafted
    ? head && await headDrafter(gguf, device, head, sizes, async (where, twin) => {
      const built = await buildTwin(where, { ...twin, headLimits: twin.limits });
      return built.head!;
    })
    : await loadDraftModel(
      gguf,
      options.draft!,
      placement,
      sizes,
      {
        ...options,
        onProgress: ({ loaded, total }) => tell({ loaded: own + loaded, total: own + total }),
      },
    );
  const scheduler = new Scheduler(runner, {
    cacheBlocks,
    chunkSize,
    drafter: drafting?.drafter,
  });
  const media = encoder ? undefined : {
    columns: network.media.columns,
    tokens: bidirectionalImages ? rows - slots : Infinity,
  };
  if (found || heard) network.media.allocate();
  const vision = found && await loadVision(found, device, {
    scheduler,
    openTensors,
    largestImage: options.largestImage ?? false,
    ...(options.signal && { signal: options.signal }),
  });
  const hearing = heard && await loadHearing(heard, device, {
    scheduler,
    openTensors,
    columns: network.media.columns,
    ...(options.signal && { signal: options.signal }),
  });
  const tuning = KernelTuning.of(device, options.tuning);
  const proof = DeviceProof.of(device, options.proof);
  const parts: readonly ProvedPart[] = [
    { file: gguf, prove: () => prove({ ...built, device, isEncoder: encoder }, buildTwin) },
    ...drafting ? [drafting.network] : [],
    ...found && vision ? [provedEncoder(found.file, vision.encoder)] : [],
    ...heard && hearing ? [provedHearing(heard, hearing.encoder)] : [],
  ];
  network.allocate();
  await proof?.restore();
  await tuning?.restore();
  await network.prepare();
  await runner.prepare();
  const facts = { device: device.profile, context: asked ?? context };
  await keepBlocks(scheduler, { gguf, contents, options, facts });
  return {
    scheduler,
    tuning: tuning && {
      start: () =>
        tuning.start({
          get load() {
            return scheduler.load;
          },
          between: (work) => scheduler.between(work),
          prepare: () => network.prepare(),
        }),
      stop: () => tuning.stop(),
    },
    faults: async () =>
      await proof?.faultsOf({
        key: proofKey(parts, { exact, cacheTypes, rows, adapters: options.adapters?.length ?? 0 }),
        name: nameOf(gguf),
        prove: () => proveParts(parts),
        prepare: () => network.prepare(),
      }) ?? [],
    observer: runner.observer,
    config,
    contextLength: context,
    maxSequences: slots,
    chunkSize,
    encoder,
    media,
    vision,
    hearing,
    classifier: built.classifier,
  };
}

function nameOf({ metadata, path }: GgufFile): string {
  const name = metadata["general.name"];
  return typeof name === "string" && name !== "" ? name : basename(path);
}

/** The key of a model that is proved: all on which its operations depend. */
function proofKey(
  parts: readonly ProvedPart[],
  options: { exact: boolean; cacheTypes: CacheTypes; rows: number; adapters: number },
): string {
  const shapes = parts.map(({ name: part, file }) => [
    part,
    [...file.tensors.values()].map(({ name, type, shape }) => [name, type, shape]),
  ]);
  return sha256().update(JSON.stringify([shapes, options])).digest("hex").slice(0, 32);
}

/** The types of keys and values that a load option names. */
function cacheTypesOf(type: NonNullable<LoadOptions["cacheType"]>): CacheTypes {
  return typeof type === "object" ? type : typesOf(type);
}

/** Most rows of a step of texts. */
function mostRows(config: Config): number {
  const heads = config.countsPerLayer("attention.head_count");
  return Math.floor(MOST_WORKGROUPS / Math.max(1, ...heads));
}
