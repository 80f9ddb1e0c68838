// The device interface on the CPU: nearly all operations in WebAssembly on threads, the others in plain
// TypeScript (plain/) on the host's thread, over the same memory. Needs no driver. Operations run when
// they are submitted, one after the other.

import type {
  Commands,
  Device,
  DeviceProfile,
  PassTimes,
  Readback,
  Recorder,
  Sampler,
} from "../device.ts";
import type { DeviceLostError } from "../errors.ts";
import { type Described, operands } from "../operands.ts";
import type { Activation, FloatRows, QuantizedRows } from "../ops/activation.ts";
import { GROUP } from "../ops/activation.ts";
import type { ActivateOptions } from "../ops/activation_function.ts";
import type { AttentionOptions, AttentionTiling } from "../ops/attention.ts";
import type { Columns, ElementwiseOperation, ElementwiseOptions } from "../ops/elementwise.ts";
import type { EmbedOptions, StepRows } from "../ops/embed.ts";
import type { CombineOptions, ExpertLinearOptions, RouteOptions, Routing } from "../ops/experts.ts";
import type { AttentionState, HeadShape, LayerCache } from "../ops/kv_cache.ts";
import type { LinearOptions } from "../ops/linear.ts";
import type { Affine, MatrixShape, MatrixWriter } from "../ops/matrix.ts";
import type { MixOptions } from "../ops/mix.ts";
import type { Norm, NormOptions } from "../ops/norm.ts";
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
} from "../ops/recurrent/mod.ts";
import type { RotateOptions, RotateRowsOptions } from "../ops/rotate.ts";
import type { SamplerOptions } from "../ops/sampling/mod.ts";
import type { Buffer, Operation, Pass } from "../operation.ts";
import { type QuantFormat, quantFormat } from "../quants/mod.ts";
import { NO_WORK } from "../work.ts";
import { activate } from "./activate.ts";
import { attention, mostTileRows } from "./attend.ts";
import * as columns from "./columns.ts";
import { combine } from "./combine.ts";
import { CpuCore } from "./core.ts";
import { probeDotProduct } from "./dot_product.ts";
import { type CpuOptions, cpuProfile, readBandwidth } from "./machine.ts";
import {
  affineFloats,
  type CpuMatrix,
  packAffine,
  tableOf,
  WeightMatrix,
  WeightWriter,
} from "./matrix.ts";
import {
  bufferSize,
  cpu,
  type CpuBuffer,
  dryBuffer,
  giveBuffer,
  partOf,
  takeBuffer,
} from "./memory.ts";
import { type CpuExpertPlan, expertPlan, planBytes } from "./expert_plan.ts";
import { embed } from "./embed.ts";
import * as experts from "./plain/experts.ts";
import { expertLinear, linear } from "./products.ts";
import * as norms from "./norms.ts";
import { convolution } from "./recurrent/convolution.ts";
import { deltaRule } from "./recurrent/delta.ts";
import { scan } from "./recurrent/scan.ts";
import { rotate } from "./rotate.ts";
import { rotateRows } from "./rotate_rows.ts";
import { createSampler } from "./sampling/sampler.ts";
import { defaultThreads } from "./threads.ts";

/** ggml_type of f32. */
const F32 = 0;

/** The purpose of memory for keys and values. */
const CACHE = "cache";

/** What is written in a pass: calls to be made when it is submitted. */
type Call = () => void;

/** An open device on the CPU. */
export class CpuDevice implements Device {
  readonly allocated = new Map<string, number>();
  readonly lost = new Promise<DeviceLostError>(() => {});
  readonly decodeSplit = 2 ** 30;
  readonly #core: CpuCore;
  readonly #isShare: boolean;
  readonly #purposes = new Map<CpuBuffer, string>();

  private constructor(core: CpuCore, readonly profile: DeviceProfile, isShare = false) {
    this.#core = core;
    this.#isShare = isShare;
  }

  /** Opens the CPU. */
  static async open(options: CpuOptions = {}): Promise<CpuDevice> {
    const { threads = defaultThreads() } = options;
    const core = new CpuCore();
    const device = new CpuDevice(core, cpuProfile(core.machine, { ...options, threads }));
    if (threads > 1) {
      const started = core.startThreads(threads);
      if (options.threads !== undefined) await started;
      else started.catch((error) => core.fault = error);
    }
    return device;
  }

  /** What a device that is opened so would be. */
  static profileOf(options: CpuOptions = {}): DeviceProfile {
    return cpuProfile(probeDotProduct(), options);
  }

  /** A device that only counts: a model assembled on it shows what it would take. */
  static dry(profile: DeviceProfile): CpuDevice {
    return new CpuDevice(new CpuCore(true), profile);
  }

  get groupBytes(): number {
    return this.#core.groupBytes;
  }

  share(): CpuDevice {
    return new CpuDevice(this.#core, this.profile, true);
  }

  check(): void {
    if (this.#core.fault) throw this.#core.fault;
  }

  async scoped<T>(_what: string, create: () => T | Promise<T>): Promise<T> {
    return await create();
  }

  buffer(label: string, bytes: number, purpose: string): Buffer {
    const { isDry, work, caches } = this.#core;
    const take = () =>
      purpose === CACHE ? caches.take(label, bytes) : takeBuffer(work, label, bytes);
    const buffer = isDry ? dryBuffer(work, label, bufferSize(bytes)) : take();
    this.#purposes.set(buffer, purpose);
    this.#count(purpose, buffer.size);
    return buffer;
  }

  write(buffer: Buffer, offset: number, data: ArrayBufferView | ArrayBuffer): void {
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);
    if (!this.#core.isDry) cpu(buffer).bytes.set(bytes, offset);
  }

  free(buffer: Buffer): void {
    const purpose = this.#purposes.get(cpu(buffer));
    if (purpose === undefined) return;
    this.#purposes.delete(cpu(buffer));
    this.#count(purpose, -buffer.size);
    if (!this.#core.isDry) giveBuffer(cpu(buffer).home, cpu(buffer));
  }

  part(buffer: Buffer, bytes: number): Buffer {
    return partOf(cpu(buffer), bufferSize(bytes));
  }

  canPair(): boolean {
    return true;
  }

  matrix(label: string, format: QuantFormat, shape: MatrixShape): WeightMatrix {
    const { blocks, isDry } = this.#core;
    return new WeightMatrix(label, format, shape, {
      take: (bytes) => {
        this.#count("weights", bytes);
        return isDry ? new Uint8Array(0) : blocks.take(bytes);
      },
      give: (taken) => blocks.give(taken),
    });
  }

  matrixWriter(matrix: WeightMatrix, side: 0 | 1 = 0): MatrixWriter {
    return this.#core.isDry
      ? { append() {}, finish() {} }
      : new WeightWriter(matrix, side, this.#core);
  }

  setAffine(matrix: WeightMatrix, affine: Affine): void {
    matrix.affine ??= cpu(
      this.buffer(`affine of ${matrix.label}`, 4 * affineFloats(matrix), "weights"),
    );
    if (!this.#core.isDry) packAffine(matrix, affine, matrix.affine.floats);
  }

  tableOf(rows: FloatRows, count: number, first: number): CpuMatrix {
    return tableOf(rows, { rows: count, first, format: quantFormat(F32)! });
  }

  prepare(): Promise<void> {
    this.#core.loadKernels();
    this.#core.blocks.clear();
    return Promise.resolve();
  }

  record(): Recorder {
    const calls: Call[] = [];
    return {
      pass: (encode) => encode(calls as Pass),
      copy: (source, from, target, to, bytes) => {
        calls.push(() => {
          this.#core.flush();
          cpu(target).bytes.set(cpu(source).bytes.subarray(from, from + bytes), to);
        });
      },
      finish: () => calls as Commands,
    };
  }

  submit(...commands: Commands[]): void {
    this.#core.together(() => {
      for (const calls of commands as Call[][]) for (const call of calls) call();
    });
  }

  unless(isUnwanted: () => boolean, submit: () => void): void {
    this.#core.unless(isUnwanted, submit);
  }

  time(passes: readonly ((pass: Pass) => void)[]): Promise<PassTimes> {
    const seconds = new Float64Array(passes.length);
    const hostSeconds = new Float64Array(passes.length);
    let started = performance.now();
    passes.forEach((encode, i) => {
      const inKernels = this.#core.timed(() => {
        const calls: Call[] = [];
        encode(calls as Pass);
        this.submit(calls as Commands);
      });
      const ended = performance.now();
      const milliseconds = ended - started;
      started = ended;
      seconds[i] = milliseconds / 1000;
      hostSeconds[i] = (milliseconds - inKernels) / 1000;
    });
    return Promise.resolve({ seconds, hostSeconds });
  }

  idle(): Promise<void> {
    return nextTurn();
  }

  readback(label: string, bytes: number): Readback {
    const buffer = this.buffer(label, bytes, "scratch");
    const copy = (bytes: number) => cpu(buffer).bytes.slice(0, bytes).buffer as ArrayBuffer;
    return {
      buffer,
      async read(bytes) {
        const copied = copy(bytes); // The next step may be submitted meanwhile.
        await nextTurn();
        return copied;
      },
      readNow: (bytes) => Promise.resolve(copy(bytes)),
      free: () => this.free(buffer),
    };
  }

  mostTileRows(shape: HeadShape): number {
    return mostTileRows(shape);
  }

  embed(table: CpuMatrix, step: StepRows, x: FloatRows, options: EmbedOptions = {}): Operation {
    const run = embed(this.#core, table, step, x, options);
    return this.#bound(operands.embed(table, step, x, options), run);
  }

  norm(x: FloatRows, y: Activation, norm: Norm, options: NormOptions = {}): Operation {
    return this.#bound(
      operands.norm(x, y, norm, options),
      norms.norm(this.#core, x, y, norm, options),
    );
  }

  quantize(x: FloatRows, y: QuantizedRows): Operation {
    const [from, to] = [cpu(x.floats), cpu(y.groups)];
    return this.#bound(
      operands.quantize(x, y),
      (rows) => this.#core.quantize(from, to, rows, x.stride / GROUP),
    );
  }

  linear(
    matrix: WeightMatrix,
    x: Activation,
    y: Activation,
    options: LinearOptions = {},
  ): Operation {
    const run = linear(this.#core, matrix, x, y, options);
    return this.#bound(operands.linear(matrix, x, y, options), run);
  }

  activate(x: FloatRows, y: Activation, options: ActivateOptions): Operation {
    return this.#bound(operands.activate(x, y, options), activate(this.#core, x, y, options));
  }

  elementwise(
    operation: ElementwiseOperation,
    y: Columns,
    options: ElementwiseOptions = {},
  ): Operation {
    const run = columns.elementwise(this.#core, operation, y, options);
    return this.#bound(operands.elementwise(operation, y, options), run);
  }

  rotate(
    qkv: FloatRows,
    cache: LayerCache | undefined,
    state: AttentionState,
    options: RotateOptions,
  ): Operation {
    const run = rotate(this.#core, qkv, cache, state, options);
    return this.#bound(operands.rotate(qkv, cache, state, options), run);
  }

  rotateRows(x: FloatRows, turns: Buffer, options: RotateRowsOptions): Operation {
    const run = rotateRows(this.#core, x, turns, options);
    return this.#bound(operands.rotateRows(x, turns, options), run);
  }

  attention(
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    y: Activation,
    options: AttentionOptions,
    tiling: AttentionTiling,
  ): Operation {
    const run = attention(this.#core, qkv, cache, state, y, options, tiling);
    return this.#bound(operands.attention(qkv, cache, state, y, options, tiling), run);
  }

  route(logits: FloatRows, routing: Routing, options: RouteOptions): Operation {
    return this.#plain(operands.route(logits, routing), experts.route(logits, routing, options));
  }

  expertPlan(routing: Routing, rows: number): CpuExpertPlan {
    const bytes = planBytes(routing.experts, rows * routing.choices);
    const buffer = this.buffer("expert plan", bytes, "scratch");
    const described = {
      ...{ name: "expert plan", reads: [routing.ids], writes: [buffer] },
      work: () => NO_WORK,
    };
    return {
      ...this.#bound(described, expertPlan(this.#core, routing, buffer)),
      routing,
      buffer,
    };
  }

  expertLinear(
    matrix: WeightMatrix,
    plan: CpuExpertPlan,
    x: Activation,
    y: Activation,
    options: ExpertLinearOptions,
  ): Operation {
    const run = expertLinear(this.#core, matrix, plan, x, y, options);
    return this.#bound(operands.expertLinear(matrix, plan, x, y, options), run);
  }

  combine(
    routing: Routing,
    x: FloatRows,
    y: FloatRows,
    options: CombineOptions = {},
  ): Operation {
    const run = combine(this.#core, routing, x, y, options);
    return this.#bound(operands.combine(routing, x, y, options), run);
  }

  mix(weights: FloatRows, x: Columns, y: Columns, options: MixOptions): Operation {
    const run = columns.mix(this.#core, weights, x, y, options);
    return this.#bound(operands.mix(weights, x, y, options), run);
  }

  matchMagnitude(y: Columns, reference: Columns, options: { count?: number } = {}): Operation {
    const run = columns.matchMagnitude(this.#core, y, reference, options);
    return this.#bound(operands.matchMagnitude(y, reference, options), run);
  }

  sparsify(x: FloatRows, factor: number): Operation {
    return this.#bound(operands.sparsify(x), columns.sparsify(this.#core, x, factor));
  }

  convolution(
    x: ColumnRange,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    options: ConvolutionOptions,
  ): Operation {
    const run = convolution(this.#core, x, y, step, state, options);
    return this.#bound(operands.convolution(x, y, step, state, options), run);
  }

  scan(
    inputs: ScanInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: ScanWeights,
    shape: ScanShape,
  ): Operation {
    const run = scan(this.#core, inputs, y, step, state, weights, shape);
    return this.#bound(operands.scan(inputs, y, step, state, weights, shape), run);
  }

  deltaRule(
    inputs: DeltaInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: DeltaWeights,
    shape: DeltaShape,
  ): Operation {
    const run = deltaRule(this.#core, inputs, y, step, state, weights, shape);
    return this.#bound(operands.deltaRule(inputs, y, step, state, weights, shape), run);
  }

  gatedNorm(x: ColumnRange, y: FloatRows, options: GatedNormOptions): Operation {
    const run = norms.gatedNorm(this.#core, x, y, options);
    return this.#bound(operands.gatedNorm(x, y, options), run);
  }

  sampler(options: SamplerOptions): Sampler {
    const { run, buffers } = createSampler(this.#core, this, options);
    return {
      encode: (pass, outputs, needs) => {
        (pass as Call[]).push(() => run(outputs, needs));
      },
      [Symbol.dispose]: () => buffers.forEach((buffer) => this.free(buffer)),
    };
  }

  readBandwidth(): Promise<number> {
    const bytes = 2 ** 27;
    const buffer = this.buffer("bandwidth", bytes, "scratch");
    const bandwidth = readBandwidth(cpu(buffer).floats);
    this.free(buffer);
    return Promise.resolve(bandwidth);
  }

  [Symbol.dispose](): void {
    for (const buffer of [...this.#purposes.keys()]) this.free(buffer);
    this.allocated.clear();
    if (!this.#isShare) void this.#core.close();
  }

  /** An operation in plain TypeScript, which has to see what kernels made. */
  #plain(described: Described, run: (...counts: number[]) => void): Operation {
    return this.#bound(described, (...counts) => {
      this.#core.flush();
      run(...counts);
    });
  }

  #bound(described: Described, run: (...counts: number[]) => void): Operation {
    return {
      ...described,
      encode: (pass, ...counts) => (pass as Call[]).push(() => run(...counts)),
    };
  }

  #count(purpose: string, bytes: number): void {
    this.allocated.set(purpose, (this.allocated.get(purpose) ?? 0) + bytes);
  }
}

/** Steps run while they are submitted: without a pause, timers and messages would not be heard. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
