// A GPU that computes nothing and notes the kernels that it is given: so all that a device of some
// profile would compile is had in moments, of single kernels and of whole models alike. And what a
// kernel asks of a device, read from its WGSL and not from the code that made it.

import { assert } from "@std/assert";
import { deviceProfile, type Profile } from "./profiles.ts";

/** WGSL of kernels and their names. */
export type Kernels = Map<string, string>;

/** Deno's own answer to a dispatch of more: the greatest number that WebGPU promises. */
const MOST_WORKGROUPS = 65535;

/**
 * An implementation whose device notes the kernels that it is given, and how many workgroups it is
 * to run. Results are zeros.
 */
export function recordingGpu(profile: Profile, kernels: Kernels, dispatches?: string[]): GPU {
  const { limits, capabilities } = deviceProfile(profile);
  const [subgroupMinSize, subgroupMaxSize] = profile.subgroups ?? [0, 0];
  const adapter = {
    limits,
    features: new Set(capabilities.subgroups ? ["subgroups"] : []),
    info: {
      description: profile.name,
      isFallbackAdapter: capabilities.software,
      subgroupMinSize,
      subgroupMaxSize,
    },
    requestDevice({ requiredFeatures = [] }: GPUDeviceDescriptor) {
      const features = new Set<string>(requiredFeatures);
      const isRefused = features.has("timestamp-query") ||
        features.has("subgroups") && !capabilities.subgroups;
      if (isRefused) return Promise.reject(new TypeError("no such feature"));
      return Promise.resolve(recordingDevice(limits, features, kernels, dispatches));
    },
  };
  return {
    wgslLanguageFeatures: new Set(["packed_4x8_integer_dot_product"]),
    requestAdapter: () => Promise.resolve(adapter),
  } as unknown as GPU;
}

function recordingDevice(
  limits: GPUSupportedLimits,
  features: Set<string>,
  kernels: Kernels,
  dispatches?: string[],
) {
  const nothing = () => ({});
  const pass = {
    setPipeline() {},
    setBindGroup() {},
    dispatchWorkgroups(...counts: number[]) {
      for (const count of counts) assert(Number.isInteger(count) && count <= MOST_WORKGROUPS);
      dispatches?.push(counts.join());
    },
    end() {},
  };
  return Object.assign(new EventTarget(), {
    limits,
    features,
    lost: new Promise<never>(() => {}),
    queue: { writeBuffer() {}, submit() {}, onSubmittedWorkDone: () => Promise.resolve() },
    createBuffer: (buffer: GPUBufferDescriptor) => ({
      ...buffer,
      mapAsync: () => Promise.resolve(),
      getMappedRange: () => new ArrayBuffer(buffer.size),
      unmap() {},
      destroy() {},
    }),
    createCommandEncoder: () => ({
      beginComputePass: () => pass,
      copyBufferToBuffer() {},
      finish: nothing,
    }),
    createShaderModule: ({ label = "", code }: GPUShaderModuleDescriptor) => {
      kernels.set(code, label);
      return {};
    },
    createBindGroupLayout: nothing,
    createPipelineLayout: nothing,
    createComputePipeline: nothing,
    createComputePipelineAsync: () => Promise.resolve({}),
    createBindGroup: nothing,
    pushErrorScope() {},
    popErrorScope: () => Promise.resolve(null),
    destroy() {},
  });
}

/** Bytes of workgroup memory and invocations of a workgroup that a kernel wants. */
export function demandsOf(code: string): { memory: number; invocations: number } {
  const plain = code.replaceAll(/\/\/.*|\/\*[^]*?\*\//g, "");
  const constants = new Map<string, number>();
  for (const [, name, value] of plain.matchAll(/\bconst (\w+) = ([^;]+);/g)) {
    if (!/[.:]|^vec/.test(value)) constants.set(name, evaluate(value, constants));
  }
  let memory = 0;
  for (const [, type] of plain.matchAll(/\bvar<workgroup> \w+: ([^;]+);/g)) {
    memory += Math.ceil(sizeOf(type, constants) / 16) * 16;
  }
  const [, size] = /@workgroup_size\(([^)]+)\)/.exec(plain)!;
  return { memory, invocations: evaluate(size, constants) };
}

function sizeOf(type: string, constants: Map<string, number>): number {
  const [, element, count] = /^array<(.+), ([^,<>]+)>$/.exec(type.trim()) ?? [];
  if (element) return sizeOf(element, constants) * evaluate(count, constants);
  const [, vector = "1"] = /^vec([24])<[uif]32>$/.exec(type) ?? [];
  assert(vector !== "1" || /^(?:atomic<)?[uif]32>?$/.test(type), `no size of ${type}`);
  return 4 * Number(vector);
}

/** The value of an expression of whole numbers: sums, products, and names. */
function evaluate(expression: string, constants: Map<string, number>): number {
  const tokens = expression.match(/0x[0-9a-fA-F]+|\w+|[-+*/%()]/g) ?? [];
  const atom = (): number => {
    const token = tokens.shift()!;
    if (token === "(") {
      const value = sum();
      tokens.shift();
      return value;
    }
    const value = constants.get(token) ?? Number(token.replace(/u$/, ""));
    assert(!Number.isNaN(value), `${token} in ${expression}`);
    return value;
  };
  const product = (): number => {
    let value = atom();
    while (tokens[0] === "*" || tokens[0] === "/" || tokens[0] === "%") {
      const operator = tokens.shift();
      const other = atom();
      if (operator === "*") value *= other;
      else value = operator === "/" ? Math.floor(value / other) : value % other;
    }
    return value;
  };
  const sum = (): number => {
    let value = product();
    while (tokens[0] === "+" || tokens[0] === "-") {
      value += tokens.shift() === "+" ? product() : -product();
    }
    return value;
  };
  return sum();
}
