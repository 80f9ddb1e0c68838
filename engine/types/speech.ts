// What a model that transcribes speech is asked, and what it answers. Plain data that postMessage can
// send, as in requests.ts and events.ts.

import type { OutputFormat } from "./requests.ts";

/** A request to transcribe a sound. */
export interface TranscribeRequest {
  /**
   * The path of a sound file, which is read in pieces, or its bytes: WAV, FLAC, MP3, Ogg or WebM; or samples
   * from -1 to 1: one channel at 16 kHz.
   */
  audio: string | Uint8Array | Float32Array;
  /** The language that is spoken, by its code, such as "en". Default: the model finds out. */
  language?: string;
  /** Whether to write English, whatever is spoken. Default false. */
  translate?: boolean;
  /** Text that comes before, in whose style and spelling the transcript goes on. Default: none. */
  prompt?: string;
  /**
   * How much is left to chance, from 0 to 1. Default and 0: nothing at first, and more where a text
   * is unlikely or repeats itself.
   */
  temperature?: number;
  /**
   * Whether a rough transcript will do, which takes less time: a text that is unlikely or repeats itself is
   * left out and not tried again; of a short sound Whisper hears less of the silence behind it, though words
   * may differ then; and a model that knows no times of words leaves them out. Default false.
   */
  rough?: boolean;
  /** With one seed the tokens are alike. Default: a random one. */
  seed?: number;
  /**
   * Whether the model tells times, so that segments are sentences or parts of them. Default true;
   * otherwise a segment is half a minute.
   */
  timestamps?: boolean;
  /**
   * Whether segments have words with their times, found by what the model attends to. A window takes a
   * little longer then, and segments begin and end with their words. Default false.
   */
  words?: boolean;
  /**
   * Whether silences of two seconds and more are left out, found by how loud the sound is (voice activity
   * detection). Times are those of the whole sound all the same. Default false.
   */
  vad?: boolean;
  /**
   * The format of the transcript, such as a JSON Schema: what is said becomes a document of it, such as a
   * form that is filled in by voice. The sound has at most half a minute, and no times within. Default:
   * any text. Errors: SchemaError, GrammarError.
   */
  format?: OutputFormat;
  /** Whether what was said before is a prompt for what follows. Default true. */
  conditioned?: boolean;
  /** Aborts it: the stream of events ends with the signal's reason. */
  signal?: AbortSignal;
}

/** A word of a transcript, with the marks beside it. */
export interface TranscriptWord {
  /** When it begins, in seconds from the beginning of the sound. */
  start: number;
  /** When it ends. */
  end: number;
  /** Its text, mostly with a space in front. */
  text: string;
  /** Mean probability of its tokens, among those of words. */
  probability: number;
}

/** A part of a transcript. */
export interface TranscriptSegment {
  /** When it begins, in seconds from the beginning of the sound. */
  start: number;
  /** When it ends. */
  end: number;
  /** Its text, mostly with a space in front. */
  text: string;
  /** Its tokens, with those of times. */
  tokens: number[];
  /** Its words, if they were asked for. */
  words?: TranscriptWord[];
  /** The temperature with which it was found. */
  temperature: number;
  /** Natural logarithm of the probabilities of its window's tokens: their mean. */
  meanLogprob: number;
  /** By how many times the text of its window becomes smaller by compression. */
  compression: number;
  /** Probability that nobody speaks in its window. */
  noSpeech: number;
  /** Where its window begins, in hundredths of a second. */
  seek: number;
}

/**
 * The events of a transcription, in order: `start` when the sound was read, `language` when its first
 * window was, then segments, with `progress` behind each window, and `done`.
 */
export type TranscribeEvent =
  | {
    /** Tells it from other events. */
    type: "start";
    /** Seconds of the sound. */
    duration: number;
  }
  | {
    /** Tells it from other events. */
    type: "language";
    /** Its code, such as "en". */
    language: string;
    /** Its probability, if the model found it out. */
    probability?: number;
  }
  | { type: "segment" } & TranscriptSegment
  | {
    /** Tells it from other events. */
    type: "progress";
    /** Seconds of the sound that were transcribed so far. */
    seconds: number;
  }
  | {
    /** Tells it from other events. */
    type: "done";
    /** Number of tokens that the model gave, those of times included. */
    tokens: number;
  };
