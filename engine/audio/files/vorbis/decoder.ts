// Vorbis (Vorbis I specification): packets to samples. Each becomes a block of one of two sizes, by the
// inverse transform of its spectra; blocks overlap by a window whose slopes fit those of their neighbours.

import { AudioError, type SoundReader } from "../../audio.ts";
import { InverseMdct } from "../../mdct.ts";
import { LowBitReader } from "../bit_reader.ts";
import type { PacketStream } from "../packets.ts";
import { bitsOf } from "./codebook.ts";
import { type Mode, readSetup, type VorbisSetup } from "./setup.ts";
import { readSpectra } from "./spectrum.ts";

/** Opens a stream of Vorbis. Errors: AudioError. */
export function openVorbis(stream: PacketStream): SoundReader {
  const setup = readSetup(stream.headers);
  return {
    format: `Vorbis in ${stream.container}`,
    rate: setup.rate,
    channels: setup.channels,
    length: stream.length,
    *blocks() {
      const decoder = new VorbisDecoder(setup);
      let done = 0;
      for (const packet of stream.packets()) {
        const block = packet ? decoder.decode(packet.bytes) : [];
        const length = block[0]?.length ?? 0;
        const left = Math.max(0, (packet?.end ?? Infinity) - done);
        yield block.map((samples) => samples.subarray(0, left));
        done += length;
      }
    },
  };
}

/** A block's size and where its window rises and falls. */
interface Shape {
  readonly size: number;
  /** Samples of the slopes at both sides. */
  readonly left: number;
  readonly right: number;
}

/** Decodes packets one after the other. */
class VorbisDecoder {
  readonly #setup: VorbisSetup;
  readonly #spectra: readonly Float32Array[];
  readonly #transforms: readonly InverseMdct[];
  /** The block before, for each channel, and its size; 0: there was none. */
  readonly #before: readonly Float32Array[];
  #sizeBefore = 0;
  readonly #block: Float32Array;

  constructor(setup: VorbisSetup) {
    const { channels, blockSizes: [short, long] } = setup;
    const arrays = (length: number) =>
      Array.from({ length: channels }, () => new Float32Array(length));
    this.#setup = setup;
    this.#spectra = arrays(long / 2);
    this.#before = arrays(long / 2);
    this.#transforms = [new InverseMdct(short / 2), new InverseMdct(long / 2)];
    this.#block = new Float32Array(long);
  }

  /** The samples that follow from a packet: a quarter of the block before and one of this. */
  decode(packet: Uint8Array): Float32Array[] {
    const reader = new LowBitReader(packet);
    const { modes } = this.#setup;
    // A packet without bytes repeats nothing, and headers may come again.
    if (packet.length === 0 || reader.unsigned(1) !== 0) return [];
    const mode = modes[reader.unsigned(bitsOf(modes.length - 1))];
    if (!mode) throw new AudioError("a packet of Vorbis is damaged: its mode is not there");
    const shape = this.#readShape(reader, mode);
    const half = shape.size / 2;
    readSpectra(reader, mode.mapping, half, this.#spectra);
    const transform = this.#transforms[mode.isLong ? 1 : 0];
    const before = this.#sizeBefore;
    this.#sizeBefore = shape.size;
    return this.#spectra.map((spectrum, channel) => {
      const block = this.#block.subarray(0, shape.size);
      transform.transform(spectrum.subarray(0, half), block);
      multiplyWindow(block, shape);
      const kept = this.#before[channel];
      const samples = before > 0
        ? overlap(kept.subarray(0, before / 2), block)
        : new Float32Array();
      kept.set(block.subarray(half));
      return samples;
    });
  }

  /** A long block beside a short one has a short slope there. */
  #readShape(reader: LowBitReader, { isLong }: Mode): Shape {
    const [short, long] = this.#setup.blockSizes;
    if (!isLong) return { size: short, left: short / 2, right: short / 2 };
    const [afterLong, beforeLong] = [reader.unsigned(1), reader.unsigned(1)];
    return {
      size: long,
      left: (afterLong ? long : short) / 2,
      right: (beforeLong ? long : short) / 2,
    };
  }
}

/** The sum of the second half of the block before and the first half of this, from middle to middle. */
function overlap(before: Float32Array, block: Float32Array): Float32Array {
  const [a, b] = [before.length, block.length / 2];
  const samples = new Float32Array((a + b) / 2);
  const first = (a - b) / 2;
  for (let i = 0; i < samples.length; i++) {
    samples[i] = (before[i] ?? 0) + (i >= first ? block[i - first] : 0);
  }
  return samples;
}

const slopes = new Map<number, Float32Array>();

/** The rise of the window: sin(pi / 2 * sin^2(pi / 2 * (i + 1/2) / length)). */
function slopeOf(length: number): Float32Array {
  let slope = slopes.get(length);
  if (!slope) {
    slope = Float32Array.from(
      { length },
      (_, i) => Math.sin(Math.PI / 2 * Math.sin(Math.PI / 2 * (i + 0.5) / length) ** 2),
    );
    slopes.set(length, slope);
  }
  return slope;
}

/** Multiplies a block by its window, which is zero outside of its slopes. */
function multiplyWindow(block: Float32Array, { size, left, right }: Shape): void {
  const [rise, fall] = [slopeOf(left), slopeOf(right)];
  const first = size / 4 - left / 2;
  block.fill(0, 0, first);
  for (let i = 0; i < left; i++) block[first + i] *= rise[i];
  const last = 3 * size / 4 - right / 2;
  for (let i = 0; i < right; i++) block[last + i] *= fall[right - 1 - i];
  block.fill(0, last + right);
}
