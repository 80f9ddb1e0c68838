// The GPU memory of a forward step: activations that layers share by label, constants, the KV
// caches of layers and the states of recurrent ones. Everything is allocated once, at load.

import {
  type Activation,
  type Buffer,
  type Device,
  type FloatRows,
  floatRows,
  type HeadShape,
  type LayerCache,
  layerCacheBytes,
  type QuantizedRows,
  quantizedRows,
  type RopeOptions,
  ropeTables,
} from "../../kernels/mod.ts";
import type { StepLimits } from "./step.ts";

/** How a model's memory is laid out. */
export interface MemoryOptions {
  limits: StepLimits;
  /** f16 keys and values. */
  halfCache: boolean;
  /** Blocks of the KV cache, shared by all sequences. */
  cacheBlocks: number;
}

/** State of one recurrent layer: [slots, floats] f32. */
export interface LayerState {
  readonly buffer: Buffer;
  /** The device of the layer. */
  readonly device: Device;
  /** Floats of one sequence. */
  readonly floats: number;
  /** Copies that sequences go on from: [rows, floats]. */
  copies?: Buffer;
}

/** Hands out memory. */
export class StepMemory {
  readonly #currentDevice: () => Device;
  readonly #options: MemoryOptions;
  readonly #activations = new Map<string, Activation>();
  readonly #buffers = new Map<string, Buffer>();
  readonly #shared = new Map<Device, Map<string, unknown>>();
  readonly #turns = new Map<RopeOptions, { lowTurns: Buffer; highTurns: Buffer }>();
  /** Of all attention layers. */
  readonly caches: LayerCache[] = [];
  readonly #cacheDevices = new Map<LayerCache, Device>();
  /** Of all recurrent layers. */
  readonly states: LayerState[] = [];

  /** @param currentDevice the one that the network is laid out for at the time */
  constructor(currentDevice: () => Device, options: MemoryOptions) {
    this.#currentDevice = currentDevice;
    this.#options = options;
  }

  get #device(): Device {
    return this.#currentDevice();
  }

  /** Rows of f32, the same for the same label and width. */
  floats(label: string, columns: number, rows = this.#options.limits.rows): FloatRows {
    return this.#reuse(
      `${label} ${columns} ${rows}`,
      () => floatRows(this.#device, label, rows, columns),
    );
  }

  /** Rows of int8 groups, likewise. */
  quantized(label: string, columns: number, rows = this.#options.limits.rows): QuantizedRows {
    return this.#reuse(
      `${label} int8 ${columns} ${rows}`,
      () => quantizedRows(this.#device, label, rows, columns),
    );
  }

  /** A buffer of its own for each label. */
  buffer(label: string, bytes: number): Buffer {
    let buffer = this.#buffers.get(label);
    if (!buffer) this.#buffers.set(label, buffer = this.#device.buffer(label, bytes, "scratch"));
    return buffer;
  }

  /** Values that never change, one buffer for each label. */
  constant(label: string, values: Float32Array | Uint32Array): Buffer {
    const known = this.#buffers.get(label);
    if (known) return known;
    const buffer = this.buffer(label, values.byteLength);
    this.#device.write(buffer, 0, values);
    return buffer;
  }

  /** One row of values that never change. */
  rows(label: string, values: Float32Array): FloatRows {
    const floats = this.constant(label, values);
    return { columns: values.length, stride: values.length, floats };
  }

  /** What layers of one device share, made by the first that asks. */
  shared<T>(label: string, create: () => T): T {
    let shared = this.#shared.get(this.#device);
    if (!shared) this.#shared.set(this.#device, shared = new Map());
    let known = shared.get(label) as T | undefined;
    if (known === undefined) shared.set(label, known = create());
    return known;
  }

  /** The tables of a rotary embedding, one pair for each options object. */
  turns(rope: RopeOptions): { lowTurns: Buffer; highTurns: Buffer } {
    let turns = this.#turns.get(rope);
    if (!turns) {
      const { low, high } = ropeTables(rope, this.#options.limits.context);
      const label = `turns ${this.#turns.size}`;
      turns = {
        lowTurns: this.constant(`${label} low`, low),
        highTurns: this.constant(`${label} high`, high),
      };
      this.#turns.set(rope, turns);
    }
    return turns;
  }

  /** The KV cache of a new layer. */
  layerCache(shape: HeadShape): LayerCache {
    const { halfCache, cacheBlocks } = this.#options;
    const buffer = (part: "keys" | "values") =>
      this.#device.buffer(part, layerCacheBytes(shape, cacheBlocks, halfCache, part), "cache");
    const cache: LayerCache = {
      keys: buffer("keys"),
      ...(shape.sharedValues ? {} : { values: buffer("values") }),
      half: halfCache,
    };
    this.caches.push(cache);
    this.#cacheDevices.set(cache, this.#device);
    return cache;
  }

  /** The device of the layer that a KV cache was made for. */
  deviceOf(cache: LayerCache): Device {
    return this.#cacheDevices.get(cache) ?? this.#device;
  }

  /** The state of a new recurrent layer. A sequence's first row finds it to be zero. */
  layerState(label: string, floats: number): Buffer {
    const buffer = this.#device.buffer(label, this.#options.limits.slots * floats * 4, "state");
    this.states.push({ buffer, device: this.#device, floats });
    return buffer;
  }

  /** Makes room for `rows` copies of the states of one sequence. */
  allocateStateCopies(rows: number): void {
    for (const state of this.states) {
      state.copies = state.device.buffer("state copies", rows * state.floats * 4, "cache");
    }
  }

  #reuse<T extends Activation>(key: string, allocate: () => T): T {
    let activation = this.#activations.get(key) as T | undefined;
    if (!activation) this.#activations.set(key, activation = allocate());
    return activation;
  }
}
