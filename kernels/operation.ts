// The memory of a device and operations on it: types that both device.ts and the contracts of
// single operations in ops/ use.

/** Memory of a device. */
export interface Buffer {
  readonly label: string;
  /** Bytes. */
  readonly size: number;
}

/** A range of a buffer in bytes. Default: from its beginning, to its end. */
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
  /**
   * The epsilon of an RMSNorm that linear() may have written into these rows without the division by
   * the root mean square; see `LinearOptions.norm`. Only products and quantize() read such rows.
   */
  readonly deferredEpsilon?: number;
  /**
   * Given with it: the float at which sums of squares begin, of every 32 columns of each row, padded to
   * whole fours. They are zeros where a row is whole.
   */
  readonly squares?: number;
}

/** A key of members that only the device may use. */
export declare const ofDevice: unique symbol;

/** A pass, into which operations of one device are encoded. */
export interface Pass {
  readonly [ofDevice]?: "pass";
}

/** An allocator of memory; see `Device.buffer`. */
export interface Allocator {
  /** Bytes of a group of 32 int8 codes with its scale and sums. */
  readonly groupBytes: number;
  /** Zeroed memory of at least `bytes` bytes, counted under `purpose`. */
  buffer(label: string, bytes: number, purpose: string): Buffer;
}

/** The least work of one run of an operation. */
export interface Work {
  /** Bytes of weights, activations, caches and states that it reads. */
  readonly bytesRead: number;
  /** Bytes of activations, caches and states that it writes. */
  readonly bytesWritten: number;
  /** Floating-point operations, or int8 ones: a multiplication and an addition count as two. */
  readonly flops: number;
}

/** The step in which an operation runs. */
export interface WorkCounts {
  /** Rows that it computes. */
  readonly rows: number;
  /** Sequences of these rows. */
  readonly sequences: number;
  /** Positions of the longest sequence, including this step. */
  readonly positions: number;
}

/** An operation with its operands. It can be encoded into any number of passes. */
export interface Operation {
  /** Its name, such as "norm", or "linear Q4_K". */
  readonly name: string;
  /** Activations, caches and states that it reads, without weights. */
  readonly reads: readonly Buffer[];
  /** Those that it writes. What it adds to, or changes in place, is in both lists. */
  readonly writes: readonly Buffer[];
  /**
   * The rows of f32 that are its result, one for each row that it computes. Missing if it has no
   * such result, such as for int8 groups or pairs of experts.
   */
  readonly output?: FloatRows | undefined;
  /** The work of one run in a step. */
  work(counts: WorkCounts): Work;
  /** Binds its operands, if that was deferred until they have memory; see `deferred()`. */
  bind?(): void;
  /**
   * Binds all variants that encode() can need with counts up to these, so that `Device.prepare()`
   * prepares them. Missing if there is only one variant.
   */
  prepare?(...most: number[]): void;
  /** Encodes it. @param counts the counts in its description, mostly a number of rows */
  encode(pass: Pass, ...counts: number[]): void;
}
