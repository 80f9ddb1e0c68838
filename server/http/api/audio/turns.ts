// Where somebody speaks in sound that arrives, by how much louder it is than what is behind it: a turn
// begins after some hundredths of a second of speech, and ends after a silence. Pure.

/** How turns are told, in OpenAI's words. */
export interface TurnDetection {
  /** From 0 to 1: how much louder than the background speech has to be, up to 30 dB. */
  readonly threshold: number;
  /** Milliseconds before a turn that belong to it. */
  readonly prefix_padding_ms: number;
  /** Milliseconds of silence that end a turn. */
  readonly silence_duration_ms: number;
}

/** What is found in sound: a turn begins or ends at a millisecond of the whole sound. */
export type TurnMark = { kind: "start" | "stop"; at: number };

/** Milliseconds of a frame, and of speech that begins a turn. */
const [FRAME, LEAST_SPEECH] = [20, 60];

/** Least loudness of speech and of the background, and by how much the background may grow in a frame. */
const [LEAST_LOUDNESS, LEAST_FLOOR, GROWTH] = [0.003, 1e-4, 1.004];

/** Finds turns. */
export class TurnDetector {
  readonly #options: TurnDetection;
  readonly #frame: Float32Array;
  #filled = 0;
  #frames = 0;
  #floor = LEAST_LOUDNESS;
  /** Milliseconds of speech, or within a turn of silence, so far. */
  #lasted = 0;
  #isSpeaking = false;

  /** @param rate samples in a second */
  constructor(options: TurnDetection, rate: number) {
    this.#options = options;
    this.#frame = new Float32Array(rate * FRAME / 1000);
  }

  /** Whether somebody is speaking. */
  get isSpeaking(): boolean {
    return this.#isSpeaking;
  }

  /** Takes the next samples, from -1 to 1. */
  push(samples: Float32Array): TurnMark[] {
    const marks: TurnMark[] = [];
    for (let at = 0; at < samples.length;) {
      const part = samples.subarray(at, at + this.#frame.length - this.#filled);
      this.#frame.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled < this.#frame.length) break;
      this.#filled = 0;
      const mark = this.#take(Math.sqrt(
        this.#frame.reduce((sum, value) => sum + value * value, 0) / this.#frame.length,
      ));
      if (mark) marks.push(mark);
    }
    return marks;
  }

  /** Takes the loudness of a frame. */
  #take(loudness: number): TurnMark | undefined {
    const { threshold, prefix_padding_ms: before, silence_duration_ms: silence } = this.#options;
    const now = ++this.#frames * FRAME;
    this.#floor = Math.max(LEAST_FLOOR, Math.min(loudness, this.#floor * GROWTH));
    const isSpeech = loudness > LEAST_LOUDNESS &&
      20 * Math.log10(loudness / this.#floor) > 30 * threshold;
    this.#lasted = isSpeech === this.#isSpeaking ? 0 : this.#lasted + FRAME;
    if (this.#lasted < (this.#isSpeaking ? silence : LEAST_SPEECH)) return undefined;
    this.#lasted = 0;
    this.#isSpeaking = isSpeech;
    return isSpeech
      ? { kind: "start", at: Math.max(0, now - LEAST_SPEECH - before) }
      : { kind: "stop", at: now };
  }
}
