// A GPU that computes nothing and notes the kernels that it is given: so all that a device of some
// profile would compile is had in moments, of single kernels and of whole models alike.

import { assert } from "@std/assert";
import { createDryGpu } from "../kernels/webgpu/dry_gpu.ts";
import { deviceProfile, featuresOf, infoOf, type Profile } from "./profiles.ts";

/** WGSL of kernels and their names. */
export type Kernels = Map<string, string>;

/** Deno's own answer to a dispatch of more: the greatest number that WebGPU promises. */
const MOST_WORKGROUPS = 65535;

/**
 * An implementation whose device notes the kernels that it is given, and how many workgroups it is
 * to run. Results are zeros.
 */
export function recordingGpu(profile: Profile, kernels: Kernels, dispatches?: string[]): GPU {
  const { limits } = deviceProfile(profile);
  const listed = featuresOf(profile);
  const adapter = {
    limits,
    features: listed,
    info: infoOf(profile),
    requestDevice({ requiredFeatures = [] }: GPUDeviceDescriptor) {
      const features = new Set<string>(requiredFeatures);
      if (!listed.isSupersetOf(features)) return Promise.reject(new TypeError("no such feature"));
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
  return Object.assign(createDryGpu(limits), {
    features,
    createCommandEncoder: () => ({
      beginComputePass: () => pass,
      copyBufferToBuffer() {},
      finish: nothing,
    }),
    createShaderModule: ({ label = "", code }: GPUShaderModuleDescriptor) => {
      kernels.set(code, label);
      return {};
    },
    createComputePipeline: nothing,
  });
}
