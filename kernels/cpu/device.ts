// The device interface on the CPU: its memory, its threads, and steps. It needs no driver.
// operations.ts makes the operations, which run when they are submitted, one after the other.

import { aloneBecause, nextTurn } from "../../host/mod.ts";
import type {
  Commands,
  Device,
  DeviceProfile,
  PassTimes,
  Readback,
  Recorder,
  Sampler,
  WorkingMemory,
} from "../device.ts";
import { type DeviceLostError, GpuError } from "../errors.ts";
import type { OperationMakers } from "../makers.ts";
import { type FloatRows, GROUP, padTo } from "../ops/activation.ts";
import type { Routing } from "../ops/experts.ts";
import type { HeadShape } from "../ops/kv_cache.ts";
import type { Affine, MatrixShape, MatrixWriter, StackedMatrix } from "../ops/matrix.ts";
import type { SamplerOptions } from "../ops/sampling/mod.ts";
import type { Buffer, Pass } from "../operation.ts";
import { type QuantFormat, quantFormat } from "../quants/mod.ts";
import { NO_WORK } from "../ops/work.ts";
import { mostTileRows } from "./attention/bind.ts";
import { CpuCore } from "./core.ts";
import { probeDotProduct } from "./dot_product.ts";
import { type CpuExpertPairs, expertPairs, pairsBytes } from "./experts/route.ts";
import { type CpuOptions, cpuProfile, readBandwidth } from "./machine.ts";
import { ProductOptimizer } from "./optimize.ts";
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
  giveDryBuffer,
  MOST_BYTES,
  partOf,
  takeBuffer,
} from "./memory.ts";
import { createSampler } from "./sampling/sampler.ts";
import type { TellTimes } from "./pool.ts";
import { boundOperation, type Call, cpuOperations } from "./operations.ts";
import { repeated } from "./repeated_step.ts";
import { defaultThreads } from "./threads.ts";

/** ggml_type of f32. */
const F32 = 0;

/** The purpose of memory for keys and values. */
const CACHE = "cache";

/** The methods that make operations; see operations.ts. */
export interface CpuDevice extends OperationMakers {}

/** An open device on the CPU. */
export class CpuDevice implements Device {
  readonly allocated = new Map<string, number>();
  readonly lost = new Promise<DeviceLostError>(() => {});
  readonly decodeSplit = 2 ** 30;
  readonly identity = undefined;
  readonly tuner = undefined;
  readonly #core: CpuCore;
  readonly #isShare: boolean;
  readonly #purposes = new Map<CpuBuffer, string>();
  readonly #optimizer: ProductOptimizer;

  private constructor(core: CpuCore, readonly profile: DeviceProfile, isShare = false) {
    Object.assign(this, cpuOperations(core));
    this.#core = core;
    this.#isShare = isShare;
    this.#optimizer = new ProductOptimizer(core);
  }

  /** Opens the CPU. Errors: GpuError if several threads are asked for where they cannot share memory. */
  static async open(options: CpuOptions = {}): Promise<CpuDevice> {
    const { threads = defaultThreads() } = options;
    const alone = aloneBecause();
    if (threads > 1 && alone !== undefined) {
      throw new GpuError(`Cannot use ${threads} threads of the CPU: ${alone}`);
    }
    const core = new CpuCore();
    const device = new CpuDevice(core, cpuProfile(core.machine, { ...options, threads }));
    if (threads > 1) {
      const started = core.startThreads(threads);
      if (options.threads !== undefined) await started;
      else started.catch((error) => core.fault = error);
    }
    return device;
  }

  /** The description of a device with these options. */
  static profileOf(options: CpuOptions = {}): DeviceProfile {
    return cpuProfile(probeDotProduct(), options);
  }

  /** A dry device, which only counts: a model assembled on it shows how much memory it needs. */
  static dry(profile: DeviceProfile): CpuDevice {
    return new CpuDevice(new CpuCore(true), profile);
  }

  get workingMemory(): WorkingMemory {
    return { taken: this.#core.workingBytes, most: MOST_BYTES };
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
    const home = purpose === CACHE ? caches.dry : work;
    const buffer = isDry ? dryBuffer(home, label, bufferSize(bytes)) : take();
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
    if (this.#core.isDry) giveDryBuffer(cpu(buffer));
    else giveBuffer(cpu(buffer).home, cpu(buffer));
  }

  part(buffer: Buffer, bytes: number): Buffer {
    return partOf(cpu(buffer), bufferSize(bytes));
  }

  mostFusedNormRows(): number {
    return 0;
  }

  canPair(): boolean {
    return true;
  }

  sidesOf(matrix: WeightMatrix): StackedMatrix<WeightMatrix>[] {
    return ([0, 1] as const).map((side) => ({
      matrix: matrix.side(this.#core, side),
      first: side * padTo(matrix.rows, GROUP),
    }));
  }

  matrix(label: string, format: QuantFormat, shape: MatrixShape): WeightMatrix {
    const matrix = new WeightMatrix(label, format, shape);
    this.#count("weights", matrix.sides * matrix.rows * matrix.rowBytes);
    return matrix;
  }

  matrixWriter(matrix: WeightMatrix, side: 0 | 1 = 0): MatrixWriter {
    return this.#core.isDry
      ? { append() {}, finish() {} }
      : new WeightWriter(matrix, side, this.#core, () => this.#optimizer.take(matrix));
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
    this.#core.pool.share();
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

  capture(encode: (pass: Pass) => void): ((pass: Pass) => void)[] {
    const calls: Call[] = [];
    encode(calls as Pass);
    const step = repeated(this.#core, calls);
    return [(pass) => void (pass as Call[]).push(step)];
  }

  /** It has computed everything before a read begins. */
  readonly readsBlock = false;
  readonly submitsBlock = true;

  holdFor(): void {}

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

  /** Has the phases of all steps measured; `tell` is called after each step. Undefined: no more. */
  timePhases(tell: TellTimes | undefined): void {
    this.#core.pool.timePhases(tell);
  }

  /** Steps run while they are submitted, so a pause lets timers and messages have their turn. */
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

  expertPairs(routing: Routing, rows: number): CpuExpertPairs {
    const bytes = pairsBytes(routing.experts, rows * routing.topK);
    const buffer = this.buffer("expert pairs", bytes, "scratch");
    const reads = [routing.ids];
    const described = { name: "expert pairs", reads, writes: [buffer], work: () => NO_WORK };
    const bound = boundOperation(described, expertPairs(this.#core, routing, buffer));
    return { ...bound, routing, buffer };
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

  #count(purpose: string, bytes: number): void {
    this.allocated.set(purpose, (this.allocated.get(purpose) ?? 0) + bytes);
  }
}
