// The scratch memory of a step. A value lives from the first operation that writes it to the last
// one that reads it, and values with separate lifetimes share a buffer. Each starts at the
// beginning of a buffer, because in WebGPU no dispatch may read one part of a buffer and write
// another. Buffers are assigned greedily by size, as in Pisarchyk and Lee, Efficient Memory
// Management for Deep Neural Net Inference (2020), section 4.

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

/** A value of a step: a buffer that gets its memory once all operations are known. */
export class ScratchValue extends Placeholder {
  /**
   * @param label its meaning in the model
   * @param size bytes
   * @param padding which columns of its rows stay zero. Products read them, but no operation writes
   *   them, so only values with the same padding share memory. Empty: no padding
   */
  constructor(readonly label: string, readonly size: number, readonly padding: string) {
    super();
  }
}

/** The error of operations that use a value in a way for which no memory can be planned. */
export class ScratchError extends Error {
  override readonly name = "ScratchError";
}

/** The indices of the first and the last operation of a value, both included. */
interface Span {
  readonly first: number;
  last: number;
}

/** The lifetime of a value. */
interface Lifetime {
  readonly value: ScratchValue;
  /** In each list of operations; missing where none uses it. */
  readonly spans: (Span | undefined)[];
  /** The devices that use the value. In a split model it gets memory on these. */
  readonly devices: Set<Device | undefined>;
}

/** The part of an operation on which the memory of values depends. */
type ScratchOperation = Pick<StepOperation, "name" | "layer" | "device" | "reads" | "writes">;

/** A buffer that values share. */
interface SharedBuffer {
  readonly bytes: number;
  readonly padding: string;
  readonly devices: ReadonlySet<Device | undefined>;
  readonly lifetimes: Lifetime[];
}

/** The values of steps, and later their memory. */
export class Scratch {
  readonly #device: Device;
  readonly #kept = new Set<Buffer>();
  #memory: Map<Buffer, Buffer> | undefined;

  constructor(device: Device) {
    this.#device = device;
  }

  /**
   * A new value: rows of f32. @param padded columns that are written, if that is more than
   * `columns`
   */
  floats(label: string, rows: number, columns: number, padded = columns): FloatRows {
    const padding = padded % GROUP === 0 ? "" : `f32 ${padded}`;
    return floatRows(this.allocator(padding), label, rows, columns);
  }

  /** A new value: rows like others, of f32, with sums of squares. See {@linkcode FloatRows.squares}. */
  withSquares({ columns, stride, floats }: FloatRows, deferredEpsilon: number): FloatRows {
    const rows = floats.size / (4 * stride);
    // The sums, which nothing else may overwrite where they are padded, are at an address that depends on
    // the number of rows.
    const isPadded = columns % (4 * GROUP) !== 0;
    const allocator = this.allocator(isPadded ? `squares ${rows} of ${columns}` : "");
    return floatRows(allocator, floats.label, rows, columns, { deferredEpsilon });
  }

  /** A new value: rows of int8 groups. See {@linkcode QuantizedRows}. */
  quantized(label: string, rows: number, columns: number): QuantizedRows {
    const padding = columns % GROUP === 0 ? "" : `int8 ${columns}`;
    return quantizedRows(this.allocator(padding), label, rows, columns);
  }

  /** An allocator that makes its buffers values of the step. */
  allocator(padding = ""): Allocator {
    return {
      groupBytes: this.#device.groupBytes,
      buffer: (label, bytes) => new ScratchValue(label, bytes, padding),
    };
  }

  /** Lets a value live to the end of the step, so that the host can read it. */
  keep(value: Buffer): void {
    this.#kept.add(value);
  }

  /** Whether a buffer is a value that lives no longer than its last reader in the list. */
  isPassing(buffer: Buffer): boolean {
    return buffer instanceof ScratchValue && !this.#kept.has(buffer);
  }

  /** Whether the values have their memory. */
  get isAllocated(): boolean {
    return this.#memory !== undefined;
  }

  /**
   * Gives all values their memory. A value that no operation uses gets none.
   * @param lists the operations of a step, in order, for each kind of steps
   * @throws ScratchError if an operation reads a value that none before it wrote; GpuMemoryError
   */
  allocate(...lists: readonly (readonly ScratchOperation[])[]): void {
    const buffers = share(lifetimesOf(lists, this.#kept));
    this.#memory = new Map(buffers.flatMap(({ bytes, lifetimes }, i) => {
      const buffer = this.#device.buffer(`scratch ${i}`, bytes, "scratch");
      return lifetimes.map(({ value }) => [value, this.#device.part(buffer, value.size)] as const);
    }));
  }

  /**
   * The memory of a value. Other buffers are returned as they are. Errors: ScratchError if a value
   * has none.
   */
  memoryOf(buffer: Buffer): Buffer {
    if (!(buffer instanceof Placeholder)) return buffer;
    const memory = this.#memory?.get(buffer);
    if (memory) return memory;
    const state = this.isAllocated ? "no operation names it" : "its step is not complete";
    throw new ScratchError(`Cannot use the value "${buffer.label}": ${state}`);
  }
}

/**
 * The lifetime of each value. Errors: ScratchError for a value that is read before it is written.
 */
function lifetimesOf(
  lists: readonly (readonly ScratchOperation[])[],
  kept: ReadonlySet<Buffer>,
): Lifetime[] {
  const lifetimes = new Map<ScratchValue, Lifetime>();
  for (const [list, operations] of lists.entries()) {
    operations.forEach(({ name, layer, device, reads, writes }, at) => {
      for (const value of [...reads, ...writes]) {
        if (!(value instanceof ScratchValue)) continue;
        let lifetime = lifetimes.get(value);
        const isWritten = lifetime?.spans[list] !== undefined;
        if (!isWritten && reads.includes(value)) {
          const where = layer === undefined ? "" : ` of layer ${layer}`;
          const state = `it reads "${value.label}", which no operation before it writes`;
          throw new ScratchError(`Cannot plan the memory of "${name}"${where}: ${state}`);
        }
        if (!lifetime) lifetimes.set(value, lifetime = { value, spans: [], devices: new Set() });
        const span = lifetime.spans[list] ??= { first: at, last: at };
        span.last = kept.has(value) ? Infinity : at;
        lifetime.devices.add(device);
      }
    });
  }
  return [...lifetimes.values()];
}

/**
 * Assigns buffers, largest value first. Each value gets the smallest buffer in which no other value
 * lives at the same time.
 */
function share(lifetimes: readonly Lifetime[]): SharedBuffer[] {
  const buffers: SharedBuffer[] = [];
  for (const lifetime of lifetimes.toSorted((a, b) => b.value.size - a.value.size)) {
    const { size: bytes, padding } = lifetime.value;
    // Buffers are ordered from large to small, so the last free one is the smallest.
    let buffer = buffers.findLast((buffer) =>
      buffer.padding === padding && isSameSet(buffer.devices, lifetime.devices) &&
      isFree(buffer, lifetime)
    );
    const { devices } = lifetime;
    if (!buffer) buffers.push(buffer = { bytes, padding, devices, lifetimes: [] });
    buffer.lifetimes.push(lifetime);
  }
  return buffers;
}

function isFree(buffer: SharedBuffer, { spans }: Lifetime): boolean {
  return buffer.lifetimes.every((other) =>
    spans.every((span, list) => {
      const others = other.spans[list];
      return !span || !others || others.last < span.first || span.last < others.first;
    })
  );
}

function isSameSet<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean {
  return a.symmetricDifference(b).size === 0;
}
