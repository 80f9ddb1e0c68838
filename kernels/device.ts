// A device: memory, weight matrices, and the operations of which models are made, which operands.ts
// declares. Through this interface alone the engine computes; webgpu/, cpu/ and split/ implement it.
// ops/ defines what operations mean. Nothing here or there depends on WebGPU.
//
// Order: what is submitted runs after what was submitted before. Operations of a pass run in the
// order in which they were encoded, and each sees all writes of those before it. Writes from the
// host are seen by what is submitted after them, and by nothing before. Aliasing: an operation may
// write what it reads only if its description says so.

import type { DeviceLostError } from "./errors.ts";
import type { OperationMakers } from "./makers.ts";
import type { Allocator, Buffer, ofDevice, Pass } from "./operation.ts";
import type { FloatRows } from "./ops/activation.ts";
import type { ExpertPairs, ExpertPairsOptions, Routing } from "./ops/experts.ts";
import type { HeadShape } from "./ops/kv_cache.ts";
import type { Affine, Matrix, MatrixShape, MatrixWriter, StackedMatrix } from "./ops/matrix.ts";
import type { SamplerOptions, SamplingNeeds } from "./ops/sampling/options.ts";
import type { QuantFormat } from "./quants/mod.ts";
import type { Tuner } from "./tuning.ts";

/** Commands that are ready to be submitted, once. */
export interface Commands {
  readonly [ofDevice]?: "commands";
}

/** A recorder of commands. */
export interface Recorder {
  pass(encode: (pass: Pass) => void): void;
  /**
   * Records a copy between two different buffers. All four numbers are bytes and multiples of four.
   */
  copy(source: Buffer, from: number, target: Buffer, to: number, bytes: number): void;
  /** Ends the recording. */
  finish(): Commands;
}

/** A staging buffer for reads by the host. One read at a time. */
export interface Readback {
  /** The buffer to which recorded copies go. */
  readonly buffer: Buffer;
  /**
   * The first bytes, after everything submitted so far is done. Others can use the device
   * meanwhile.
   */
  read(bytes: number): Promise<ArrayBuffer>;
  /** The first bytes, as soon as possible. It may block the thread while the device works. */
  readNow(bytes: number): Promise<ArrayBuffer>;
  /** Frees the buffer. */
  free(): void;
}

/** Seconds of each pass; see {@linkcode Device.time}. */
export interface PassTimes {
  readonly seconds: Float64Array;
  /** Seconds of these that the host's own thread computed outside of kernels; zeros on a GPU. */
  readonly hostSeconds: Float64Array;
}

/** A sampler of tokens; see {@linkcode Device.sampler}. */
export interface Sampler extends Disposable {
  /** Encodes the sampling of a token for each of the first `outputs` outputs. */
  encode(pass: Pass, outputs: number, needs: SamplingNeeds): void;
}

/** The abilities of a device, and properties on which tuning depends. */
export interface Capabilities {
  readonly subgroups: boolean;
  readonly timestamps: boolean;
  /** Whether it has dot products of int8 vectors that are not emulated. */
  readonly packedDot: boolean;
  /** Invocations of each subgroup; 0 if the number varies or is not known. */
  readonly subgroupSize: number;
  /** Fewest invocations of a subgroup; 0 if not known. */
  readonly leastSubgroup: number;
  /**
   * Whether it is a driver of a GPU that runs on the CPU, where barriers and workgroups are
   * expensive and caches are large.
   */
  readonly software: boolean;
}

/** A description of a device as plain data, from which a dry device can be made. */
export interface DeviceProfile {
  /** Name of the implementation of WebGPU, or "cpu". */
  readonly platform: { readonly name: string };
  readonly capabilities: Capabilities;
  /** Name of the adapter and of its driver, for people. */
  readonly description: string;
  /** PCI ids of vendor and device, or 0 if not known. */
  readonly vendor: number;
  readonly device: number;
  /** Most bytes of a buffer that operations can read or write as a whole. */
  readonly maxBindingSize: number;
  /** Most bytes of a buffer. */
  readonly maxBufferSize: number;
}

/** How a device is opened, of whatever kind. */
export interface DeviceSettings {
  /**
   * Threads of a CPU device. Default: QUERN_THREADS, or else one for each physical core. A number
   * in this option waits until the threads have started; otherwise they start in the background.
   */
  threads?: number;
  /** An implementation of WebGPU, such as `navigator.gpu`, which is the default. */
  gpu?: object;
  /**
   * Features of WebGPU that are not used even if they are there. Each kernel has a path without
   * them.
   */
  without?: readonly ("subgroups" | "packedDot" | "timestamps")[];
  /** Limits the size of a WebGPU binding in bytes, to test the splitting of tensors. */
  maxBindingSize?: number;
  /**
   * Milliseconds after which a GPU counts as lost that does not get done, as one whose driver hangs.
   * Default: three minutes.
   */
  patience?: number;
}

/** How much of a memory is taken, and how much there is of it, in bytes. */
export interface WorkingMemory {
  readonly taken: number;
  readonly most: number;
}

/**
 * An open device, with a method for each operation of operands.ts. Disposing of it frees all its
 * memory.
 */
export interface Device extends OperationMakers, Allocator, Disposable {
  readonly profile: DeviceProfile;
  /** Bytes in live buffers, by the purpose given to {@linkcode Device.buffer}. */
  readonly allocated: ReadonlyMap<string, number>;
  /** Memory that all operations share and that is smaller than the machine's, if there is such. */
  readonly workingMemory: WorkingMemory | undefined;
  /** Resolves when the device is lost, whatever the reason. */
  readonly lost: Promise<DeviceLostError>;

  /** This device with a memory count of its own. Disposing of it leaves the device open. */
  share(): Device;
  /** Throws errors since the last call, because devices report them late. */
  check(): void;
  /** Runs `create`. An error that the device reports meanwhile is thrown. */
  scoped<T>(what: string, create: () => T | Promise<T>): Promise<T>;

  /**
   * Memory of at least `bytes` bytes, rounded up to 16, zeroed, counted under `purpose`. Buffers
   * for "cache" are for keys and values: only rotate(), attention() and copies use them. Errors:
   * GpuMemoryError (at once for size limits; through {@linkcode Device.scoped} if memory is
   * exhausted).
   */
  buffer(label: string, bytes: number, purpose: string): Buffer;
  /** Writes into a buffer from byte `offset` on. The data is copied before the call returns. */
  write(buffer: Buffer, offset: number, data: ArrayBufferView | ArrayBuffer): void;
  /** Frees a buffer. */
  free(buffer: Buffer): void;
  /** The first `bytes` bytes of a buffer, as an operand. Only the whole buffer can be freed. */
  part(buffer: Buffer, bytes: number): Buffer;

  /**
   * Most rows for which linear() by this matrix also computes a norm of its result
   * (`LinearOptions.norm`); 0: it never does. For more rows, norm() has to be called.
   */
  mostFusedNormRows(matrix: Matrix): number;
  /**
   * Whether two matrices of this shape can be one paired matrix. @param apart whether
   * {@linkcode Device.sidesOf} has to give its sides, too
   */
  canPair(format: QuantFormat, rows: number, columns: number, apart?: boolean): boolean;
  /**
   * The sides of a paired matrix as matrices of their own, which share its memory. Their results lie as
   * activate() reads a gate and what it multiplies.
   */
  sidesOf(matrix: Matrix): readonly StackedMatrix[];
  /**
   * Memory for a weight matrix in the layout of the device, which a writer fills. Errors:
   * GpuMemoryError.
   */
  matrix(label: string, format: QuantFormat, shape: MatrixShape): Matrix;
  /** A writer for the rows of one side of a matrix. */
  matrixWriter(matrix: Matrix, side?: 0 | 1): MatrixWriter;
  /**
   * Sets a scale and a bias for each row of a matrix: y = scale * (w x) + bias, side after side.
   */
  setAffine(matrix: Matrix, affine: Affine): void;
  /** Rows of f32 as a table for look-ups. Its first row is that of token `first`. */
  tableOf(rows: FloatRows, count: number, first: number): Matrix;

  /**
   * Prepares all bound operations, so that their first step is as fast as later ones. Operations
   * with variants for different numbers of rows bind them in `Operation.prepare()`, which has to be
   * called before.
   */
  prepare(): Promise<void>;

  /** Starts recording commands. */
  record(): Recorder;
  /**
   * Captures what `encode` encodes, to encode it into any number of passes without computing it again:
   * in one part, or with a short part first, which is submitted sooner than the whole. Undefined if
   * that would save nothing.
   */
  readonly capture: ((encode: (pass: Pass) => void) => ((pass: Pass) => void)[]) | undefined;
  /** Submits commands, in order. Without any, submits the writes so far. */
  submit(...commands: Commands[]): void;
  /** Whether a read blocks the host's thread until everything that was submitted is done, as in Deno. */
  readonly readsBlock: boolean;
  /** Whether a submit returns only when all of it is computed, as on the CPU. */
  readonly submitsBlock: boolean;
  /**
   * Begins to hold back what is submitted and written: it goes out, in its order, when these staging
   * buffers are all read, or any other. Only for devices whose reads block: what would follow would
   * delay such reads, so the last of them sends it as soon as the device is done, before anything else.
   * Other devices take it at once.
   */
  holdFor(readbacks: readonly Readback[]): void;
  /**
   * Runs `submit`, which submits work that may become unwanted. If the host's thread has to wait
   * for it, `isUnwanted` is asked every few milliseconds. Once it is true the rest may be skipped,
   * and the results are undefined.
   */
  unless(isUnwanted: () => boolean, submit: () => void): void;
  /**
   * Submits passes one by one, after everything submitted before, and resolves with the time of
   * each. Times are from the device's clock if it has timestamps. Otherwise they are from the
   * host's clock, and include the time to start and await a pass. The device idles longer between
   * these passes than within one. One call at a time.
   */
  time(passes: readonly ((pass: Pass) => void)[]): Promise<PassTimes>;
  /** Resolves when everything submitted is done. */
  idle(): Promise<void>;
  /** A staging buffer for reads of up to `bytes` bytes. */
  readback(label: string, bytes: number): Readback;

  /** Most query rows of one sequence in a tile of attention: one to eight. */
  mostTileRows(shape: HeadShape): number;
  /** Fewest positions of one split of attention in decode. */
  readonly decodeSplit: number;

  /** Groups the chosen pairs of `rows` rows by expert, if that is faster on the device. */
  expertPairs(routing: Routing, rows: number, options?: ExpertPairsOptions): ExpertPairs;
  /** The sampler of tokens; see {@linkcode SamplerBuffers}. Errors: GpuError, GpuMemoryError. */
  sampler(options: SamplerOptions): Sampler;

  /**
   * A text for all that its results depend on: the device, its driver, the runtime. Undefined for the CPU,
   * with which other devices are compared.
   */
  readonly identity: string | undefined;
  /** The tuner, which finds the fastest ways to compute; undefined if there is one way alone. */
  readonly tuner: Tuner | undefined;
  /** Bytes per second of a plain read of its memory. */
  readBandwidth(): Promise<number>;
}

/** What devices of one kind are made by. */
export interface DeviceMaker {
  open(options: DeviceSettings): Promise<Device>;
  /** The profile of the device that would be opened. */
  profileOf(options: DeviceSettings): DeviceProfile | Promise<DeviceProfile>;
  dry(profile: DeviceProfile): Device;
}
