// A buffer of two devices: memory on each of them whose operations use it, and on none before. So a
// layer's cache lies where the layer computes, and what both read lies twice.

import type { Device } from "../device.ts";
import type { Buffer } from "../operation.ts";

/** A device of the two, and whose memory its buffers are. */
export interface Half {
  readonly device: Device;
  /** The buffers of both by this half's own memory. */
  readonly owners: WeakMap<Buffer, SplitBuffer>;
}

/** Memory of at least `size` bytes on one device or on both. */
export class SplitBuffer implements Buffer {
  readonly size: number;
  readonly #memory = new Map<Half, Buffer>();
  /** What the host wrote, for memory that is still to come. */
  #image: Uint8Array<ArrayBuffer> | undefined;
  #isSettled = false;

  constructor(readonly label: string, bytes: number, readonly purpose: string) {
    this.size = Math.max(16, Math.ceil(bytes / 16) * 16);
  }

  /** The halves on which it has memory. */
  get halves(): readonly Half[] {
    return [...this.#memory.keys()];
  }

  /** Its memory on one device, made when it is first asked for. Errors: GpuMemoryError. */
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

  /** Writes wherever it has memory, and until it is settled wherever it will have some. */
  write(offset: number, bytes: Uint8Array<ArrayBuffer>): void {
    for (const [{ device }, memory] of this.#memory) device.write(memory, offset, bytes);
    if (this.#isSettled && this.#memory.size > 0) return;
    this.#image ??= new Uint8Array(this.size);
    this.#image.set(bytes, offset);
  }

  /** Forgets what was written: whoever uses it has memory by now, or will be the only one. */
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

/** The first bytes of such a buffer: memory on the same devices. */
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
