// The two networks of a Whisper on a device: sounds are encoded a window at a time, and tokens are
// decoded in steps over several sequences, all of which attend to the window that was encoded last.

import {
  type CacheType,
  type Device,
  type FloatRows,
  PLAN_ROW,
  QUERY_TILE,
  type Recorder,
  STEP_ROW,
  typesOf,
} from "../../kernels/mod.ts";
import { nextTask } from "../async.ts";
import { isCancelled, throwIfCancelled } from "../cancellation.ts";
import { NotFiniteError } from "../errors.ts";
import { type GgufFile, MetadataReader, type TensorBytes, TensorReader } from "../gguf/mod.ts";
import {
  allocateStep,
  Config,
  EncodedRows,
  Network,
  RowReadback,
  type StepLimits,
  type StepShape,
  type StepState,
} from "../nn/mod.ts";
import type { LoadOptions } from "../types/mod.ts";
import { type Placement, WeightLoader, type WeightOptions } from "../weights/mod.ts";
import {
  CONVOLUTION_FRAMES,
  FRAMES_PER_ROW,
  loadWhisper,
  readSizes,
  stemColumns,
  type WhisperSizes,
} from "./whisper.ts";
import { AlignmentReader, type CrossLayer, type HeadAttention } from "./alignment_heads.ts";

/** Sequences that are decoded side by side, of which the best one is taken. */
export const MOST_SEQUENCES = 5;

/** Most logits of a step. */
const MOST_OUTPUTS = 32;

/** Tokens of one sequence in a step. */
export interface TokenRun {
  /** The sequence, below {@linkcode MOST_SEQUENCES}. */
  readonly slot: number;
  /** Position of the first token. */
  readonly position: number;
  readonly tokens: readonly number[];
  /** The tokens behind which logits are wanted, by index: at most 32. Default: the last one. */
  readonly outputs?: readonly number[];
}

/** How the networks are loaded. */
export interface SpeechNetworkOptions extends Pick<WeightOptions, "onProgress" | "signal"> {
  /** Opens the source of the weights. Default: the file. */
  readonly openTensors?: (gguf: GgufFile) => Promise<TensorBytes>;
  /** Whether activations of quantized weights are f32. Default: as the device is faster. */
  readonly exact?: boolean;
  /** Type of keys and values. Default f32, because some choices between tokens are close. */
  readonly cacheType?: CacheType;
}

/** The options of a load that speech models heed. */
export function speechOptions(options: LoadOptions): SpeechNetworkOptions {
  const { exact, cacheType, onProgress, signal } = options;
  return {
    ...exact !== undefined && { exact },
    ...typeof cacheType === "string" && { cacheType },
    ...onProgress && { onProgress },
    ...signal && { signal },
  };
}

/** The networks of a model. The device owns their memory. */
export class SpeechNetwork {
  readonly sizes: WhisperSizes;
  readonly device: Device;
  readonly #parts: Parts;
  #encoderShape: StepShape | undefined;

  private constructor(device: Device, sizes: WhisperSizes, parts: Parts) {
    this.device = device;
    this.sizes = sizes;
    this.#parts = parts;
  }

  /** Loads the weights and builds the networks. Errors: GgufError, GpuMemoryError. */
  static async load(
    gguf: GgufFile,
    placement: Placement,
    options: SpeechNetworkOptions = {},
  ): Promise<SpeechNetwork> {
    const device = placement.top;
    const config = new Config(new MetadataReader(gguf), gguf.path, "whisper");
    const sizes = readSizes(config);
    const { openTensors = (file: GgufFile) => TensorReader.open(file), exact = false } = options;
    using reader = await openTensors(gguf);
    const weights = new WeightLoader(placement, gguf, reader, options);
    const integer = !exact && device.profile.capabilities.packedDot;
    const networkOf = (limits: StepLimits, cacheBlocks: number) => {
      const state = allocateStep(device, limits);
      const cacheTypes = typesOf(options.cacheType ?? "f32");
      return new Network(placement, state, { limits, integer, cacheTypes, cacheBlocks });
    };
    const { rows, context } = sizes;
    const encoder = networkOf({ rows, outputs: 1, slots: 1, context: rows }, Math.ceil(rows / 32));
    const stem = new Network(
      placement,
      encoder.state,
      {
        ...encoder.options,
        limits: { ...encoder.options.limits, rows: CONVOLUTION_FRAMES * rows },
      },
      {
        network: encoder,
        shapeOf: (step) => ({ ...step, rows: CONVOLUTION_FRAMES * step.rows }),
      },
    );
    const slots = MOST_SEQUENCES;
    const limits = { rows: context, outputs: MOST_OUTPUTS, slots, context };
    const decoder = networkOf(limits, slots * Math.ceil(context / 32));
    const { heads } = sizes;
    const shape = { rows: decoder.state.rows, limits, length: rows, heads };
    const encoded = new EncodedRows(device, shape);
    const columns = stemColumns(sizes);
    const frames = stem.memory.floats("frames", columns, CONVOLUTION_FRAMES * rows);
    const encodedType = options.cacheType === "f16" ? "f16" : "f32";
    const builder = { sizes, config, weights, frames, stem, encoder, decoder, encoded };
    const { x, crossings } = await loadWhisper({ ...builder, encodedType });
    weights.inventory.checkAllTaken(() => false);
    encoder.keep(x);
    await encoder.prepare();
    await decoder.prepare();
    writeTable(device, decoder.state, slots);
    const logits = decoder.outputRows("logits")!;
    return new SpeechNetwork(device, sizes, {
      encoder,
      decoder,
      encoded,
      frames,
      output: encoder.allocated(x),
      logits: new RowReadback(device, "logits", logits, MOST_OUTPUTS),
      crossings: new Map([...crossings].map(([layer, { queries, cache }]) => [layer, {
        queries: decoder.allocated(queries),
        cache,
      }])),
    });
  }

  /** Frames of a window. */
  get frames(): number {
    return FRAMES_PER_ROW * this.sizes.rows;
  }

  /**
   * Encodes a window, to which all sequences attend from then on.
   *
   * @param features log-mel features: [frames, bins]
   * @param rows how many rows are made of them. Default: all of a window, as the model was trained with;
   *   fewer take less time
   * @throws the signal's reason; CancelledError
   */
  async encode(
    features: Float32Array,
    signal?: AbortSignal,
    rows: number = this.sizes.rows,
  ): Promise<void> {
    throwIfCancelled(signal);
    const { device } = this;
    const { encoder, encoded, frames } = this.#parts;
    device.check();
    let shape = this.#encoderShape;
    if (shape?.rows !== rows) shape = this.#encoderShape = writeEncoderStep(device, encoder, rows);
    encoded.length = rows;
    device.write(frames.floats, 0, this.#stemRows(features, rows));
    const commands = device.record();
    commands.pass((pass) => encoder.encode(pass, shape, "hidden"));
    const recorded = commands.finish();
    device.unless(() => isCancelled(signal), () => device.submit(recorded));
    await device.idle();
    await nextTask();
    throwIfCancelled(signal);
  }

  /** The encoder's rows of the last window: [rows, width]. */
  async encodedRows(): Promise<Float32Array> {
    const { device, sizes: { rows } } = this;
    const readback = new RowReadback(device, "encoded", this.#parts.output, rows);
    const commands = device.record();
    readback.copy(commands, 0, rows);
    device.submit(commands.finish());
    try {
      return await readback.read(rows);
    } finally {
      readback.free();
    }
  }

  /**
   * Runs tokens of several sequences. Their earlier positions must have been run since the last call
   * with position 0. Gives the logits of the wanted tokens in order: [outputs, vocabulary].
   *
   * @throws {NotFiniteError}; the signal's reason; CancelledError
   */
  async step(runs: readonly TokenRun[], signal?: AbortSignal): Promise<Float32Array> {
    return await this.#step(runs, signal);
  }

  /**
   * Runs a whole text as the first sequence, and gives what the alignment heads attended with and to.
   *
   * @param onLogits receives the logits behind each token, and its index
   * @throws as {@linkcode SpeechNetwork.step}
   */
  async align(
    tokens: readonly number[],
    onLogits: (logits: Float32Array, index: number) => void,
    signal?: AbortSignal,
  ): Promise<HeadAttention[]> {
    const { device, sizes: { alignment, heads, vocabulary } } = this;
    const shape = { ...heads, rows: this.#parts.encoded.length, most: MOST_OUTPUTS };
    using reader = new AlignmentReader(device, alignment, this.#parts.crossings, shape);
    for (let position = 0; position < tokens.length; position += MOST_OUTPUTS) {
      const own = tokens.slice(position, position + MOST_OUTPUTS);
      const run = { slot: 0, position, tokens: own, outputs: [...own.keys()] };
      const logits = await this.#step(
        [run],
        signal,
        (commands) => reader.copy(commands, own.length),
      );
      await reader.read(own.length);
      for (const i of own.keys()) {
        onLogits(logits.subarray(i * vocabulary, (i + 1) * vocabulary), position + i);
      }
    }
    return await reader.attention();
  }

  async #step(
    runs: readonly TokenRun[],
    signal: AbortSignal | undefined,
    andCopy?: (commands: Recorder) => void,
  ): Promise<Float32Array> {
    throwIfCancelled(signal);
    const { device } = this;
    const { decoder, logits } = this.#parts;
    device.check();
    const shape = this.#writeStep(runs);
    const commands = device.record();
    commands.pass((pass) => decoder.encode(pass, shape, "logits"));
    logits.copy(commands, 0, shape.outputs);
    andCopy?.(commands);
    const recorded = commands.finish();
    device.unless(() => isCancelled(signal), () => device.submit(recorded));
    const values = await logits.read(shape.outputs);
    await nextTask();
    throwIfCancelled(signal);
    // One value that is not finite makes the sum so.
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[i];
    if (!Number.isFinite(sum)) throw new NotFiniteError("logits");
    return values;
  }

  /** Writes the rows of a step of the decoder. */
  #writeStep(runs: readonly TokenRun[]): StepShape {
    const { decoder: { state, tileRows }, encoded } = this.#parts;
    const rows = runs.reduce((sum, { tokens }) => sum + tokens.length, 0);
    const plan = PLAN_ROW.list(rows);
    const tiles = [];
    const outputs: number[] = [];
    let first = 0;
    let context = 0;
    for (const { slot, position, tokens, outputs: wanted = [tokens.length - 1] } of runs) {
      for (const [i, token] of tokens.entries()) {
        const delta = { timeDelta: 0, heightDelta: 0, widthDelta: 0 };
        plan.add({ token, position: position + i, slot, inSlot: 0, ...delta });
      }
      for (let row = 0; row < tokens.length; row += tileRows) {
        const count = Math.min(tileRows, tokens.length - row);
        tiles.push({ firstRow: first + row, rows: count, end: 0, imageEnd: 0 });
      }
      outputs.push(...wanted.map((index) => first + index));
      first += tokens.length;
      context = Math.max(context, position + tokens.length);
    }
    const isDecode = rows === runs.length;
    const { device } = this;
    device.write(state.plan, 0, plan.packed);
    device.write(state.outputs, 0, Uint32Array.from(outputs));
    if (!isDecode) device.write(state.prefillTiles, 0, QUERY_TILE.pack(tiles));
    encoded.write(runs.map(({ tokens }) => tokens.length));
    return {
      rows,
      sequences: runs.length,
      mediaRows: 0,
      adapters: 0,
      outputs: outputs.length,
      decodeRows: isDecode ? rows : 0,
      decodeContext: isDecode ? context : 0,
      prefillTiles: isDecode ? 0 : tiles.length,
      prefillContext: isDecode ? 0 : context,
    };
  }

  /** The three frames of each row of the encoder, side by side, as the first convolution reads them. */
  #stemRows(features: Float32Array, rows: number): Float32Array<ArrayBuffer> {
    const { bins } = this.sizes;
    const frames = FRAMES_PER_ROW * rows;
    const { stride } = this.#parts.frames;
    const all = new Float32Array(CONVOLUTION_FRAMES * rows * stride);
    for (let row = 0, at = 0; row < rows; row++) {
      for (let i = 0; i < CONVOLUTION_FRAMES; i++, at += stride) {
        // The second convolution reads the frame before its first one as zeros.
        const frame = FRAMES_PER_ROW * row + i - 1;
        if (frame < 0 || frame >= frames) continue;
        const [from, end] = [Math.max(0, frame - 1), Math.min(frames, frame + 2)];
        all.set(features.subarray(from * bins, end * bins), at + (from - frame + 1) * bins);
        all[at + CONVOLUTION_FRAMES * bins] = 1;
      }
    }
    return all;
  }
}

interface Parts {
  readonly encoder: Network;
  readonly decoder: Network;
  readonly encoded: EncodedRows;
  readonly frames: FloatRows;
  readonly output: FloatRows;
  readonly logits: RowReadback;
  /** The layers of the alignment heads. */
  readonly crossings: ReadonlyMap<number, CrossLayer>;
}

/** Writes the encoder's step, in which all rows attend to each other. */
function writeEncoderStep(device: Device, encoder: Network, rows: number): StepShape {
  const { state, tileRows } = encoder;
  const list = STEP_ROW.list(rows);
  for (let position = 0; position < rows; position++) {
    list.add({ token: 0, position, slot: 0, time: 0, height: 0, width: 0 });
  }
  const tiles = Array.from({ length: Math.ceil(rows / tileRows) }, (_, i) => {
    const firstRow = i * tileRows;
    return { firstRow, rows: Math.min(tileRows, rows - firstRow), end: rows, imageEnd: 0 };
  });
  device.write(state.rows, 0, list.packed);
  device.write(state.prefillTiles, 0, QUERY_TILE.pack(tiles));
  writeTable(device, state, 1);
  return {
    rows,
    sequences: 1,
    mediaRows: 0,
    adapters: 0,
    outputs: 0,
    decodeRows: 0,
    decodeContext: 0,
    prefillTiles: tiles.length,
    prefillContext: rows,
  };
}

/** Gives each slot blocks of its own. */
function writeTable(device: Device, { table, maxBlocks }: StepState, slots: number): void {
  device.write(table, 0, Uint32Array.from({ length: slots * maxBlocks }, (_, i) => i));
}
