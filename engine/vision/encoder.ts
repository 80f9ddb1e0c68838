// Image encoders: the pixels of a preprocessed image become embeddings, which stand in a prompt
// like those of tokens. Weights are loaded once. The network has buffers for a number of patches,
// and is built again for an image with more. image/ and preprocess/ decode and resize pictures.

import type { Device } from "../../kernels/mod.ts";
import { type GgufFile, MetadataReader, TensorReader } from "../gguf/mod.ts";
import { nextTask } from "../async.ts";
import { isCancelled, throwIfCancelled } from "../cancellation.ts";
import { RowReadback } from "../nn/mod.ts";
import type { EncoderStep } from "../proof/mod.ts";
import { type Placement, wholeOn } from "../weights/mod.ts";
import { ImageBuilder } from "./network/builder.ts";
import type { BuiltEncoder, VisionFamily } from "./network/family.ts";
import { readMerge } from "./preprocess/mod.ts";
import { readEncoderHeader } from "./files/encoder_file.ts";
import { type ImageSize, PatchGrid, type PatchLayout } from "./network/patch_grid.ts";
import { type EncoderOptions, EncoderWeights } from "../encoder/mod.ts";
import { checkEncoder, MOST_PATCHES, VisionConfig } from "./network/config.ts";

/** Patches of the first network, if images may have any size. */
const FIRST_PATCHES = 1024;

/** How an image encoder is loaded. */
export interface ImageEncoderOptions extends EncoderOptions {
  /** Patches of the first network. Default: those of an image if all have one size, else 1024. */
  patches?: number;
  /** Patches of the largest possible image. No network is built for more. */
  most?: number;
}

/** The network for images of up to a number of patches. */
interface BuiltNetwork {
  readonly device: Device;
  readonly image: ImageBuilder;
  readonly built: BuiltEncoder;
  readonly readback: RowReadback;
  readonly patches: number;
  /** Shape of the image for which it is prepared. */
  shape?: string;
}

/** The parts of an encoder. */
interface Parts {
  readonly family: VisionFamily;
  readonly config: VisionConfig;
  readonly weights: EncoderWeights;
  readonly placementOn: (device: Device) => Placement;
  readonly exact: boolean;
  readonly most: number;
  readonly hasClassToken: boolean;
}

/** A loaded encoder. Images are encoded one after the other. Dispose of it to free its memory. */
export class ImageEncoder implements Disposable {
  /** Columns of the decoder's embeddings. */
  readonly width: number;
  /**
   * Columns of a row: the width of the decoder for the embedding, and again for each deepstack
   * layer.
   */
  readonly columns: number;
  readonly #parts: Parts;
  readonly #breaksLines: boolean;
  #network: BuiltNetwork | undefined;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    parts: Parts,
    network: BuiltNetwork,
  ) {
    this.#parts = parts;
    this.#network = network;
    const { output, width = output.columns, breaksLines = false } = network.built;
    this.#breaksLines = breaksLines;
    this.width = width;
    this.columns = output.columns;
  }

  /** Loads an encoder; see {@linkcode loadImageEncoder}. */
  static async load(
    file: GgufFile,
    device: Device,
    options: ImageEncoderOptions = {},
  ): Promise<ImageEncoder> {
    const { gguf, family } = readEncoderHeader(file);
    const { exact = true, most = MOST_PATCHES, placementOn = wholeOn } = options;
    const { openTensors = (file: GgufFile) => TensorReader.open(file) } = options;
    const config = new VisionConfig(new MetadataReader(gguf), gguf.path, "clip.vision");
    checkEncoder(gguf, config);
    const isAnySize = family.pictures.method === "dynamic";
    const usual = isAnySize ? FIRST_PATCHES : config.usualPatches || FIRST_PATCHES;
    using resources = new DisposableStack();
    const own = resources.use(device.share());
    using reader = await openTensors(gguf);
    const weights = new EncoderWeights(placementOn(own), gguf, reader, options);
    const hasClassToken = family.classToken?.(gguf, config) ?? false;
    const parts = { family, config, weights, placementOn, exact, most, hasClassToken };
    const network = await buildNetwork(parts, options.patches ?? Math.min(usual, most));
    network.image.checkAllTaken(family.readsSomeLayers ?? false);
    resources.move();
    return new ImageEncoder(parts, network);
  }

  /** The encoder's family. */
  get family(): VisionFamily {
    return this.#parts.family;
  }

  /** Most patches of an image. */
  get most(): number {
    return this.#network?.image.onlyPatches ?? this.#parts.most;
  }

  /** How it divides images into patches. */
  get layout(): PatchLayout {
    return layoutOf(this.#parts);
  }

  /** The numbers of the file. */
  get config(): VisionConfig {
    return this.#parts.config;
  }

  /** The devices that count its memory. */
  get devices(): readonly Device[] {
    return [this.#parts.weights.placement.top, ...this.#network ? [this.#network.device] : []];
  }

  /** Bytes on its devices. */
  get memory(): number {
    return this.devices.flatMap(({ allocated }) => [...allocated.values()])
      .reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Tokens of an image. Its sides must be multiples of a token's side. */
  tokensOf({ width, height }: ImageSize): number {
    const { patchSize, merge } = this.layout;
    const lines = height / (patchSize * merge);
    return lines * width / (patchSize * merge) + (this.#breaksLines ? lines - 1 : 0);
  }

  /**
   * The embeddings of an image: [tokens, columns].
   * @param pixels normalized, [height, width, 3]
   * @param signal aborts it: before it begins, between two blocks with a driver on the CPU, or
   *   within a
   *   block on the CPU device
   * @throws RangeError for a size that the encoder cannot take
   * @throws GpuMemoryError if the image does not fit the GPU; the signal's reason
   */
  encode(pixels: Float32Array, size: ImageSize, signal?: AbortSignal): Promise<Float32Array> {
    const encoded = this.#last.then(() => this.#encode(pixels, size, signal));
    this.#last = encoded.catch(() => {});
    return encoded;
  }

  /**
   * Writes an image, and gives the operations that encode it, to run one by one. Nothing else may be
   * encoded meanwhile. It may have fewer patches than the images that the encoder is for. Errors: those
   * of encode().
   */
  async operationsFor(pixels: Float32Array, size: ImageSize): Promise<EncoderStep> {
    const { device, image, grid } = await this.#write(pixels, size);
    return { device, operations: image.network.operations("hidden"), shape: image.stepOf(grid) };
  }

  /** Frees all memory. Only allowed while no image is being encoded. */
  [Symbol.dispose](): void {
    this.#network?.device[Symbol.dispose]();
    this.#parts.weights.placement.top[Symbol.dispose]();
  }

  async #encode(
    pixels: Float32Array,
    size: ImageSize,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array> {
    throwIfCancelled(signal);
    const { grid, device, image, built, readback } = await this.#write(pixels, size);
    if (grid.patches !== (image.onlyPatches ?? grid.patches)) {
      throw new RangeError(
        `Cannot encode an image of ${grid.columns} x ${grid.rows} patches: ` +
          `this encoder takes ${image.onlyPatches}`,
      );
    }
    let commands = device.record();
    for (const encode of image.parts(grid)) {
      commands.pass(encode);
      if (!device.profile.capabilities.software) continue;
      const part = commands.finish();
      device.unless(() => isCancelled(signal), () => device.submit(part));
      await device.idle();
      await nextTask();
      throwIfCancelled(signal);
      commands = device.record();
    }
    readback.copy(commands, 0, grid.tokens);
    device.submit(commands.finish());
    const embeddings = await readback.read(grid.tokens);
    return built.finish?.(embeddings, grid) ?? embeddings;
  }

  async #write(pixels: Float32Array, size: ImageSize): Promise<BuiltNetwork & { grid: PatchGrid }> {
    const { family } = this.#parts;
    const grid = new PatchGrid(size, this.layout);
    const expected = 3 * size.width * size.height;
    if (pixels.length !== expected) {
      throw new RangeError(`Cannot encode ${pixels.length} values: the image has ${expected}`);
    }
    const network = await this.#networkFor(grid);
    const { device, image } = network;
    device.check();
    const { scale = 1, offset = 0 } = family.pixels ?? {};
    const scaled = family.pixels ? pixels.map((value) => scale * value + offset) : pixels;
    const rows = grid.patches + image.options.extraRows;
    device.write(image.pixels.floats, 0, grid.cut(scaled, rows));
    return { ...network, grid };
  }

  /** A network that is large enough for the image, prepared for its shape. */
  async #networkFor(grid: PatchGrid): Promise<BuiltNetwork> {
    if (grid.patches > MOST_PATCHES) {
      throw new RangeError(
        `Cannot encode an image of ${grid.patches} patches: at most ${MOST_PATCHES} are possible`,
      );
    }
    if (!this.#network || this.#network.patches < grid.patches) {
      this.#network?.device[Symbol.dispose]();
      this.#network = undefined;
      const { most } = this.#parts;
      const ample = Math.min(most, 2 ** Math.ceil(Math.log2(grid.patches)));
      this.#network = await buildNetwork(this.#parts, Math.max(grid.patches, ample));
    }
    const network = this.#network;
    const shape = `${grid.columns} x ${grid.rows}`;
    if (network.shape !== shape) {
      delete network.shape;
      network.image.prepare(grid);
      network.shape = shape;
    }
    return network;
  }
}

function layoutOf({ family, config }: Parts): PatchLayout {
  const { columnsFirst = false } = family;
  return {
    patchSize: config.patchSize,
    merge: readMerge(config.metadata, family.pictures),
    columnsFirst,
  };
}

/** Builds the network for images of up to this number of patches. */
async function buildNetwork(parts: Parts, patches: number): Promise<BuiltNetwork> {
  const { family, config, weights, placementOn, exact, hasClassToken } = parts;
  const { merge } = layoutOf(parts);
  const extraRows = hasClassToken ? 1 : 0;
  using resources = new DisposableStack();
  const device = resources.use(weights.placement.top.share());
  const network = await device.scoped(`build an image encoder for ${patches} patches`, async () => {
    const sizes = { exact, patches, merge, extraRows };
    const image = new ImageBuilder(placementOn(device), weights, config, sizes);
    const built = await family.build(image);
    const readback = new RowReadback(device, "embeddings", image.finish(built.output), patches);
    await image.network.prepare();
    return { device, image, built, readback, patches };
  });
  resources.move();
  return network;
}

/**
 * Loads the image encoder of a GGUF file: a projector, or a file with a decoder, too. Errors:
 * GgufError, UnsupportedModelError, GpuMemoryError.
 */
export function loadImageEncoder(
  gguf: GgufFile,
  device: Device,
  options: ImageEncoderOptions = {},
): Promise<ImageEncoder> {
  return ImageEncoder.load(gguf, device, options);
}
