// A buffer of two devices. It has memory only on devices whose operations use it, from the first
// use on. So the cache of a layer is on the layer's device only, and what both devices use is on
// both.

import type { Device } from "../device.ts";
import type { Buffer } from "../operation.ts";

/** One of the two devices, and the buffers to which its memory belongs. */
export interface Half {
  readonly device: Device;
  /** For each memory of this device, the buffer of both devices. */
  readonly owners: WeakMap<Buffer, SplitBuffer>;
}

/** Memory of at least `size` bytes on one device or on both. */
export class SplitBuffer implements Buffer {
  readonly size: number;
  readonly #memory = new Map<Half, Buffer>();
  /** Writes of the host, for devices on which the memory does not exist yet. */
  #image: Uint8Array<ArrayBuffer> | undefined;
  #isSettled = false;

  constructor(readonly label: string, bytes: number, readonly purpose: string) {
    this.size = Math.max(16, Math.ceil(bytes / 16) * 16);
  }

  /** The devices on which it has memory. */
  get halves(): readonly Half[] {
    return [...this.#memory.keys()];
  }

  /** Its memory on one device, allocated on the first call. Errors: GpuMemoryError. */
  on(half: Half): Buffer {
    let memory = this.#memory.get(half);
    if (memory) return memory;
    memory = half.device.buffer(this.label, this.size, this.purpose);
    this.#memory.set(half, memory);
    half.owners.set(memory, this);
    if (this.#image) half.device.write(memory, 0, this.#image);
    if (this.#isSettled) this.#image = undefined;
    return memory;
  }

  /** Writes to all its memory, and until settle() also to memory that will be allocated later. */
  write(offset: number, bytes: Uint8Array<ArrayBuffer>): void {
    for (const [{ device }, memory] of this.#memory) device.write(memory, offset, bytes);
    if (this.#isSettled && this.#memory.size > 0) return;
    this.#image ??= new Uint8Array(this.size);
    this.#image.set(bytes, offset);
  }

  /**
   * Drops what the host wrote. After this, no further device may start to use it and expect the
   * data.
   */
  settle(): void {
    this.#isSettled = true;
    if (this.#memory.size > 0) this.#image = undefined;
  }

  /** Frees its memory on both devices. */
  free(): void {
    for (const [{ device }, memory] of this.#memory) device.free(memory);
    this.#memory.clear();
    this.#image = undefined;
  }
}

/** The first bytes of a buffer: memory on the same devices. */
export class SplitPart extends SplitBuffer {
  readonly #whole: SplitBuffer;
  readonly #parts = new Map<Half, Buffer>();

  constructor(whole: SplitBuffer, bytes: number) {
    super(whole.label, bytes, whole.purpose);
    this.#whole = whole;
  }

  override get halves(): readonly Half[] {
    return this.#whole.halves;
  }

  override on(half: Half): Buffer {
    let memory = this.#parts.get(half);
    if (!memory) {
      memory = half.device.part(this.#whole.on(half), this.size);
      this.#parts.set(half, memory);
    }
    return memory;
  }

  override write(offset: number, bytes: Uint8Array<ArrayBuffer>): void {
    this.#whole.write(offset, bytes);
  }

  override settle(): void {}

  override free(): void {}
}
