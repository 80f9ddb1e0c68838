// A device: memory, weight matrices, and the operations of which models are made. Through this
// interface alone the engine computes; webgpu/, cpu/ and split/ implement it. ops/ defines what
// operations take and mean. Nothing here or there depends on WebGPU.
//
// Order: what is submitted runs after what was submitted before. Operations of a pass run in the
// order in which they were encoded, and each sees all writes of those before it. Writes from the
// host are seen by what is submitted after them, and by nothing before. Aliasing: an operation may
// write what it reads only if its description says so.

import type { DeviceLostError } from "./errors.ts";
import type { Allocator, Buffer, ofDevice, Operation, Pass } from "./operation.ts";
import type { Activation, FloatRows, QuantizedRows } from "./ops/activation.ts";
import type { ActivateOptions } from "./ops/activation_function.ts";
import type { AttentionOptions, AttentionTiling } from "./ops/attention.ts";
import type { Columns, ElementwiseOperation, ElementwiseOptions } from "./ops/elementwise.ts";
import type { EmbedOptions, StepRows } from "./ops/embed.ts";
import type {
  CombineOptions,
  ExpertLinearOptions,
  ExpertPairs,
  ExpertPairsOptions,
  RouteOptions,
  Routing,
} from "./ops/experts.ts";
import type { AttentionState, HeadShape, LayerCache } from "./ops/kv_cache.ts";
import type { LinearOptions, StackedMatrix } from "./ops/linear.ts";
import type { Affine, Matrix, MatrixShape, MatrixWriter } from "./ops/matrix.ts";
import type { MixOptions } from "./ops/mix.ts";
import type { Norm, NormOptions } from "./ops/norm.ts";
import type {
  ColumnRange,
  ConvolutionOptions,
  DeltaInputs,
  DeltaShape,
  DeltaWeights,
  GatedNormOptions,
  ScanInputs,
  ScanShape,
  ScanWeights,
  StepSegments,
} from "./ops/recurrent/mod.ts";
import type { RotateOptions, RotateRowsOptions } from "./ops/rotate.ts";
import type { SamplerOptions, SamplingNeeds } from "./ops/sampling/options.ts";
import type { QuantFormat } from "./quants/mod.ts";
import type { Tuner } from "./tuning.ts";

/** Commands that are ready to be submitted, once. */
export interface Commands {
  readonly [ofDevice]?: "commands";
}

/** A recorder of commands. */
export interface Recorder {
  /** Records a pass. */
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

/**
 * The kinds of devices, by their names in QUERN_DEVICE: the runtime's own WebGPU, Dawn's
 * (webgpu/dawn.ts), and the CPU.
 */
export const DEVICE_KINDS = ["webgpu", "dawn", "cpu"] as const;

/** A kind of device. */
export type DeviceKind = typeof DEVICE_KINDS[number];

/** The options of openDevice(). */
export interface DeviceOptions {
  /** What computes. Default: QUERN_DEVICE, or else a GPU if there is one, or else the CPU. */
  kind?: DeviceKind;
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

/** An open device. Disposing of it frees all its memory. */
export interface Device extends Allocator, Disposable {
  readonly profile: DeviceProfile;
  /** Bytes in live buffers, by the purpose given to {@linkcode Device.buffer}. */
  readonly allocated: ReadonlyMap<string, number>;
  /** Memory that all operations share and that is smaller than the machine's, if there is such. */
  readonly workingMemory: WorkingMemory | undefined;
  /** Resolves when the device is lost, whatever the reason. */
  readonly lost: Promise<DeviceLostError>;

  /** The same device with a memory count of its own. Disposing of it leaves the device open. */
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
  /** Whether two matrices of this shape can be one paired matrix. */
  canPair(format: QuantFormat, rows: number, columns: number): boolean;
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

  /**
   * x[row] = scale * table[token or position of row], for `rows` rows. By default it also resolves
   * the rows of the step.
   */
  embed(table: Matrix, step: StepRows, x: FloatRows, options?: EmbedOptions): Operation;
  /** y = norm(x), or y += norm(x) and then a norm of y, for `rows` rows of y; x may be y. */
  norm(x: FloatRows, y: Activation, norm: Norm, options?: NormOptions): Operation;
  /** y = x as int8 groups, for `rows` rows; both may lack the same division, see `FloatRows`. */
  quantize(x: FloatRows, y: QuantizedRows): Operation;
  /** y = x W^T, or y += x W^T, or f(gate) * up for a pair, for `rows` rows: y [rows, columns]. */
  linear(matrix: Matrix, x: Activation, y: Activation, options?: LinearOptions): Operation;
  /**
   * y = x W^T, or y += x W^T, by several matrices, for `rows` rows: the results of each are columns of
   * y from its `first` on.
   */
  stackedLinear(
    parts: readonly StackedMatrix[],
    x: Activation,
    y: FloatRows,
    options?: { accumulate?: boolean },
  ): Operation;
  /** y = f(x), or f(gate) * up of the halves of each row of x, for `rows` rows. */
  activate(x: FloatRows, y: Activation, options: ActivateOptions): Operation;
  /** A small operation on columns of y in place, for `rows` rows. */
  elementwise(
    operation: ElementwiseOperation,
    y: Columns,
    options?: ElementwiseOptions,
  ): Operation;
  /**
   * RoPE on the queries of qkv, in place, and on its keys, for `rows` rows; a norm of each head may come
   * before. Keys and values go to the cache; without one, keys are rotated in place.
   */
  rotate(
    qkv: FloatRows,
    cache: LayerCache | undefined,
    state: AttentionState,
    options: RotateOptions,
  ): Operation;
  /** Rotates the heads of each row, in place, by angles of that row, for `rows` rows. */
  rotateRows(x: FloatRows, angles: Buffer, options: RotateRowsOptions): Operation;
  /**
   * y = softmax(q k^T * scale) v over the cache, for `tiles` tiles whose sequences have at most
   * `positions` positions. qkv is rotated, with queries from column `first` on: y [rows, heads *
   * valueDim].
   */
  attention(
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    y: Activation,
    options: AttentionOptions,
    tiling: AttentionTiling,
  ): Operation;
  /**
   * Chooses experts by logits [rows, experts], for `rows` rows. Of equal logits the lower id is
   * first.
   */
  route(logits: FloatRows, routing: Routing, options: RouteOptions): Operation;
  /** Groups the chosen pairs of `rows` rows by expert, if that is faster on the device. */
  expertPairs(routing: Routing, rows: number, options?: ExpertPairsOptions): ExpertPairs;
  /** y[pair] = x[pair / share] W^T of the pair's expert, for the pairs of `rows` rows. */
  expertLinear(
    matrix: Matrix,
    chosen: ExpertPairs,
    x: Activation,
    y: Activation,
    options: ExpertLinearOptions,
  ): Operation;
  /** y = the sum over a row's pairs of weight times x, for `rows` rows of y. */
  combine(routing: Routing, x: FloatRows, y: FloatRows, options?: CombineOptions): Operation;
  /** Each vector of y is the sum of the vectors of x, with the row's weights, for `rows` rows. */
  mix(weights: FloatRows, x: Columns, y: Columns, options: MixOptions): Operation;
  /** Scales each vector of y to the L2 norm of the row's reference, in place, for `rows` rows. */
  matchMagnitude(y: Columns, reference: Columns, options?: { count?: number }): Operation;
  /**
   * x = max(0, x - mean - factor * deviation), with mean and deviation of the row, in place, for
   * `rows` rows.
   */
  sparsify(x: FloatRows, factor: number): Operation;
  /** The causal convolution of columns of x, for `segments` segments of at most `longest` rows. */
  convolution(
    x: ColumnRange,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    options: ConvolutionOptions,
  ): Operation;
  /** The selective scan of Mamba, for `segments` segments. */
  scan(
    inputs: ScanInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: ScanWeights,
    shape: ScanShape,
  ): Operation;
  /** The gated delta rule, for `segments` segments. */
  deltaRule(
    inputs: DeltaInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: DeltaWeights,
    shape: DeltaShape,
  ): Operation;
  /** The norm of each group of x, times the activation of its gate, for `rows` rows. */
  gatedNorm(x: ColumnRange, y: FloatRows, options: GatedNormOptions): Operation;
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
