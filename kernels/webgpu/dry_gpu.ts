// A stand-in for a GPUDevice that makes everything and holds nothing: buffers have sizes and no
// memory, kernels are not compiled. What is assembled on it adds up to what it would take.
// Only what assembling a model calls is here; nothing can be run.

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
