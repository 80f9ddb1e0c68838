// Audio encoders: the features of a sound's window become embeddings, which stand in a prompt like those
// of tokens. Weights are loaded once. The network has buffers for a number of frames, and is built again
// for a window with more.

import type { Device, FloatRows } from "../../kernels/mod.ts";
import { nextTask } from "../async.ts";
import { isCancelled, throwIfCancelled } from "../cancellation.ts";
import { type EncoderOptions, EncoderWeights } from "../encoder/mod.ts";
import { type GgufFile, TensorReader } from "../gguf/mod.ts";
import { RowReadback } from "../nn/mod.ts";
import type { EncoderStep } from "../proof/mod.ts";
import { type Placement, wholeOn } from "../weights/mod.ts";
import type { SoundFeatures, SoundWindow } from "./features.ts";
import { type HearingHeader, readHearingHeader } from "./header.ts";
import { type Extent, SoundBuilder } from "./network/builder.ts";
import type { BuiltHearing, HearingFamily } from "./network/family.ts";

/** Frames of the first network, if windows may have any number: some ten seconds. */
const FIRST_FRAMES = 1024;

/** How an audio encoder is loaded. */
export interface SoundEncoderOptions extends EncoderOptions {
  /** Frames of the first network. Default: those of the family's largest window, or some seconds. */
  frames?: number;
}

/** The network for windows of up to a number of frames. */
interface BuiltNetwork {
  readonly device: Device;
  readonly sound: SoundBuilder;
  readonly built: BuiltHearing;
  readonly output: FloatRows;
  readonly readback: RowReadback;
  readonly frames: number;
}

/** The parts of an encoder. */
interface Parts extends HearingHeader {
  readonly weights: EncoderWeights;
  readonly placementOn: (device: Device) => Placement;
  readonly exact: boolean;
  readonly features: SoundFeatures;
}

/** A loaded encoder. Windows are encoded one after the other. Dispose of it to free its memory. */
export class SoundEncoder implements Disposable {
  /** How sounds become windows. */
  readonly features: SoundFeatures;
  /** Columns of a row: the width of the decoder. */
  readonly columns: number;
  readonly #parts: Parts;
  #network: BuiltNetwork | undefined;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(parts: Parts, network: BuiltNetwork) {
    this.#parts = parts;
    this.#network = network;
    this.features = parts.features;
    this.columns = network.output.columns;
  }

  /** Loads an encoder; see {@linkcode loadSoundEncoder}. */
  static async load(
    file: GgufFile,
    device: Device,
    options: SoundEncoderOptions = {},
  ): Promise<SoundEncoder> {
    const header = readHearingHeader(file);
    const { exact = true, placementOn = wholeOn } = options;
    const { openTensors = (file: GgufFile) => TensorReader.open(file) } = options;
    using resources = new DisposableStack();
    const own = resources.use(device.share());
    using reader = await openTensors(file);
    const weights = new EncoderWeights(placementOn(own), header.gguf, reader, options);
    const features = header.family.features(header.config, weights);
    const parts = { ...header, weights, placementOn, exact, features };
    const { most } = features;
    const usual = Number.isFinite(most) ? most : FIRST_FRAMES;
    const network = await buildNetwork(parts, Math.min(options.frames ?? usual, most));
    resources.move();
    return new SoundEncoder(parts, network);
  }

  /** The encoder's family. */
  get family(): HearingFamily {
    return this.#parts.family;
  }

  /** The devices that count its memory. */
  get devices(): readonly Device[] {
    return [this.#parts.weights.placement.top, ...this.#network ? [this.#network.device] : []];
  }

  /** Rows that a window of so many frames becomes. */
  tokensOf(frames: number): number {
    return this.#parts.family.tokens(frames, this.#parts.config);
  }

  /**
   * The embeddings of a window: [tokens, columns].
   *
   * @param signal aborts it: before it begins, between two blocks with a driver on the CPU, or within a
   *   block on the CPU device
   * @throws GpuMemoryError if the window does not fit the GPU; the signal's reason
   */
  encode(window: SoundWindow, signal?: AbortSignal): Promise<Float32Array> {
    const encoded = this.#last.then(() => this.#encode(window, signal));
    this.#last = encoded.catch(() => {});
    return encoded;
  }

  /**
   * Writes a window, and gives the operations that encode it, to run one by one. Nothing else may be
   * encoded meanwhile.
   */
  async operationsFor(window: SoundWindow): Promise<EncoderStep> {
    const { device, sound, built } = await this.#networkFor(window.frames);
    await built.stem?.run(window, () => device.idle());
    sound.write(window, extentOf(window));
    return { device, operations: sound.network.operations("hidden"), shape: sound.step };
  }

  /** Frees all memory. Only allowed while nothing is being encoded. */
  [Symbol.dispose](): void {
    this.#network?.device[Symbol.dispose]();
    this.#parts.weights.placement.top[Symbol.dispose]();
  }

  async #encode(window: SoundWindow, signal: AbortSignal | undefined): Promise<Float32Array> {
    throwIfCancelled(signal);
    const { device, sound, built, readback, output } = await this.#networkFor(window.frames);
    device.check();
    const pause = async () => {
      await device.idle();
      await nextTask();
      throwIfCancelled(signal);
    };
    await built.stem?.run(window, pause);
    sound.write(window, extentOf(window));
    let commands = device.record();
    for (const encode of sound.parts()) {
      commands.pass(encode);
      if (!device.profile.capabilities.software) continue;
      const part = commands.finish();
      device.unless(() => isCancelled(signal), () => device.submit(part));
      await pause();
      commands = device.record();
    }
    const { family, config } = this.#parts;
    const rows = built.rows?.(window.frames) ?? family.tokens(window.frames, config);
    readback.copy(commands, 0, rows);
    device.submit(commands.finish());
    const embeddings = await readback.read(rows);
    throwIfCancelled(signal);
    return await built.finish?.(embeddings, output.columns) ?? embeddings;
  }

  /** A network that is large enough for a window. */
  async #networkFor(frames: number): Promise<BuiltNetwork> {
    if (!this.#network || this.#network.frames < frames) {
      this.#network?.device[Symbol.dispose]();
      this.#network = undefined;
      const ample = Math.min(this.features.most, 2 ** Math.ceil(Math.log2(frames)));
      this.#network = await buildNetwork(this.#parts, ample);
    }
    return this.#network;
  }
}

/** The extent of a whole window. */
function extentOf({ frames }: SoundWindow): Extent {
  return { frames, first: 0, end: frames };
}

/** Builds the network for windows of up to this number of frames. */
async function buildNetwork(parts: Parts, frames: number): Promise<BuiltNetwork> {
  const { family, config, weights, placementOn, exact } = parts;
  using resources = new DisposableStack();
  const device = resources.use(weights.placement.top.share());
  const network = await device.scoped(`build an audio encoder for ${frames} frames`, async () => {
    const most = { frames, first: 0, end: frames };
    const sound = new SoundBuilder(placementOn(device), weights, config, most, exact);
    const built = await family.build(sound);
    const output = sound.finish(built.output);
    const rows = built.rows?.(frames) ?? family.tokens(frames, config);
    const readback = new RowReadback(device, "embeddings", output, Math.max(1, rows));
    await sound.network.prepare();
    return { device, sound, built, output, readback, frames };
  });
  resources.move();
  return network;
}

/**
 * Loads the audio encoder of a GGUF file of architecture "clip". Errors: GgufError,
 * UnsupportedModelError, GpuMemoryError.
 */
export function loadSoundEncoder(
  gguf: GgufFile,
  device: Device,
  options: SoundEncoderOptions = {},
): Promise<SoundEncoder> {
  return SoundEncoder.load(gguf, device, options);
}
