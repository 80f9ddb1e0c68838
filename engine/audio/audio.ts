// Sounds: how decoders give their samples, the limits of sounds, and the error for those that cannot
// be used. decode.ts makes one channel of one rate of them; files/ has a decoder for each format.

import { RequestError } from "../errors.ts";

/** A sound that is being decoded. */
export interface SoundReader {
  /** Name of the format, for people, such as "FLAC". */
  readonly format: string;
  /** Samples of a channel in a second. */
  readonly rate: number;
  readonly channels: number;
  /** Samples of each channel in all, if the file tells. */
  readonly length?: number | undefined;
  /**
   * The samples from -1 to 1 in blocks: an array for each channel, all of one length. The arrays are
   * overwritten by the next block. A list without arrays lets others have their turn. Errors: AudioError,
   * where the file is damaged.
   */
  blocks(): Generator<readonly Float32Array[], void>;
}

/** Lowest and highest rate of a sound, in Hz. */
const [LEAST_RATE, MOST_RATE] = [2_000, 768_000];

/** Most channels of a sound. */
const MOST_CHANNELS = 64;

/** Longest sound in seconds: four hours, which are 920 MB of samples at 16 kHz. */
export const LONGEST_SOUND = 4 * 60 * 60;

/**
 * The error for a sound that is damaged, too long, or in a format that is not supported. It is the
 * request's fault, not the model's, so servers answer 400.
 */
export class AudioError extends RequestError {
  /**
   * The message names the reason.
   *
   * @param state the reason, as words after a colon
   * @param what which sound, if there are several
   */
  constructor(readonly state: string, what = "the sound") {
    super(`Cannot read ${what}: ${state}`);
  }
}

/** Refuses rates and numbers of channels that no recording has. Errors: AudioError. */
export function checkSound(format: string, rate: number, channels: number): void {
  if (!(rate >= LEAST_RATE && rate <= MOST_RATE)) {
    throw new AudioError(
      `its ${format} header says ${rate} samples a second; from ${LEAST_RATE} to ${MOST_RATE} are possible`,
    );
  }
  if (channels >= 1 && channels <= MOST_CHANNELS) return;
  throw new AudioError(
    `its ${format} header says ${channels} channels; from 1 to ${MOST_CHANNELS} are possible`,
  );
}

/** Refuses a sound that is longer than `longest` seconds. Errors: AudioError. */
export function checkLength(length: number, rate: number, longest: number): void {
  if (length <= longest * rate) return;
  throw new AudioError(
    `it is longer than ${longest} seconds, which is the limit; cut it into several files`,
  );
}
