// Reads bytes from the GPU through one staging buffer. Awaiting the map is the standard way, and
// overlaps with the next submit. If a result is wanted at once, Deno's await with its sleep of 10
// ms is skipped, because there the buffer is mapped when mapAsync returns.

import type { Readback } from "../device.ts";
import type { Gpu } from "./gpu.ts";

const MAP_READ = 1;

const USAGE = MAP_READ | 8; // COPY_DST

/** A staging buffer and the ways to read it. One read at a time. */
export class GpuReadback implements Readback {
  readonly buffer: GPUBuffer;
  readonly #device: Gpu;
  /** Deno aborts on a range of a buffer whose map was never awaited. */
  #awaited = false;
  #quick: boolean;

  /** @param bytes most bytes that one read takes */
  constructor(device: Gpu, label: string, bytes: number) {
    this.#device = device;
    this.#quick = device.platform.sleepyMap;
    this.buffer = device.buffer(label, bytes, "scratch", USAGE);
  }

  /**
   * The first `bytes` bytes, after everything submitted is done. Errors: DeviceLostError, GpuError.
   */
  async read(bytes: number): Promise<ArrayBuffer> {
    await this.#device.untilDone(this.#map());
    this.#awaited = true;
    return this.#take(bytes);
  }

  /**
   * The first `bytes` bytes, without the sleep if that is safe. Blocks the thread while the GPU
   * works.
   */
  async readNow(bytes: number): Promise<ArrayBuffer> {
    if (!this.#quick || !this.#awaited) return await this.read(bytes);
    const mapped = this.#map();
    mapped.catch(() => {}); // #take reports its errors
    try {
      return this.#take(bytes);
    } catch {
      // The runtime's map is asynchronous after all, so await it from now on.
      this.#quick = false;
      await this.#device.untilDone(mapped);
      return this.#take(bytes);
    }
  }

  /** Frees the staging buffer. */
  free(): void {
    this.#device.free(this.buffer);
  }

  /** What was held back for this read goes out as soon as the call returns: the GPU has nothing to do. */
  #map(): Promise<void> {
    return this.#device.reading(this, () => this.buffer.mapAsync(MAP_READ) as Promise<void>);
  }

  #take(bytes: number): ArrayBuffer {
    const copy = this.buffer.getMappedRange().slice(0, bytes);
    this.buffer.unmap();
    this.#device.check();
    return copy;
  }
}
