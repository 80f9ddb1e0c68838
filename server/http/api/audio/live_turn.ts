// Partial results: while somebody speaks, what was heard of the turn is transcribed every so often, and
// what has settled of it is sent. Passes never overlap, take at most half of the time, and give way to
// other requests. The transcript of the whole turn is made elsewhere, when it has ended.

import type { TranscribeEvent, TranscriptSegment } from "../../../../engine/mod.ts";
import { AgreedText } from "./agreed_text.ts";
import type { SoundBuffer } from "./sound_buffer.ts";

/** What a pass is made of. */
export interface Pass {
  /** A WAV file. */
  readonly audio: Uint8Array<ArrayBuffer>;
  /** What was said before. */
  readonly before: string;
  /** Whether times of words are wanted, where the model knows them. */
  readonly words: boolean;
  readonly signal: AbortSignal;
}

/** Who transcribes, and who is told. */
export interface LiveTurnOptions {
  transcribe(pass: Pass): AsyncIterable<TranscribeEvent>;
  /** Sends what is added to the text. */
  send(delta: string): Promise<void>;
  /** Whether other requests wait, so that no pass begins. */
  isBusy(): boolean;
  /** Milliseconds of a clock. Default: those of the system. */
  now?(): number;
}

/** Milliseconds of sound from which on a pass leaves out what was sent of its beginning. */
const LONG = 5_000;

/** A turn that somebody is speaking. */
export class LiveTurn {
  readonly #options: LiveTurnOptions;
  readonly #now: () => number;
  readonly #text = new AgreedText();
  readonly #stopped = new AbortController();
  #pass: Promise<void> | undefined;
  /** Where passes begin, and up to where the last one heard, in milliseconds of the sound. */
  #first: number;
  #heard: number;
  /** When the next pass may begin. */
  #next = 0;

  /**
   * @param id of the item that the turn becomes
   * @param first where it begins, in milliseconds of the sound
   */
  constructor(readonly id: string, first: number, options: LiveTurnOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#first = this.#heard = first;
  }

  /**
   * Begins a pass if it is time.
   *
   * @param sound with that of the turn
   * @param every milliseconds of new sound that a pass needs
   */
  listen(sound: SoundBuffer, every: number): void {
    if (this.#pass || sound.end - this.#heard < every) return;
    if (this.#now() < this.#next || this.#options.isBusy()) return;
    this.#heard = sound.end;
    const began = this.#now();
    this.#pass = this.#run(sound.toWav(this.#first), sound.end - this.#first).then(
      () => this.#next = 2 * this.#now() - began,
      // The transcript of the whole turn will tell what is wrong.
      () => this.#next = Infinity,
    ).then(() => this.#pass = undefined);
  }

  /** Ends the passes. Settles when the one under way has let go. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#pass;
  }

  /** Sends what can be sent of the transcript of the whole turn: of its beginning, or at its end the rest. */
  async tell(transcript: string, isWhole: boolean): Promise<void> {
    const delta = isWhole ? this.#text.finish(transcript) : this.#text.follow(transcript);
    if (delta !== "") await this.#options.send(delta);
  }

  async #run(audio: Uint8Array<ArrayBuffer>, duration: number): Promise<void> {
    const { signal } = this.#stopped;
    const segments: TranscriptSegment[] = [];
    const isLong = duration > LONG;
    const pass = { audio, before: this.#text.settled, words: isLong, signal };
    for await (const event of this.#options.transcribe(pass)) {
      if (event.type === "segment") segments.push(event);
    }
    signal.throwIfAborted();
    const delta = this.#text.take(segments.map(({ text }) => text).join(""));
    if (isLong) this.#first += endOf(segments, this.#text.settle());
    if (delta !== "") await this.#options.send(delta);
  }
}

/** A word, or a segment whose words have no times. */
type Part = Pick<TranscriptSegment, "text" | "end">;

/** When the first characters of a transcript were spoken, in milliseconds. */
function endOf(segments: readonly TranscriptSegment[], characters: number): number {
  let [end, rest] = [0, characters];
  const parts = segments.flatMap((segment): Part[] => segment.words ?? [segment]);
  for (const part of parts) {
    rest -= part.text.length;
    if (rest < 0) break;
    end = part.end;
  }
  return Math.round(1000 * end);
}
