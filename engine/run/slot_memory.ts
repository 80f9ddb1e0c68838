// The memory of running sequences on a device, by their slots: the table of their KV blocks, their
// tokens for penalties, and the states of recurrent layers. It is copied when a sequence forks, and
// when it continues from earlier states.

import type { Buffer, Device, Recorder } from "../../kernels/mod.ts";
import type { LayerState, Network, StepLimits, StepState } from "../nn/mod.ts";
import type { SequenceMemory } from "./step_executor.ts";

/** The memory of sequences on a device. */
export class SlotMemory implements SequenceMemory {
  readonly #device: Device;
  readonly #network: Network;
  readonly #state: StepState;
  readonly #limits: StepLimits;
  /** Buffers through which pieces of one buffer are copied, by their sizes. */
  readonly #copies = new Map<number, Buffer>();

  constructor(device: Device, network: Network, state: StepState, limits: StepLimits) {
    this.#device = device;
    this.#network = network;
    this.#state = state;
    this.#limits = limits;
  }

  /** Sets the blocks `first`, `first + 1`, ... of a slot's sequence. */
  assignBlocks(slot: number, first: number, blocks: readonly number[]): void {
    const offset = (slot * this.#state.maxBlocks + first) * 4;
    this.#device.write(this.#state.table, offset, Uint32Array.from(blocks));
  }

  /** Writes the first tokens of a slot's sequence into its history for penalties; no step feeds them. */
  writeHistory(slot: number, tokens: readonly number[]): void {
    const offset = slot * this.#limits.context * 4;
    this.#device.write(this.#state.history, offset, Uint32Array.from(tokens));
  }

  /** Whether the model has recurrent states, which cannot be truncated. */
  get hasStates(): boolean {
    return this.#network.memory.states.length > 0;
  }

  /** Rows for copies of the states of one sequence. */
  get stateCopies(): number {
    const [state] = this.#network.memory.states;
    return state?.copies ? state.copies.size / (state.floats * 4) : 0;
  }

  /** Copies a slot's states, as they are after all that was submitted, to a row of copies. */
  saveStates(slot: number, row: number): void {
    this.#copyStates((recorder, { buffer, floats, copies }) => {
      recorder.copy(buffer, slot * floats * 4, copies!, row * floats * 4, floats * 4);
    });
  }

  /** Restores a copy to a slot, whose sequence continues from these states. */
  restoreStates(row: number, slot: number): void {
    this.#copyStates((recorder, { buffer, floats, copies }) => {
      recorder.copy(copies!, row * floats * 4, buffer, slot * floats * 4, floats * 4);
    });
  }

  /** Copies the states and the history of a slot, and the blocks `from` to the blocks `to`. */
  copySequence(slot: number, target: number, from: readonly number[], to: readonly number[]): void {
    const recorder = this.#device.record();
    const { memory, options } = this.#network;
    // WebGPU cannot copy within one buffer, so each piece is copied through another buffer.
    const copy = (buffer: Buffer, bytes: number, source: number, destination: number) => {
      const between = this.#copyBuffer(bytes);
      recorder.copy(buffer, source * bytes, between, 0, bytes);
      recorder.copy(between, 0, buffer, destination * bytes, bytes);
    };
    for (const { keys, values } of memory.caches) {
      for (const buffer of values ? [keys, values] : [keys]) {
        const bytes = buffer.size / options.cacheBlocks;
        from.forEach((block, i) => copy(buffer, bytes, block, to[i]));
      }
    }
    for (const { buffer, floats } of memory.states) copy(buffer, floats * 4, slot, target);
    copy(this.#state.history, this.#limits.context * 4, slot, target);
    this.#device.submit(recorder.finish());
  }

  /** Submits a copy of the states of each recurrent layer. */
  #copyStates(copy: (recorder: Recorder, state: LayerState) => void): void {
    const recorder = this.#device.record();
    for (const state of this.#network.memory.states) copy(recorder, state);
    this.#device.submit(recorder.finish());
  }

  #copyBuffer(bytes: number): Buffer {
    let buffer = this.#copies.get(bytes);
    buffer ??= this.#device.buffer("copy", bytes, "scratch");
    this.#copies.set(bytes, buffer);
    return buffer;
  }
}
