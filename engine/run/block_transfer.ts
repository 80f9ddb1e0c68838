// Blocks of the KV cache, and copies of recurrent states, on their way between the device and the host:
// the bytes of all layers, in the order of the layers. Each device of a model reads its own layers.

import { sharedBuffer } from "../../host/mod.ts";
import type { Buffer, Device, Readback } from "../../kernels/mod.ts";
import type { StoredBlock } from "../block_store/mod.ts";
import type { StepMemory } from "../nn/mod.ts";
import type { BlockRequest, DeviceBlocks } from "./step_executor.ts";

/** Bytes that are read at a time, unless a block has more. */
const BATCH_BYTES = 8 * 2 ** 20;

/** A buffer of a layer, which has `bytes` bytes for each block, or for each row of copies. */
interface Part {
  readonly device: Device;
  readonly buffer: Buffer;
  readonly bytes: number;
}

/** The transfer of a model's blocks. */
export class BlockTransfer implements DeviceBlocks {
  readonly #cached: readonly Part[];
  readonly #states: readonly Part[];
  /** Most blocks that are read at a time. */
  readonly batch: number;
  /** Allocated with the model, so that its memory is known beforehand. */
  readonly #readbacks = new Map<Device, Readback>();

  /** @param blocks blocks of the KV cache */
  constructor(memory: StepMemory, blocks: number) {
    this.#cached = memory.caches.flatMap((cache) => {
      const device = memory.deviceOf(cache);
      const buffers = cache.values ? [cache.keys, cache.values] : [cache.keys];
      return buffers.map((buffer) => ({ device, buffer, bytes: buffer.size / blocks }));
    });
    this.#states = memory.states.flatMap(({ device, copies, floats }) =>
      copies ? [{ device, buffer: copies, bytes: floats * 4 }] : []
    );
    const all = [...this.#cached, ...this.#states];
    const fitting = Math.floor(BATCH_BYTES / Math.max(1, sumOf(all)));
    this.batch = Math.max(1, Math.min(fitting, blocks));
    for (const device of new Set(all.map((part) => part.device))) {
      const bytes = sumOf(all.filter((part) => part.device === device));
      this.#readbacks.set(device, device.readback("blocks to keep", this.batch * bytes));
    }
  }

  get blockBytes(): number {
    return sumOf(this.#cached);
  }

  /** Bytes of a row of copies. */
  get stateBytes(): number {
    return sumOf(this.#states);
  }

  /** Reads at most `batch` blocks as they are after all that was submitted. One call at a time. */
  async read(requests: readonly BlockRequest[]): Promise<StoredBlock[]> {
    const pieces = requests.map(({ block, row }) => ({
      cached: this.#cached.map((part) => ({ part, at: block * part.bytes })),
      states: row === undefined ? [] : this.#states.map((part) => ({ part, at: row * part.bytes })),
    }));
    const all = pieces.flatMap(({ cached, states }) => [...cached, ...states]);
    const copied = new Map<Device, Promise<ArrayBuffer>>();
    for (const device of new Set(all.map(({ part }) => part.device))) {
      const own = all.filter(({ part }) => part.device === device);
      const size = sumOf(own.map(({ part }) => part));
      const readback = this.#readbacks.get(device)!;
      const recorder = device.record();
      let to = 0;
      for (const { part: { buffer, bytes }, at } of own) {
        recorder.copy(buffer, at, readback.buffer, to, bytes);
        to += bytes;
      }
      device.submit(recorder.finish());
      copied.set(device, readback.read(size));
    }
    const sources = new Map<Device, { bytes: ArrayBuffer; used: number }>();
    await Promise.all(
      copied.entries().map(async ([device, bytes]) => {
        sources.set(device, { bytes: await bytes, used: 0 });
      }),
    );
    const take = (parts: readonly { part: Part }[]): Uint8Array<SharedArrayBuffer> => {
      const taken = new Uint8Array(sharedBuffer(sumOf(parts.map(({ part }) => part))));
      let to = 0;
      for (const { part: { device, bytes } } of parts) {
        const source = sources.get(device)!;
        taken.set(new Uint8Array(source.bytes, source.used, bytes), to);
        source.used += bytes;
        to += bytes;
      }
      return taken;
    };
    return pieces.map(({ cached, states }) => ({
      cached: take(cached),
      ...(states.length > 0 && { states: take(states) }),
    }));
  }

  /** Writes a block, for what is submitted from now on. */
  writeBlock(block: number, bytes: Uint8Array): void {
    write(this.#cached, block, bytes);
  }

  /** Writes a row of copies. */
  writeStates(row: number, bytes: Uint8Array): void {
    write(this.#states, row, bytes);
  }
}

function write(parts: readonly Part[], index: number, from: Uint8Array): void {
  let at = 0;
  for (const { device, buffer, bytes } of parts) {
    // A copy: implementations of WebGPU do not take shared memory.
    device.write(buffer, index * bytes, from.slice(at, at + bytes));
    at += bytes;
  }
}

function sumOf(parts: readonly { readonly bytes: number }[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}
