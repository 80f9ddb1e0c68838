// The dispatches of a pass, kept in a list. WebGPU's commands can only be submitted once, so each step is
// recorded again; from such a list, that costs only the calls of WebGPU itself.

import type { Pass } from "../operation.ts";

/** One call of a compute pass's methods; what is missing stays as the dispatch before set it. */
interface CapturedDispatch {
  pipeline?: GPUComputePipeline;
  bindGroup?: GPUBindGroup;
  readonly workgroups: readonly [x: number, y: number, z: number];
}

/**
 * Captures the dispatches of `encode`, in one part or two. Each records its dispatches into a pass that
 * has no state yet.
 *
 * @param most dispatches of the first part; the rest is the second
 */
export function captureDispatches(
  encode: (pass: Pass) => void,
  most = Infinity,
): ((pass: GPUComputePassEncoder) => void)[] {
  const captured: CapturedDispatch[] = [];
  let [pipeline, bindGroup]: [GPUComputePipeline?, GPUBindGroup?] = [];
  let [lastPipeline, lastBindGroup]: [GPUComputePipeline?, GPUBindGroup?] = [];
  // The methods of a pass that encodeDispatch() of kernel.ts calls.
  const recorder: Pick<GPUComputePassEncoder, "setPipeline" | "dispatchWorkgroups"> & {
    setBindGroup(index: 0, group: GPUBindGroup): void;
  } = {
    setPipeline: (set) => void (pipeline = set),
    setBindGroup: (_, set) => void (bindGroup = set),
    dispatchWorkgroups(x, y = 1, z = 1) {
      if (captured.length === most) lastPipeline = lastBindGroup = undefined;
      captured.push({
        ...(pipeline === lastPipeline ? {} : { pipeline }),
        ...(bindGroup === lastBindGroup ? {} : { bindGroup }),
        workgroups: [x, y, z],
      });
      [lastPipeline, lastBindGroup] = [pipeline, bindGroup];
    },
  };
  encode(recorder as Pass);
  const parts = captured.length > most
    ? [captured.slice(0, most), captured.slice(most)]
    : [captured];
  return parts.map((part) => (pass) => {
    for (const { pipeline, bindGroup, workgroups: [x, y, z] } of part) {
      if (pipeline) pass.setPipeline(pipeline);
      if (bindGroup) pass.setBindGroup(0, bindGroup);
      // Dawn converts each argument in some 0.25 µs, a sixth of the call.
      if (y === 1 && z === 1) pass.dispatchWorkgroups(x);
      else pass.dispatchWorkgroups(x, y, z);
    }
  });
}
