// An open GPU: its capabilities, its buffers with a count of their bytes, and its compiled kernels.
// Features are tried by requesting them, since an adapter may not list all. It knows no operations:
// device.ts binds them, kernel.ts dispatches.

import { DeviceLostError, GpuError, GpuMemoryError } from "../errors.ts";
import type { Capabilities, Commands, DeviceProfile, DeviceSettings } from "../device.ts";
import type { Buffer } from "../operation.ts";
import { createDryGpu } from "./dry_gpu.ts";
import { Kernel, type KernelSource } from "./kernel.ts";
import { adapterFacts } from "./adapter_facts.ts";
import { requestAdapter } from "./adapters.ts";
import { implementation, type Platform, platformOf } from "./platform.ts";
import { TuningChoices } from "./choices.ts";
import {
  MATRIX_FEATURES,
  readSubgroupMatrices,
  type SubgroupMatrices,
} from "./subgroup_matrices.ts";

/** Bytes of an int8 group, see quantize_group.wgsl. */
export const GROUP_BYTES = 48;

/** The facts of a GPU that was opened. */
export interface GpuProfile extends DeviceProfile {
  readonly platform: Platform;
  readonly limits: GPUSupportedLimits;
  readonly matrices?: SubgroupMatrices;
}

/** Milliseconds that no work takes, on a driver on the CPU either. */
const PATIENCE = 3 * 60_000;

const WANTED: readonly string[] = ["subgroups", "timestamp-query"];

/** An open device. Disposing of it frees all its memory. */
export class Gpu implements Disposable {
  /** Bytes of an int8 group: 32 codes and four floats, see quantize_group.wgsl. */
  readonly groupBytes = GROUP_BYTES;
  /** Bytes in live buffers, by the purpose given to {@linkcode Gpu.buffer}. */
  readonly allocated = new Map<string, number>();
  /** The chosen way to compute each kernel. */
  readonly choices: TuningChoices;
  readonly #kernels = new Map<string, Kernel>();
  /** A number for each source text of kernels. */
  readonly #texts = new Map<string, number>();
  readonly #purposes = new Map<GPUBuffer, string>();
  /** What is held back, if anything is, and the reads for which it is; see {@linkcode Device.holdFor}. */
  #held: (() => void)[] | undefined;
  readonly #heldFor = new Set<object>();
  #lost: DeviceLostError | undefined;
  #uncaptured: GpuError | undefined;
  readonly #loss = Promise.withResolvers<DeviceLostError>();
  /** Ends of the waits for the GPU, in case it is lost. */
  readonly #waits = new Set<(error: DeviceLostError) => void>();
  readonly #patience: number;

  /** For {@linkcode Gpu.open} and others. */
  constructor(
    readonly gpu: GPUDevice,
    readonly profile: GpuProfile,
    /** The owner of the GPU, if this one shares it. */
    readonly owner?: Gpu,
    /** Milliseconds after which a read that does not end counts as the loss of the GPU. */
    patience = PATIENCE,
  ) {
    this.choices = owner?.choices ?? new TuningChoices(profile);
    this.#patience = patience;
    if (owner) return;
    gpu.addEventListener("uncapturederror", (event) => {
      const { error } = event as GPUUncapturedErrorEvent;
      this.#uncaptured ??= new GpuError(`Cannot run GPU commands: ${error.message}`);
    });
    gpu.lost.then((info) => this.#lose(`Cannot use the GPU: device lost: ${info.message}`));
  }

  #lose(message: string): void {
    if (this.#lost) return;
    this.#lost = new DeviceLostError(message);
    for (const end of this.#waits) end(this.#lost);
    this.#waits.clear();
    this.#loss.resolve(this.#lost);
  }

  /**
   * Waits for work of the GPU. Errors: DeviceLostError if it is lost meanwhile, or does not get done in
   * any time that work takes, as a driver that hangs; errors of the work.
   */
  async untilDone<T>(work: Promise<T>): Promise<T> {
    if (this.owner) return await this.owner.untilDone(work);
    if (this.#lost) {
      work.catch(() => {}); // It cannot end but by an error.
      throw this.#lost;
    }
    const { promise, reject } = Promise.withResolvers<never>();
    this.#waits.add(reject);
    const late = `Cannot use the GPU: it has not done its work within ${
      this.#patience / 1000
    } seconds`;
    const timer = setTimeout(() => this.#lose(late), this.#patience);
    try {
      return await Promise.race([work, promise]);
    } finally {
      clearTimeout(timer);
      this.#waits.delete(reject);
    }
  }

  /** Opens the best adapter. Errors: GpuError if there is none. */
  static async open<T extends Gpu>(
    this: new (gpu: GPUDevice, profile: GpuProfile, owner?: Gpu, patience?: number) => T,
    options: DeviceSettings = {},
  ): Promise<T> {
    const gpu = options.gpu as GPU | undefined ?? await implementation("webgpu");
    if (!gpu) throw new GpuError("Cannot open a GPU: this runtime has no WebGPU");
    const adapter = await requestAdapter(gpu);
    if (!adapter) {
      throw new GpuError(
        "Cannot open a GPU: no adapter found; install its driver (on Debian and Ubuntu: " +
          "apt-get install mesa-vulkan-drivers), or set QUERN_DEVICE=cpu, which needs none",
      );
    }
    const device = await requestDevice(adapter);
    const without = new Set<string>(options.without);
    const subgroups = device.features.has("subgroups") && !without.has("subgroups");
    const info = adapter.info;
    const { description, software, emulatesPackedDot } = adapterFacts(info);
    const { subgroupMinSize: least = 0, subgroupMaxSize: most = 0 } = info;
    const limits = readLimits(device.limits);
    const matrices = without.has("subgroups")
      ? undefined
      : readSubgroupMatrices(info, device.features);
    return new this(
      device,
      {
        platform: platformOf(gpu),
        capabilities: {
          subgroups,
          timestamps: device.features.has("timestamp-query") && !without.has("timestamps"),
          packedDot: !emulatesPackedDot && !without.has("packedDot") &&
            hasLanguageFeature(gpu, "packed_4x8_integer_dot_product"),
          subgroupSize: subgroups && least === most ? least : 0,
          leastSubgroup: subgroups ? least : 0,
          software,
        },
        description,
        vendor: Number(info.vendor) || 0,
        device: Number(info.device) || 0,
        maxBindingSize: Math.min(
          limits.maxStorageBufferBindingSize,
          options.maxBindingSize ?? Infinity,
        ),
        maxBufferSize: limits.maxBufferSize,
        limits,
        ...(matrices ? { matrices } : {}),
      },
      undefined,
      options.patience,
    );
  }

  /**
   * A dry device, which only counts: a model assembled on it shows how much memory it would take on
   * that GPU.
   */
  static dry<T extends Gpu>(
    this: new (gpu: GPUDevice, profile: GpuProfile) => T,
    profile: GpuProfile,
  ): T {
    return new this(createDryGpu(profile.limits), profile);
  }

  /**
   * This GPU with a memory count of its own. Disposing of it frees what was made through it,
   * and leaves the GPU open.
   */
  share(): Gpu {
    return new Gpu(this.gpu, this.profile, this.owner ?? this);
  }

  get platform(): Platform {
    return this.profile.platform;
  }

  get capabilities(): Capabilities {
    return this.profile.capabilities;
  }

  /** Name of the adapter and of its driver, for people. */
  get description(): string {
    return this.profile.description;
  }

  /** Largest binding of a storage buffer in bytes. */
  get maxBindingSize(): number {
    return this.profile.maxBindingSize;
  }

  /** Resolves when the device is lost, whatever the reason. */
  get lost(): Promise<DeviceLostError> {
    return this.owner?.lost ?? this.#loss.promise;
  }

  /** Throws errors of the GPU since the last call, because they are reported late. */
  check(): void {
    if (this.owner) return this.owner.check();
    if (this.#lost) throw this.#lost;
    const error = this.#uncaptured;
    this.#uncaptured = undefined;
    if (error) throw error;
  }

  /**
   * Creates a buffer of at least `bytes` bytes, rounded up to 16, zeroed, counted under `purpose`.
   * Errors: GpuMemoryError (at once for size limits; through {@linkcode Gpu.scoped} if memory is
   * exhausted).
   */
  buffer(label: string, bytes: number, purpose: string, usage = STORAGE_USAGE): GPUBuffer {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    if (size > this.gpu.limits.maxBufferSize) {
      const limit = (this.gpu.limits.maxBufferSize / 2 ** 20).toFixed(0);
      throw new GpuMemoryError(label, size, `the largest buffer of this device has ${limit} MiB`);
    }
    const buffer = this.gpu.createBuffer({ label, size, usage });
    this.#purposes.set(buffer, purpose);
    this.allocated.set(purpose, (this.allocated.get(purpose) ?? 0) + size);
    return buffer;
  }

  /**
   * Writes into a buffer from byte `offset` on. Empty writes are skipped, because Deno would abort.
   */
  write(buffer: Buffer, offset: number, data: ArrayBufferView | ArrayBuffer): void {
    if (data.byteLength === 0) return;
    const write = (data: ArrayBufferView | ArrayBuffer) =>
      this.gpu.queue.writeBuffer(buffer as GPUBuffer, offset, data as Uint8Array<ArrayBuffer>);
    if (!this.#held) return write(data);
    const copy = ArrayBuffer.isView(data)
      ? data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
      : data.slice();
    this.#held.push(() => write(copy as ArrayBuffer));
  }

  /** Submits commands, in order. */
  submit(...commands: Commands[]): void {
    const submit = () => this.gpu.queue.submit(commands as GPUCommandBuffer[]);
    if (this.#held) this.#held.push(submit);
    else submit();
  }

  get readsBlock(): boolean {
    return this.platform.sleepyMap;
  }

  readonly submitsBlock = false;

  /** Begins to hold back submits and writes, where a read would wait for them. */
  holdFor(readbacks: readonly object[]): void {
    if (!this.readsBlock || this.#held) return;
    this.#held = [];
    for (const readback of readbacks) this.#heldFor.add(readback);
  }

  /** Runs `read`. If nothing else is to be read before it, what is held back goes out right after it. */
  reading<T>(readback: object, read: () => T): T {
    if (!this.#heldFor.delete(readback)) this.release();
    const result = read();
    if (this.#heldFor.size === 0) this.release();
    return result;
  }

  /** Sends what is held back. */
  release(): void {
    const held = this.#held;
    this.#held = undefined;
    this.#heldFor.clear();
    for (const send of held ?? []) send();
  }

  /** Destroys a buffer made by {@linkcode Gpu.buffer} and removes it from the count. */
  free(freed: Buffer): void {
    const buffer = freed as GPUBuffer;
    const purpose = this.#purposes.get(buffer);
    if (purpose === undefined) return;
    this.release();
    this.#purposes.delete(buffer);
    this.allocated.set(purpose, this.allocated.get(purpose)! - buffer.size);
    buffer.destroy();
  }

  /** Runs `create` within error scopes. An error of the device is thrown. */
  async scoped<T>(what: string, create: () => T | Promise<T>): Promise<T> {
    this.gpu.pushErrorScope("out-of-memory");
    this.gpu.pushErrorScope("validation");
    const [created] = await Promise.allSettled([Promise.resolve().then(create)]);
    const invalid = await this.gpu.popErrorScope();
    const exhausted = await this.gpu.popErrorScope();
    // An error of the GPU is the cause of those after it.
    if (exhausted) {
      const bytes = [...this.allocated.values()].reduce((sum, size) => sum + size, 0);
      throw new GpuMemoryError(what, bytes, "the device is out of memory");
    }
    if (invalid) throw new GpuError(`Cannot ${what}: ${invalid.message}`);
    if (created.status === "rejected") throw created.reason;
    this.check();
    return created.value;
  }

  /**
   * The kernel of this source with these constants; each is made once per device. It is compiled by
   * {@linkcode Gpu.prepare}, or when it is first used.
   */
  kernel(source: KernelSource): Kernel {
    const key = JSON.stringify([source, ...source.joined ?? []].map(
      ({ name, constants, extensions = [], source, snippets = [], parts = {} }) => [
        ...[name, constants, extensions],
        ...[[source, ...snippets], Object.entries(parts).flat()].map((texts) =>
          texts.map((text) => this.#idOf(text))
        ),
      ],
    ));
    let kernel = this.#kernels.get(key);
    if (!kernel) this.#kernels.set(key, kernel = new Kernel(this, source));
    return kernel;
  }

  #idOf(text: string): number {
    let id = this.#texts.get(text);
    if (id === undefined) this.#texts.set(text, id = this.#texts.size);
    return id;
  }

  /**
   * Compiles the kernels that were requested until now, in parallel if the implementation can.
   * Drivers on the CPU generate machine code at a kernel's first dispatch, of any size, so there
   * each is dispatched once, with no workgroups. Errors: GpuError.
   */
  async prepare(): Promise<void> {
    const kernels = [...this.#kernels.values()].filter(({ isReady }) => !isReady);
    await Promise.all(kernels.map((kernel) => kernel.prepare()));
    if (!this.capabilities.software || !this.platform.emptyDispatches) return;
    const encoder = this.gpu.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const kernel of kernels) kernel.encodeNothing(pass);
    pass.end();
    this.gpu.queue.submit([encoder.finish()]);
    await this.gpu.queue.onSubmittedWorkDone();
  }

  /** Destroys all its buffers, and the GPU's device if it is the owner. */
  [Symbol.dispose](): void {
    for (const buffer of this.#purposes.keys()) buffer.destroy();
    this.#purposes.clear();
    this.allocated.clear();
    this.#kernels.clear();
    if (!this.owner) this.gpu.destroy();
  }
}

const STORAGE_USAGE = 0x80 | 0x40 | 0x8 | 0x4; // STORAGE | UNIFORM | COPY_DST | COPY_SRC

/** Limits as plain data. The original object has getters, and would keep the device alive. */
function readLimits(limits: GPUSupportedLimits): GPUSupportedLimits {
  const plain: Record<string, number> = {};
  for (const name in limits) {
    const value = limits[name as keyof GPUSupportedLimits];
    if (typeof value === "number") plain[name] = value;
  }
  return plain as unknown as GPUSupportedLimits;
}

/** Deno's built-in types lack `wgslLanguageFeatures`, but the object has it. */
function hasLanguageFeature(gpu: GPU, name: string): boolean {
  const { wgslLanguageFeatures } = gpu as GPU & { wgslLanguageFeatures?: ReadonlySet<string> };
  return wgslLanguageFeatures?.has(name) ?? false;
}

/**
 * Requests every wanted feature, and drops refused ones, one at a time. Takes all limits except
 * that of storage buffers, which is eight on every device, so that a kernel with more fails on all
 * of them.
 */
async function requestDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  const { maxStorageBuffersPerShaderStage: _, ...requiredLimits } = readLimits(adapter.limits);
  const listed = (name: string) => adapter.features.has(name as GPUFeatureName);
  const features = [...WANTED, ...(MATRIX_FEATURES.every(listed) ? MATRIX_FEATURES : [])];
  const refused: string[] = [];
  for (;;) {
    try {
      const requiredFeatures = features.filter((name) => !refused.includes(name));
      return await adapter.requestDevice({
        requiredFeatures: requiredFeatures as GPUFeatureName[],
        requiredLimits,
      });
    } catch (error) {
      const next = features.find((name) => !refused.includes(name));
      if (next === undefined) throw new GpuError(`Cannot open the GPU: ${error}`);
      // The refusal does not say which feature it means. Features that are not listed are dropped
      // first.
      const hidden = features.find((name) => !refused.includes(name) && !listed(name));
      refused.push(hidden ?? next);
    }
  }
}
