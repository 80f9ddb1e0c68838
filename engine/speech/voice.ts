// Where somebody speaks in a sound, by how loud it is above its own noise: long silences are cut out before
// it is transcribed, and times are moved back to where they were. It takes music and noises that come and
// go for speech, so that no word is lost; which of them are words, the model finds out.

/** Samples of a second, and of a frame. */
const [RATE, FRAME] = [16_000, 320];

/** Frames of a second. */
const FRAMES_PER_SECOND = RATE / FRAME;

/** Coefficients of filters of the first order: for frequencies above 100 Hz, and below 2,000. */
const [HIGH_PASS, LOW_PASS] = [0.96, 0.5];

/** Decibels below which nothing is heard, and by which speech is louder than noise. */
const [QUIETEST, ABOVE_NOISE] = [-70, 9];

/** Share of the frames around that are at most as loud as noise is. */
const NOISE_SHARE = 0.1;

/** Seconds before and behind a frame in which its noise is measured, and for which it is the same. */
const [NOISE_AROUND, NOISE_STEP] = [15, 5];

/** Frames that are loud within a quarter of a second where speech begins. */
const LEAST_LOUD = 4;

/** Shortest silence that is cut out, and what is left of it at each end, in seconds. */
const [LEAST_SILENCE, KEPT] = [2, 0.4];

/** A part of a sound: from a sample to the one before another. */
export interface VoicedPart {
  readonly from: number;
  readonly to: number;
}

/** The parts of a sound in which somebody may speak, with some silence around. Yields now and then. */
export function* findVoice(samples: Float32Array): Generator<void, VoicedPart[]> {
  const levels = yield* levelsOf(samples);
  const parts: { from: number; to: number }[] = [];
  const [kept, gap] = [KEPT * FRAMES_PER_SECOND, LEAST_SILENCE * FRAMES_PER_SECOND];
  const recent: number[] = [];
  let noise = 0;
  let last = -Infinity;
  for (let frame = 0; frame < levels.length; frame++) {
    if (frame % (NOISE_STEP * FRAMES_PER_SECOND) === 0) {
      noise = noiseAround(levels, frame);
      yield;
    }
    if (levels[frame] < noise + ABOVE_NOISE) continue;
    while (recent[0] < frame - FRAMES_PER_SECOND / 4) recent.shift();
    recent.push(frame);
    if (recent.length < LEAST_LOUD) continue;
    if (recent[0] - last > gap) parts.push({ from: recent[0] - kept, to: 0 });
    last = frame;
    parts.at(-1)!.to = frame + 1 + kept;
  }
  return parts.map(({ from, to }) => ({
    from: Math.max(0, from * FRAME),
    to: Math.min(samples.length, to * FRAME),
  }));
}

/** How loud each frame is, in decibels, between about 100 and 2,000 Hz, where voices are loudest. */
function* levelsOf(samples: Float32Array): Generator<void, Float32Array> {
  const levels = new Float32Array(Math.ceil(samples.length / FRAME));
  let [before, high, band] = [0, 0, 0];
  for (let frame = 0, i = 0; frame < levels.length; frame++) {
    let sum = 0;
    for (const end = Math.min(samples.length, i + FRAME); i < end; i++) {
      high = HIGH_PASS * (high + samples[i] - before);
      band += LOW_PASS * (high - band);
      before = samples[i];
      sum += band * band;
    }
    levels[frame] = Math.max(QUIETEST, 10 * Math.log10(sum / FRAME));
    if (frame % 1000 === 0) yield;
  }
  return levels;
}

/** How loud the quietest frames around are. */
function noiseAround(levels: Float32Array, frame: number): number {
  const around = NOISE_AROUND * FRAMES_PER_SECOND;
  const sorted = levels.slice(Math.max(0, frame - around), frame + around).sort();
  return sorted[Math.floor(sorted.length * NOISE_SHARE)];
}

/** A sound of which parts were cut out. */
export class CutSound {
  readonly samples: Float32Array;
  readonly #parts: readonly VoicedPart[];

  /** @param parts that are kept, in order */
  constructor(samples: Float32Array, parts: readonly VoicedPart[]) {
    this.#parts = parts;
    const isWhole = parts.length === 1 && parts[0].from === 0 && parts[0].to === samples.length;
    if (isWhole) {
      this.samples = samples;
      return;
    }
    this.samples = new Float32Array(parts.reduce((sum, { from, to }) => sum + to - from, 0));
    let at = 0;
    for (const { from, to } of parts) {
      this.samples.set(samples.subarray(from, to), at);
      at += to - from;
    }
  }

  /**
   * The seconds of the whole sound at some of the cut one.
   *
   * @param side of a cut that is meant by a time that is at one: what ends there is before it
   */
  timeOf(seconds: number, side: "start" | "end"): number {
    let rest = Math.round(seconds * RATE);
    for (const { from, to } of this.#parts) {
      const length = to - from;
      if (rest < length || side === "end" && rest === length) return (from + rest) / RATE;
      rest -= length;
    }
    return ((this.#parts.at(-1)?.to ?? 0) + rest) / RATE;
  }
}
