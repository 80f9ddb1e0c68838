// The memory of a model that outlives a step: constants, the KV caches of layers, and the states of
// recurrent layers. scratch.ts has what lives within a step. Everything is allocated once, at load.

import {
  type Buffer,
  type CacheTypes,
  type Device,
  fittingTypes,
  type FloatRows,
  floatRows,
  type HeadShape,
  type LayerCache,
  layerCacheBytes,
  type RopeOptions,
  ropeTable,
} from "../../kernels/mod.ts";
import type { StepLimits } from "./step.ts";

/** The options of a model's memory. */
export interface MemoryOptions {
  limits: StepLimits;
  /** The types of keys and values. */
  cacheTypes: CacheTypes;
  /** Blocks of the KV cache, shared by all sequences. */
  cacheBlocks: number;
}

/** The state of one recurrent layer: [slots, floats] f32. */
export interface LayerState {
  readonly buffer: Buffer;
  readonly device: Device;
  /** Floats per sequence. */
  readonly floats: number;
  /** Copies of states, from which sequences can continue: [rows, floats]. */
  copies?: Buffer;
}

/** The allocator of a model's lasting memory. */
export class StepMemory {
  readonly #currentDevice: () => Device;
  readonly #options: MemoryOptions;
  readonly #shared = new Map<Device, Map<string, unknown>>();
  readonly #angles = new Map<RopeOptions, Buffer>();
  /** The KV caches of all attention layers. */
  readonly caches: LayerCache[] = [];
  readonly #cacheDevices = new Map<LayerCache, Device>();
  /** The states of all recurrent layers. */
  readonly states: LayerState[] = [];

  /** @param currentDevice gives the device for which the network is being laid out */
  constructor(currentDevice: () => Device, options: MemoryOptions) {
    this.#currentDevice = currentDevice;
    this.#options = options;
  }

  get #device(): Device {
    return this.#currentDevice();
  }

  /** Rows of f32 with memory of their own, because the host writes or reads them. */
  floats(label: string, columns: number, rows = this.#options.limits.rows): FloatRows {
    return floatRows(this.#device, label, rows, columns);
  }

  /** Values that never change. */
  constant(label: string, values: Float32Array | Uint32Array): Buffer {
    const buffer = this.#device.buffer(label, values.byteLength, "scratch");
    this.#device.write(buffer, 0, values);
    return buffer;
  }

  /** One row of values that never change. */
  rows(label: string, values: Float32Array): FloatRows {
    const floats = this.constant(label, values);
    return { columns: values.length, stride: values.length, floats };
  }

  /**
   * A value that the layers of one device share, made by the first layer that needs it.
   * @param key identifies it, with everything that it is made of
   */
  shared<T>(key: string, create: () => T): T {
    let shared = this.#shared.get(this.#device);
    if (!shared) this.#shared.set(this.#device, shared = new Map());
    let known = shared.get(key) as T | undefined;
    if (known === undefined) shared.set(key, known = create());
    return known;
  }

  /** The table of a rotary embedding, one for each options object. */
  angles(rope: RopeOptions): Buffer {
    let angles = this.#angles.get(rope);
    if (!angles) {
      const table = ropeTable(rope, this.#options.limits.context);
      angles = this.constant(`angles ${this.#angles.size}`, table);
      this.#angles.set(rope, angles);
    }
    return angles;
  }

  /** The KV cache of a new layer. */
  layerCache(shape: HeadShape): LayerCache {
    const { cacheTypes, cacheBlocks } = this.#options;
    const types = fittingTypes(cacheTypes, shape);
    const buffer = (part: "keys" | "values") =>
      this.#device.buffer(part, layerCacheBytes(shape, cacheBlocks, types, part), "cache");
    const cache: LayerCache = {
      keys: buffer("keys"),
      ...(shape.sharedValues ? {} : { values: buffer("values") }),
      types,
    };
    this.caches.push(cache);
    this.#cacheDevices.set(cache, this.#device);
    return cache;
  }

  /** The KV cache that alike layers of an encoder share, each of which writes it before it reads it. */
  stepCache(shape: HeadShape): LayerCache {
    const { kvHeads, headDim, valueDim = headDim } = shape;
    return this.shared(`cache ${kvHeads} ${headDim} ${valueDim}`, () => this.layerCache(shape));
  }

  /** The device of the layer that a KV cache was made for. */
  deviceOf(cache: LayerCache): Device {
    return this.#cacheDevices.get(cache) ?? this.#device;
  }

  /** The state of a new recurrent layer. A sequence's first row starts from zeros. */
  layerState(label: string, floats: number): Buffer {
    const buffer = this.#device.buffer(label, this.#options.limits.slots * floats * 4, "state");
    this.states.push({ buffer, device: this.#device, floats });
    return buffer;
  }

  /** Allocates memory for `rows` copies of the states of one sequence. */
  allocateStateCopies(rows: number): void {
    for (const state of this.states) {
      state.copies = state.device.buffer("state copies", rows * state.floats * 4, "cache");
    }
  }
}
