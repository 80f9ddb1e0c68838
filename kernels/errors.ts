// The errors of the kernels layer.

/** The system gives this process no more open files, threads or processes; later it may. */
export class ResourceError extends Error {
  /** Name of the class. */
  override name = "ResourceError";
}

/** The base of all errors of devices: no adapter, a shader or a buffer that the device refuses. */
export class GpuError extends Error {
  /** Name of the class. */
  override name: string = this.constructor.name;
}

/**
 * The error of a lost device (driver reset, unplugged, destroyed), whose buffers are lost, too. A
 * new device has to be opened.
 */
export class DeviceLostError extends GpuError {}

/** The error of a device without enough memory for a buffer. */
export class GpuMemoryError extends GpuError {
  /**
   * The message names the buffer, its size and the reason.
   *
   * @param label label of the buffer
   * @param bytes its size
   * @param state the reason, as words after a colon
   */
  constructor(readonly label: string, readonly bytes: number, state: string) {
    super(`Cannot allocate "${label}" of ${(bytes / 2 ** 20).toFixed(1)} MiB on the GPU: ${state}`);
  }
}
