// The hidden states that a head for multi-token prediction reads: with each token, the state of the
// position before it. For known tokens these are the model's states, which the host reads after each
// step and keeps here until the head needs them. For drafted tokens they are the head's own states,
// which its network keeps for its next step. Unknown states, such as those of tokens from the prefix
// cache, are replaced by zeros, which may make a draft worse, but not an answer.

import type { Device, FloatRows } from "../../kernels/mod.ts";
import type { Chunk } from "./planner.ts";
import type { Sequence } from "./sequence.ts";

/** Most waiting states of a sequence; with more, the head reads them without drafting. */
const MOST_WAITING = 128;

/** Most missing states with which other sequences may use the head's KV blocks of a sequence. */
const MOST_MISSING = 16;

/** The buffer from which the rows of a head's steps read their states. */
export interface StateInput {
  /** Columns of a state. */
  readonly width: number;
  /** Writes the states of rows, from `first` on: [rows, width]. */
  write(first: number, states: Float32Array): void;
  /** Lets row i of the next step read the head's own state at output from[i] of the last step. */
  carry(from: readonly number[]): void;
}

/** The states of one sequence. */
interface Waiting {
  /** The states by position. */
  readonly states: Map<number, Float32Array>;
  /** The position after the last state that is known, or known to be missing. */
  end: number;
  /** Number of known tokens; those after them are drafted. */
  known: number;
  /** Its output in the last step. */
  output: number;
  /** Number of missing states. */
  missing: number;
}

/** The states of all sequences of a head; a sequence is the head's copy. */
export class StateFeed {
  readonly #input: StateInput;
  readonly #waiting = new Map<Sequence, Waiting>();

  constructor(input: StateInput) {
    this.#input = input;
  }

  /** Columns of a state. */
  get width(): number {
    return this.#input.width;
  }

  /** Begins with a sequence. @param first position before which no states will come */
  begin(sequence: Sequence, first: number): void {
    const known = sequence.tokens.length;
    this.#waiting.set(sequence, { states: new Map(), end: first, known, output: -1, missing: 0 });
  }

  /** Takes states of a sequence from position `first` on: [positions, width]. */
  add(sequence: Sequence, first: number, states: Float32Array): void {
    const waiting = this.#waiting.get(sequence)!;
    const { width } = this.#input;
    const count = states.length / width;
    for (let i = 0; i < count; i++) {
      // The state of the position before the next one to read is needed, none before it.
      if (first + i < sequence.submitted - 1) continue;
      waiting.states.set(first + i, states.slice(i * width, (i + 1) * width));
    }
    waiting.end = Math.max(waiting.end, first + count);
  }

  /** Marks all tokens of a sequence as known. */
  learn(sequence: Sequence): void {
    this.#waiting.get(sequence)!.known = sequence.tokens.length;
  }

  forget(sequence: Sequence): void {
    this.#waiting.delete(sequence);
  }

  /** Number of a sequence's tokens that can be read now. */
  readable(sequence: Sequence): number {
    return this.#waiting.get(sequence)!.end + 1;
  }

  /** Whether so many states are waiting that the head has to read them. */
  isFull(sequence: Sequence): boolean {
    return this.#waiting.get(sequence)!.states.size >= MOST_WAITING;
  }

  /** Prepares the states for the next step, which is to be submitted after it. */
  feed(chunks: readonly Chunk[]): void {
    const { width } = this.#input;
    const carried: number[] = [];
    let [row, output] = [0, 0];
    for (const { sequence, count, output: hasOutput } of chunks) {
      const waiting = this.#waiting.get(sequence)!;
      if (sequence.submitted >= waiting.known) carried[row] = waiting.output;
      else this.#input.write(row, this.#statesOf(sequence, waiting, count, width));
      if (hasOutput) waiting.output = output++;
      row += count;
    }
    // A head's network itself gives each output's state to the row of that number.
    if (carried.some((from, at) => from !== at)) this.#input.carry(carried);
  }

  /** The states for the next tokens of a sequence. */
  #statesOf(
    sequence: Sequence,
    waiting: Waiting,
    count: number,
    width: number,
  ): Float32Array {
    const rows = new Float32Array(count * width);
    for (let i = 0; i < count; i++) {
      const before = sequence.submitted + i - 1;
      const state = waiting.states.get(before);
      waiting.states.delete(before);
      if (state) rows.set(state, i * width);
      else if (before >= 0) waiting.missing++;
    }
    if (waiting.missing > MOST_MISSING) sequence.keepPrivate(); // Others can read it better.
    return rows;
  }
}

/** The states of a head's network on its device. */
export class DeviceStates implements StateInput {
  readonly #device: Device;
  readonly #previous: FloatRows;
  readonly #own: FloatRows;

  /** @param previous [rows, width] read by rows @param own [outputs, width] written at outputs */
  constructor(device: Device, { previous, own }: { previous: FloatRows; own: FloatRows }) {
    this.#device = device;
    this.#previous = previous;
    this.#own = own;
  }

  get width(): number {
    return this.#previous.columns;
  }

  write(first: number, states: Float32Array): void {
    const { columns, stride, floats } = this.#previous;
    const count = states.length / columns;
    const padded = new Float32Array(count * stride);
    for (let i = 0; i < count; i++) {
      padded.set(states.subarray(i * columns, (i + 1) * columns), i * stride);
    }
    this.#device.write(floats, first * stride * 4, padded);
  }

  carry(from: readonly number[]): void {
    const recorder = this.#device.record();
    const bytes = this.#previous.stride * 4;
    from.forEach((output, row) => {
      recorder.copy(this.#own.floats, output * bytes, this.#previous.floats, row * bytes, bytes);
    });
    this.#device.submit(recorder.finish());
  }
}
