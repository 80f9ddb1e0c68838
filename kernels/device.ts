// A device: memory, weight matrices, and the operations that models are made of. This interface is
// all that the engine knows of what computes; webgpu/ implements it. Nothing here, or in ops/, which
// holds what operations take and mean, knows of WebGPU.
//
// Order: what is submitted runs after what was submitted before; operations of a pass run in the
// order in which they were encoded, each seeing all that those before it wrote. Writes from the host
// are seen by what is submitted after them, and by nothing before.
// Aliasing: an operation may write what it reads only where its description says so.

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
import type { LinearOptions } from "./ops/linear.ts";
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

/** Commands that are ready to be submitted, once. */
export interface Commands {
  readonly [ofDevice]?: "commands";
}

/** Commands while they are recorded. */
export interface Recorder {
  /** Records a pass. */
  pass(encode: (pass: Pass) => void): void;
  /** Records a copy of bytes, all four numbers multiples of four, between two different buffers. */
  copy(source: Buffer, from: number, target: Buffer, to: number, bytes: number): void;
  /** Ends the recording. */
  finish(): Commands;
}

/** Bytes on their way to the host. One read at a time. */
export interface Readback {
  /** What is to be read is copied here. */
  readonly buffer: Buffer;
  /** The first bytes once what was submitted is done; others use the device meanwhile. */
  read(bytes: number): Promise<ArrayBuffer>;
  /** As read(), as soon as can be: it may block the thread while the device works. */
  readNow(bytes: number): Promise<ArrayBuffer>;
  /** Frees the buffer. */
  free(): void;
}

/** How long passes took, each in seconds; see {@linkcode Device.time}. */
export interface PassTimes {
  readonly seconds: Float64Array;
  /** Of these, what the host's own thread computed outside of kernels; zeros on a GPU. */
  readonly hostSeconds: Float64Array;
}

/** The choice of tokens; see {@linkcode Device.sampler}. */
export interface Sampler extends Disposable {
  /** Encodes the choice of a token for each of the first `outputs` outputs. */
  encode(pass: Pass, outputs: number, needs: SamplingNeeds): void;
}

/** What a device can do, and its shape for tuning. */
export interface Capabilities {
  readonly subgroups: boolean;
  readonly timestamps: boolean;
  /** Products of int8 with int8. */
  readonly packedDot: boolean;
  /** Invocations in every subgroup, or 0 where it varies or is not known. */
  readonly subgroupSize: number;
  /** Invocations that every subgroup has at least; 0 where that is not known. */
  readonly leastSubgroup: number;
  /** A GPU's driver that runs on the CPU: barriers and workgroups are dear, caches large. */
  readonly software: boolean;
}

/** What is known of a device once it was open, as plain data: what a dry device is made from. */
export interface DeviceProfile {
  /** Which implementation of WebGPU it is, or what else computes. */
  readonly platform: { readonly name: string };
  readonly capabilities: Capabilities;
  /** Name of the adapter and of its driver, for people. */
  readonly description: string;
  /** PCI ids of the vendor and of the device where they are known, else 0. */
  readonly vendor: number;
  readonly device: number;
  /** Most bytes of a buffer that operations read or write as a whole. */
  readonly maxBindingSize: number;
  /** Most bytes of a buffer. */
  readonly maxBufferSize: number;
}

/** What computes: the runtime's own WebGPU, Dawn's (webgpu/dawn.ts), or the CPU. */
export type DeviceKind = "webgpu" | "dawn" | "cpu";

/** How to open a device. */
export interface DeviceOptions {
  /** What computes; default: what QUERN_DEVICE says, else a GPU where there is one, else the CPU. */
  kind?: DeviceKind;
  /**
   * Threads of a CPU device; default: what QUERN_THREADS says, else one for each physical core.
   * Those that are asked for here are there when the device is open, others a moment later.
   */
  threads?: number;
  /** Any implementation of WebGPU; default `navigator.gpu`. */
  gpu?: GPU;
  /** Features of WebGPU not to use even where they are: each kernel has a path without. */
  without?: readonly ("subgroups" | "packedDot" | "timestamps")[];
  /** Caps the size of one binding of WebGPU in bytes, to test the splitting of tensors. */
  maxBindingSize?: number;
}

/** An open device. Dispose of it to free all that it holds. */
export interface Device extends Allocator, Disposable {
  readonly profile: DeviceProfile;
  /** Bytes in live buffers, by the purpose given to {@linkcode Device.buffer}. */
  readonly allocated: ReadonlyMap<string, number>;
  /** Resolves when the device is lost, whatever the reason. */
  readonly lost: Promise<DeviceLostError>;

  /** The same device with an account of its own, whose disposal leaves the device open. */
  share(): Device;
  /** Throws what went wrong since the last call: errors of devices are raised late. */
  check(): void;
  /** Runs `create`; what the device refuses meanwhile becomes an exception. */
  scoped<T>(what: string, create: () => T | Promise<T>): Promise<T>;

  /**
   * Memory of at least `bytes` bytes, rounded up to 16, zeroed, counted under `purpose`. That of
   * "cache" is for keys and values: only rotate() and attention() read and write it, and copies.
   * Errors: GpuMemoryError (size limits now; exhaustion by {@linkcode Device.scoped}).
   */
  buffer(label: string, bytes: number, purpose: string): Buffer;
  /** Writes into a buffer from byte `offset` on; what is written is copied when the call returns. */
  write(buffer: Buffer, offset: number, data: ArrayBufferView | ArrayBuffer): void;
  /** Frees a buffer. */
  free(buffer: Buffer): void;
  /** A buffer's first `bytes` bytes, for operations to work on; it is the buffer that is freed. */
  part(buffer: Buffer, bytes: number): Buffer;

  /** Whether two matrices of this shape can be one paired matrix. */
  canPair(format: QuantFormat, rows: number, columns: number): boolean;
  /** Memory for a weight matrix in the layout of the device; a writer fills it. Errors: GpuMemoryError. */
  matrix(label: string, format: QuantFormat, shape: MatrixShape): Matrix;
  /** Takes the rows of one side of a matrix. */
  matrixWriter(matrix: Matrix, side?: 0 | 1): MatrixWriter;
  /** Gives each row of a matrix a factor and a bias: y = scale * (w x) + bias, side after side. */
  setAffine(matrix: Matrix, affine: Affine): void;
  /** Rows of f32 as a table to look up, whose first row is that of token `first`. */
  tableOf(rows: FloatRows, count: number, first: number): Matrix;

  /**
   * Makes ready what was bound until now, so that its first step is as fast as others. Operations with
   * variants for few rows and for many bind them in `Operation.prepare()`, which is to come before.
   */
  prepare(): Promise<void>;

  /** Begins commands. */
  record(): Recorder;
  /** Submits commands, in order; without any, hands over what was written. */
  submit(...commands: Commands[]): void;
  /**
   * Submits within `submit`, while which `isUnwanted` is asked every few milliseconds where the host's
   * thread has to wait. Where it is true, the rest may be left out: what it would have written is not
   * to be relied on.
   */
  unless(isUnwanted: () => boolean, submit: () => void): void;
  /**
   * Submits passes one by one, after all that was submitted before, and resolves with the time of
   * each once all are done: by the device's own clock where it has timestamps, else by the host's,
   * which adds what starting and awaiting a pass takes. In between the device rests longer than within
   * one pass; steps that nobody times know nothing of it. One call at a time.
   */
  time(passes: readonly ((pass: Pass) => void)[]): Promise<PassTimes>;
  /** Resolves when all that was submitted is done. */
  idle(): Promise<void>;
  /** A way to the host for up to so many bytes. */
  readback(label: string, bytes: number): Readback;

  /** Most query rows of one sequence in a tile of attention: one to eight. */
  mostTileRows(shape: HeadShape): number;
  /** Positions that one split of attention in decode covers, at least. */
  readonly decodeSplit: number;

  /** x[row] = scale * table[token or position of row], for `rows` rows; may resolve them first. */
  embed(table: Matrix, step: StepRows, x: FloatRows, options?: EmbedOptions): Operation;
  /** y = norm(x), or y += norm(x), for `rows` rows of y; x may be y. */
  norm(x: FloatRows, y: Activation, norm: Norm, options?: NormOptions): Operation;
  /** y = x as int8 groups, for `rows` rows. */
  quantize(x: FloatRows, y: QuantizedRows): Operation;
  /** y = x W^T, or y += x W^T, or f(gate) * up for a pair, for `rows` rows: y [rows, columns]. */
  linear(matrix: Matrix, x: Activation, y: Activation, options?: LinearOptions): Operation;
  /** y = f(x), or f(gate) * up of the halves of each row of x, for `rows` rows. */
  activate(x: FloatRows, y: Activation, options: ActivateOptions): Operation;
  /** A small operation on columns of y in place, for `rows` rows. */
  elementwise(
    operation: ElementwiseOperation,
    y: Columns,
    options?: ElementwiseOptions,
  ): Operation;
  /** RoPE on queries, in place, and keys; keys and values into the cache, for `rows` rows. */
  rotate(
    qkv: FloatRows,
    cache: LayerCache | undefined,
    state: AttentionState,
    options: RotateOptions,
  ): Operation;
  /** Turns the heads of each row, in place, by angles of that row, for `rows` rows. */
  rotateRows(x: FloatRows, turns: Buffer, options: RotateRowsOptions): Operation;
  /**
   * y = softmax(q k^T * scale) v over the cache, for `tiles` tiles whose sequences have at most
   * `positions` positions. qkv is rotated, its queries from column `first` on: y [rows, heads * valueDim].
   */
  attention(
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    y: Activation,
    options: AttentionOptions,
    tiling: AttentionTiling,
  ): Operation;
  /** Chooses experts by logits [rows, experts], for `rows` rows. Among equals the lower id is first. */
  route(logits: FloatRows, routing: Routing, options: RouteOptions): Operation;
  /** Groups the chosen pairs of `rows` rows by expert, where the device gains by it. */
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
  /** Each vector of y is a sum of those of x, weighted by the row, for `rows` rows. */
  mix(weights: FloatRows, x: Columns, y: Columns, options: MixOptions): Operation;
  /** Scales each vector of y to the L2 norm of the row's reference, in place, for `rows` rows. */
  matchMagnitude(y: Columns, reference: Columns, options?: { count?: number }): Operation;
  /** x = max(0, x - mean - factor * deviation) of the row, in place, for `rows` rows. */
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
  /** The norm of each group of x, times what its gate gives, for `rows` rows. */
  gatedNorm(x: ColumnRange, y: FloatRows, options: GatedNormOptions): Operation;
  /** Chooses tokens; see {@linkcode SamplerBuffers}. Errors: GpuError, GpuMemoryError. */
  sampler(options: SamplerOptions): Sampler;

  /** Bytes per second that a plain read of its memory reaches. */
  readBandwidth(): Promise<number>;
}
