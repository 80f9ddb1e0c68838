// A stand-in for a GPUDevice that only counts: buffers have sizes but no memory, and kernels are
// not compiled. It has what assembling a model calls; nothing can be run.

/** A device with these limits for {@linkcode Gpu.dry}. */
export function createDryGpu(limits: GPUSupportedLimits): GPUDevice {
  const nothing = () => ({});
  const gpu = {
    limits,
    lost: new Promise<never>(() => {}),
    queue: { writeBuffer() {}, submit() {}, onSubmittedWorkDone: () => Promise.resolve() },
    createBuffer: (buffer: GPUBufferDescriptor) => ({
      ...buffer,
      mapAsync: () => Promise.resolve(),
      getMappedRange: () => new ArrayBuffer(buffer.size),
      unmap() {},
      destroy() {},
    }),
    createShaderModule: nothing,
    createBindGroupLayout: nothing,
    createPipelineLayout: nothing,
    createComputePipelineAsync: () => Promise.resolve({}),
    createCommandEncoder: () => ({
      beginComputePass: () => ({
        setPipeline() {},
        setBindGroup() {},
        dispatchWorkgroups() {},
        end() {},
      }),
      copyBufferToBuffer() {},
      finish: nothing,
    }),
    createBindGroup: nothing,
    pushErrorScope() {},
    popErrorScope: () => Promise.resolve(null),
    addEventListener() {},
    destroy() {},
  };
  return gpu as unknown as GPUDevice;
}
