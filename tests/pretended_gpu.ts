// GPUs that tests pretend to have: the software driver under the numbers that hardware reports, so that
// the tiles, lanes and workgroups that a real GPU gets are chosen, and computed. All of them are one
// device of the driver, and share the kernels that are equal, because compiling takes nearly all the
// time. What a kernel demands of the GPU that is pretended is checked here, since the driver has more.

import { assert } from "@std/assert";
import { requestAdapter } from "../kernels/webgpu/mod.ts";
import { demandsOf } from "./kernel_demands.ts";
import { withMatricesOf } from "./pretended_matrices.ts";
import { withSubgroupsOf } from "./pretended_subgroups.ts";
import { deviceProfile, featuresOf, infoOf, type Profile, sizeOf } from "./profiles.ts";

/** The driver's device, and what was compiled for it. */
interface Driver {
  readonly device: GPUDevice;
  /** By code and layout. */
  readonly pipelines: Map<string, GPUComputePipeline>;
}

let driver: Promise<Driver> | undefined;

/** What is compiled where a kernel is given. */
type Rewrite = (code: string) => string;

/**
 * Deno's GPU under the numbers of a profile, for `WebGpuDevice.open()`.
 *
 * @param rewrite makes of a kernel what is compiled; default: {@linkcode pretendedCode}
 */
export function pretendGpu(
  profile: Profile,
  rewrite: Rewrite = (code) => pretendedCode(profile, code),
): GPU {
  const real = navigator.gpu;
  const { wgslLanguageFeatures } = real as GPU & { wgslLanguageFeatures: ReadonlySet<string> };
  return {
    wgslLanguageFeatures,
    async requestAdapter() {
      const adapter = await requestAdapter(real);
      return adapter && pretendAdapter(adapter, profile, rewrite);
    },
  } as unknown as GPU;
}

function pretendAdapter(adapter: GPUAdapter, profile: Profile, rewrite: Rewrite): GPUAdapter {
  const listed = featuresOf(profile);
  const limits = { ...plainLimits(adapter.limits), ...deviceProfile(profile).limits };
  return {
    features: listed,
    limits,
    info: { ...infoOf(profile), description: `${profile.name} (pretended)` },
    async requestDevice({ requiredFeatures = [] }: GPUDeviceDescriptor) {
      const features = new Set<string>(requiredFeatures);
      const possible = new Set(listed);
      if (adapter.features.has("timestamp-query")) possible.add("timestamp-query");
      if (!possible.isSupersetOf(features)) throw new TypeError("no such feature");
      driver ??= openDriver(adapter);
      return pretendDevice(await driver, profile, { limits, features }, rewrite);
    },
  } as unknown as GPUAdapter;
}

async function openDriver(adapter: GPUAdapter): Promise<Driver> {
  // As many storage buffers as every device has, as for the devices of the program.
  const { maxStorageBuffersPerShaderStage: _, ...requiredLimits } = plainLimits(adapter.limits);
  const timestamps = ["timestamp-query" as const].filter((name) => adapter.features.has(name));
  const device = await adapter.requestDevice({ requiredLimits, requiredFeatures: timestamps });
  return { device, pipelines: new Map() };
}

function plainLimits(limits: GPUSupportedLimits): Record<string, number> {
  const plain: Record<string, number> = {};
  for (const name in limits) {
    const value = limits[name as keyof GPUSupportedLimits];
    if (typeof value === "number") plain[name] = value;
  }
  return plain;
}

/** What a pretended device knows of what was made by it. */
interface Made {
  readonly codes: Map<GPUShaderModule, string>;
  readonly layouts: Map<object, string>;
}

function pretendDevice(
  { device, pipelines }: Driver,
  profile: Profile,
  facts: { limits: Record<string, number>; features: Set<string> },
  rewrite: Rewrite,
): GPUDevice {
  const made: Made = { codes: new Map(), layouts: new Map() };
  const compile = (descriptor: GPUComputePipelineDescriptor): GPUComputePipeline => {
    const { layout, compute } = descriptor;
    const code = made.codes.get(compute.module)!;
    const key = `${made.layouts.get(layout as GPUPipelineLayout)}\n${code}`;
    let pipeline = pipelines.get(key);
    if (!pipeline) {
      const module = device.createShaderModule({ code });
      const real = { ...descriptor, compute: { ...compute, module } };
      pipelines.set(key, pipeline = device.createComputePipeline(real));
    }
    return pipeline;
  };
  const own = {
    ...facts,
    // The driver's device is that of others too. What was made here, WebGpuDevice frees.
    destroy() {},
    createShaderModule({ code, label }: GPUShaderModuleDescriptor) {
      const { memory, invocations } = demandsOf(code);
      assert(
        memory <= profile.memory && invocations <= profile.invocations,
        `Cannot run ${label} on ${profile.name}: ${memory} bytes, ${invocations} invocations`,
      );
      const module = {} as GPUShaderModule;
      made.codes.set(module, rewrite(code));
      return module;
    },
    createBindGroupLayout(descriptor: GPUBindGroupLayoutDescriptor) {
      const layout = device.createBindGroupLayout(descriptor);
      made.layouts.set(layout, JSON.stringify(descriptor.entries));
      return layout;
    },
    createPipelineLayout(descriptor: GPUPipelineLayoutDescriptor) {
      const layout = device.createPipelineLayout(descriptor);
      const groups = [...descriptor.bindGroupLayouts].map((group) => made.layouts.get(group!));
      made.layouts.set(layout, groups.join());
      return layout;
    },
    createComputePipeline: compile,
    createComputePipelineAsync: (descriptor: GPUComputePipelineDescriptor) =>
      Promise.resolve(compile(descriptor)),
  };
  return new Proxy(device, {
    get(target, name) {
      if (name in own) return own[name as keyof typeof own];
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The code that is computed where a GPU of this profile would compute `code`. */
export function pretendedCode(profile: Profile, code: string): string {
  // The smallest subgroups that it may run, so that some of a workgroup have no matrices to multiply.
  const plain = withMatricesOf(profile.subgroups?.[0] ?? 1, code);
  return withSubgroupsOf(sizeOf(profile), plain);
}
