// The memory of a device and operations on it: what the interface of devices and the contracts of
// single operations, in ops/, both speak of.

/** Memory of a device. */
export interface Buffer {
  readonly label: string;
  /** Bytes. */
  readonly size: number;
}

/** A range of a buffer in bytes; missing numbers: to its end, from its beginning. */
export interface BufferRange {
  readonly buffer: Buffer;
  readonly offset?: number;
  readonly size?: number;
}

/** Rows of f32: [rows, stride], stride a multiple of 32, columns past `columns` zero. */
export interface FloatRows {
  readonly columns: number;
  readonly stride: number;
  readonly floats: Buffer;
}

/** Tells apart what only a device may look into. */
export declare const ofDevice: unique symbol;

/** A pass that operations of the same device are encoded into. */
export interface Pass {
  readonly [ofDevice]?: "pass";
}

/** Whatever gives memory; see `Device.buffer`. */
export interface Allocator {
  /** Bytes of a group of 32 int8 codes with what belongs to it. */
  readonly groupBytes: number;
  /** Zeroed memory of at least `bytes` bytes, counted under `purpose`. */
  buffer(label: string, bytes: number, purpose: string): Buffer;
}

/** What one run of an operation has to do at least. */
export interface Work {
  /** Bytes of weights, activations, caches and states that it reads. */
  readonly bytesRead: number;
  /** Bytes of activations, caches and states that it writes. */
  readonly bytesWritten: number;
  /** Floating-point operations, or the same on int8: a multiplication and an addition are two. */
  readonly flops: number;
}

/** The step that an operation runs in. */
export interface WorkCounts {
  /** Rows that it computes. */
  readonly rows: number;
  /** Sequences that these are of. */
  readonly sequences: number;
  /** Positions of the longest sequence once the step is done. */
  readonly positions: number;
}

/** An operation with its operands bound, encoded into passes as often as wanted. */
export interface Operation {
  /** Such as "norm", or "linear Q4_K". */
  readonly name: string;
  /** Activations, caches and states that it reads; weights are not among them. */
  readonly reads: readonly Buffer[];
  /** Those that it writes. What it adds to, or changes in place, stands in both. */
  readonly writes: readonly Buffer[];
  /**
   * The rows of f32, one for each row that it computes, that it is there to write. Missing where there
   * are none, as with int8 groups or the pairs of experts.
   */
  readonly output?: FloatRows | undefined;
  /** What it moves and computes in a step. */
  work(counts: WorkCounts): Work;
  /** Binds its operands, where that was put off until they have memory; see `deferred()`. */
  bind?(): void;
  /**
   * Binds every variant that encode() can want with counts up to these, so that `Device.prepare()`
   * makes them ready. Missing: there is one variant for all counts.
   */
  prepare?(...most: number[]): void;
  /** Encodes it. @param counts what its description says; most take a number of rows */
  encode(pass: Pass, ...counts: number[]): void;
}
