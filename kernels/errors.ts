// The errors of the GPU layer.

/** Base of the GPU layer's errors: no adapter, a shader or a buffer that the device refuses. */
export class GpuError extends Error {
  /** Name of the class. */
  override name = "GpuError";
}

/** The device is gone (driver reset, unplugged, destroyed): all its buffers with it. Open a fresh one. */
export class DeviceLostError extends GpuError {
  /** Name of the class. */
  override name = "DeviceLostError";
}

/** The device has no room for a buffer of that size. */
export class GpuMemoryError extends GpuError {
  /** Name of the class. */
  override name = "GpuMemoryError";
  /** Says what was to be allocated: a buffer by its label, its size in bytes. */
  constructor(readonly label: string, readonly bytes: number, state: string) {
    super(`Cannot allocate "${label}" of ${(bytes / 2 ** 20).toFixed(1)} MiB on the GPU: ${state}`);
  }
}
