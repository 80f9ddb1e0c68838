// The scratch memory of a step: values that live from the operation that first writes them to the
// last that reads them. Those that never live together share a buffer. Each has a buffer from its
// beginning on, because WebGPU lets no dispatch read one part of a buffer and write another.
// Chosen greedily by size, as in Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net
// Inference (2020), section 4.

import {
  type Allocator,
  type Buffer,
  type Device,
  type FloatRows,
  floatRows,
  GROUP,
  Placeholder,
  type QuantizedRows,
  quantizedRows,
} from "../../kernels/mod.ts";
import type { StepOperation } from "./step.ts";

/** A value of a step: a buffer that gets its memory when all operations are known. */
export class ScratchValue extends Placeholder {
  /**
   * @param label what it is to the model
   * @param size bytes
   * @param padding what columns of its rows stay zero. Nobody writes these, and products read them,
   * so that only values with the same ones share memory. Empty: none
   */
  constructor(readonly label: string, readonly size: number, readonly padding: string) {
    super();
  }
}

/** Raised where operations use a value in a way that no memory can be planned for. */
export class ScratchError extends Error {
  override readonly name = "ScratchError";
}

/** The operations, counted from 0, between which a value lives, both included. */
interface Lifetime {
  readonly value: ScratchValue;
  readonly first: number;
  last: number;
  /** Those that compute with it: of a split model, memory is only where it is used. */
  readonly devices: Set<Device | undefined>;
}

/** What a plan of memory is made of. */
type PlannedOperation = Pick<StepOperation, "name" | "layer" | "device" | "reads" | "writes">;

/** Memory that values share. */
interface Place {
  readonly bytes: number;
  readonly padding: string;
  readonly devices: ReadonlySet<Device | undefined>;
  readonly lifetimes: Lifetime[];
}

/** Values of steps, and in the end their memory. */
export class Scratch {
  readonly #device: Device;
  readonly #kept = new Set<Buffer>();
  #memory: Map<Buffer, Buffer> | undefined;

  constructor(device: Device) {
    this.#device = device;
  }

  /** A new value: rows of f32. @param padded columns that get written, if not all `columns` do */
  floats(label: string, rows: number, columns: number, padded = columns): FloatRows {
    const padding = padded % GROUP === 0 ? "" : `f32 ${padded}`;
    return floatRows(this.allocator(padding), label, rows, columns);
  }

  /** A new value: rows of int8 groups. */
  quantized(label: string, rows: number, columns: number): QuantizedRows {
    const padding = columns % GROUP === 0 ? "" : `int8 ${columns}`;
    return quantizedRows(this.allocator(padding), label, rows, columns);
  }

  /** Makes new values of buffers that are asked for. */
  allocator(padding = ""): Allocator {
    return {
      groupBytes: this.#device.groupBytes,
      buffer: (label, bytes) => new ScratchValue(label, bytes, padding),
    };
  }

  /** Lets a value live to the end of the step, where the host reads it. */
  keep(value: Buffer): void {
    this.#kept.add(value);
  }

  /** Whether values have their memory. */
  get isPlaced(): boolean {
    return this.#memory !== undefined;
  }

  /**
   * Gives all values their memory; what `operations` do not name gets none.
   * @param operations those of a step, in order
   * @throws ScratchError where one reads a value that none before it writes; GpuMemoryError
   */
  place(operations: readonly PlannedOperation[]): void {
    const places = share(lifetimesOf(operations, this.#kept));
    this.#memory = new Map(places.flatMap(({ bytes, lifetimes }, i) => {
      const buffer = this.#device.buffer(`scratch ${i}`, bytes, "scratch");
      return lifetimes.map(({ value }) => [value, this.#device.part(buffer, value.size)] as const);
    }));
  }

  /** The memory of a value; other buffers are their own. Errors: ScratchError. */
  memoryOf(buffer: Buffer): Buffer {
    if (!(buffer instanceof Placeholder)) return buffer;
    const memory = this.#memory?.get(buffer);
    if (memory) return memory;
    const state = this.isPlaced ? "no operation names it" : "its step is not complete";
    throw new ScratchError(`Cannot use the value "${buffer.label}": ${state}`);
  }
}

/** When each value lives. Errors: ScratchError for one that is read before it is written. */
function lifetimesOf(
  operations: readonly PlannedOperation[],
  kept: ReadonlySet<Buffer>,
): Lifetime[] {
  const lifetimes = new Map<ScratchValue, Lifetime>();
  operations.forEach(({ name, layer, device, reads, writes }, at) => {
    for (const value of reads) {
      if (!(value instanceof ScratchValue)) continue;
      const lifetime = lifetimes.get(value);
      if (!lifetime) {
        const where = layer === undefined ? "" : ` of layer ${layer}`;
        const state = `it reads "${value.label}", which no operation before it writes`;
        throw new ScratchError(`Cannot plan the memory of "${name}"${where}: ${state}`);
      }
      lifetime.last = at;
      lifetime.devices.add(device);
    }
    for (const value of writes) {
      if (!(value instanceof ScratchValue)) continue;
      const lifetime = lifetimes.get(value);
      const devices = new Set([device]);
      if (!lifetime) lifetimes.set(value, { value, first: at, last: at, devices });
      else {
        lifetime.last = at;
        lifetime.devices.add(device);
      }
    }
  });
  for (const lifetime of lifetimes.values()) {
    if (kept.has(lifetime.value)) lifetime.last = Infinity;
  }
  return [...lifetimes.values()];
}

/** Values with the largest first, each at the smallest place where none lives beside it. */
function share(lifetimes: readonly Lifetime[]): Place[] {
  const places: Place[] = [];
  for (const lifetime of lifetimes.toSorted((a, b) => b.value.size - a.value.size)) {
    const { size: bytes, padding } = lifetime.value;
    // Places were made for larger values: the last that is free is the smallest.
    let place = places.findLast((place) =>
      place.padding === padding && isSameSet(place.devices, lifetime.devices) &&
      isFree(place, lifetime)
    );
    const { devices } = lifetime;
    if (!place) places.push(place = { bytes, padding, devices, lifetimes: [] });
    place.lifetimes.push(lifetime);
  }
  return places;
}

function isFree(place: Place, { first, last }: Lifetime): boolean {
  return place.lifetimes.every((other) => other.last < first || last < other.first);
}

function isSameSet<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean {
  return a.symmetricDifference(b).size === 0;
}
