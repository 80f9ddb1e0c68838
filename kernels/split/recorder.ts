// Commands for two devices: stretches, each of which runs on one device, and the transfers to the
// other device after each.

import type { Commands, Readback, Recorder } from "../device.ts";
import type { Buffer, Pass } from "../operation.ts";
import type { Half, SplitBuffer } from "./buffer.ts";

/** The transfer of a buffer's first bytes from one device to the other. */
export interface HandOver {
  readonly from: Half;
  readonly to: Half;
  readonly buffer: SplitBuffer;
  /** The readback of the device that has them. */
  readonly readback: Readback;
  readonly bytes: number;
}

/** A part of the commands that one device runs without waiting for the other. */
export interface Stretch {
  readonly half: Half;
  readonly commands: Commands;
  /** The transfers after it. */
  readonly handOvers: readonly HandOver[];
}

/** The commands of a split device. */
export interface SplitCommands extends Commands {
  readonly stretches: readonly Stretch[];
  /** The staging buffers to which they copy. */
  readonly targets: ReadonlySet<Buffer>;
}

/** A pass over both devices. */
export interface SplitPass extends Pass {
  /** Encodes an operation of one device. */
  encode(half: Half, encode: (pass: Pass) => void): void;
  /** Transfers a buffer, after what was encoded so far and before what comes. */
  handOver(handOver: HandOver): void;
}

/** The single device's pass, for operations that need only one; undefined for others. */
export function passOfOne(
  encode: (pass: Pass) => void,
): { half: Half; encode: (pass: Pass) => void } | undefined {
  const halves = new Set<Half>();
  const encoded: ((pass: Pass) => void)[] = [];
  let handsOver = false;
  const pass: SplitPass = {
    encode: (half, operation) => {
      halves.add(half);
      encoded.push(operation);
    },
    handOver: () => void (handsOver = true),
  };
  encode(pass);
  if (handsOver || halves.size !== 1) return undefined;
  const [half] = halves;
  return { half, encode: (inner) => encoded.forEach((operation) => operation(inner)) };
}

/** A stretch that is being recorded. */
interface OpenStretch {
  readonly half: Half;
  readonly recorder: Recorder;
  readonly encoded: ((pass: Pass) => void)[];
  readonly handOvers: HandOver[];
}

/** Records commands for two devices. */
export class SplitRecorder implements Recorder {
  readonly #stretches: Stretch[] = [];
  readonly #targets = new Set<Buffer>();
  readonly #stagedOn: (target: Buffer) => Half | undefined;
  #open: OpenStretch | undefined;

  /** @param stagedOn the device of a staging buffer; undefined for buffers of both devices */
  constructor(stagedOn: (target: Buffer) => Half | undefined) {
    this.#stagedOn = stagedOn;
  }

  pass(encode: (pass: Pass) => void): void {
    const pass: SplitPass = {
      encode: (half, operation) => void this.#on(half).encoded.push(operation),
      handOver: (handOver) => this.#handOver(handOver),
    };
    encode(pass);
    this.#endPass();
  }

  copy(source: Buffer, from: number, target: Buffer, to: number, bytes: number): void {
    const split = source as SplitBuffer;
    const staged = this.#stagedOn(target);
    if (staged) this.#targets.add(target);
    for (const half of staged ? [staged] : split.halves) {
      const memory = staged ? target : (target as SplitBuffer).on(half);
      this.#copyOn(half, split.on(half), from, memory, to, bytes);
    }
  }

  finish(): SplitCommands {
    this.#close();
    return { stretches: this.#stretches, targets: this.#targets };
  }

  #handOver(handOver: HandOver): void {
    const { from, buffer, readback, bytes } = handOver;
    this.#copyOn(from, buffer.on(from), 0, readback.buffer, 0, bytes);
    this.#open!.handOvers.push(handOver);
  }

  #copyOn(
    half: Half,
    ...[source, from, target, to, bytes]: Parameters<Recorder["copy"]>
  ): void {
    const { recorder } = this.#on(half);
    this.#endPass();
    recorder.copy(source, from, target, to, bytes);
  }

  /** The open stretch of that device. Transfers before it have to be complete when it starts. */
  #on(half: Half): OpenStretch {
    const open = this.#open;
    if (open?.half === half) return open;
    this.#close();
    return this.#open = { half, recorder: half.device.record(), encoded: [], handOvers: [] };
  }

  /** Records what was encoded, as one pass of the device. */
  #endPass(): void {
    if (!this.#open) return;
    const { recorder } = this.#open;
    const encoded = this.#open.encoded.splice(0);
    if (encoded.length > 0) recorder.pass((pass) => encoded.forEach((encode) => encode(pass)));
  }

  #close(): void {
    this.#endPass();
    if (!this.#open) return;
    const { half, recorder, handOvers } = this.#open;
    this.#stretches.push({ half, commands: recorder.finish(), handOvers });
    this.#open = undefined;
  }
}
