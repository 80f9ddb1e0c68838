// Images and sounds in a prompt: their rows and their places in a sequence. A row of them takes the place
// of a token everywhere: in the window, in the KV cache, in counts. Rotary positions of images differ
// (M-RoPE, Wang et al. 2024): all rows of an image have the same time, and the text after it is
// later only by the image's width or height. The difference is the M-RoPE delta.

import { MEDIA_TOKEN } from "../../kernels/mod.ts";

/** A token, or a string that identifies a row of an image. */
export type TokenKey = number | string;

/** An image or a sound as a text model reads it: the rows of embeddings that an encoder made. */
export interface PromptMedia {
  /** Identifies it: a hash of its bytes and of the settings of its encoder. */
  readonly key: string;
  /** Number of rows. Each takes the place of a token. */
  readonly tokens: number;
  /**
   * The embeddings, and beside them what is added to them in the first layers (deepstack): [tokens,
   * columns].
   */
  readonly embeddings: Float32Array;
  /** For M-RoPE: the grid of the rows, line by line. Missing: positions continue as in a text. */
  readonly grid?: { readonly rows: number; readonly columns: number };
  /**
   * Whether its rows attend to earlier rows alone, as those of sounds do, even where those of images attend
   * to each other in both directions. Default false.
   */
  readonly isCausal?: boolean;
}

/** The bytes of a picture's or a sound's file, or their base64. */
export type MediaData = Uint8Array | string;

/** A picture or a sound of a request. */
export interface MediaItem {
  readonly kind: "image" | "audio";
  readonly data: MediaData;
}

/** A picture or a sound in a prompt, or its parts, and the texts around them. */
export interface ReadMedia {
  /** The image, its tiles, or the windows of a sound, in the order of the prompt. */
  readonly parts: readonly PromptMedia[];
  /**
   * The texts before the first part, between parts, and after the last one: one more than there are
   * parts.
   */
  readonly texts: readonly string[];
}

/** The images that a model can take. */
export interface MediaLimits {
  /** Floats of a row: the width of the model, and again for each deepstack layer. */
  readonly columns: number;
  /** Most rows of an image. If an image has to run in one step, this is what a step can hold. */
  readonly tokens: number;
}

/**
 * An item of a prompt: the id of a token, or an image, which counts as many tokens as it has rows.
 */
export type PromptItem = number | PromptMedia;

/** Consecutive positions of a sequence that are all text, or all of one image. */
export interface PromptRun {
  readonly first: number;
  /** End of its positions. Infinity for the last text, because generated tokens continue it. */
  readonly end: number;
  /** M-RoPE delta: positions minus rotary positions of its rows. */
  readonly delta: number;
  readonly media?: PromptMedia;
}

/** Consecutive rows of an image. */
export interface MediaRun {
  readonly media: PromptMedia;
  /** The first row, and the number of rows. */
  readonly first: number;
  readonly count: number;
}

/** Number of positions of a prompt. */
export function promptLength(items: readonly PromptItem[]): number {
  return items.reduce<number>((sum, item) => sum + lengthOf(item), 0);
}

/** The token of each position. Rows of images have numbers above the vocabulary. */
export function tokensOf(items: readonly PromptItem[]): number[] {
  return items.flatMap((item) =>
    typeof item === "number" ? item : Array.from({ length: item.tokens }, () => MEDIA_TOKEN)
  );
}

/** The tokens that are not rows of images. */
export function textTokens(tokens: readonly number[]): number[] {
  return tokens.filter((token) => token < MEDIA_TOKEN);
}

/** The places of text and images in a sequence. */
export class PromptRuns {
  readonly #runs: PromptRun[] = [];

  constructor(items: readonly PromptItem[]) {
    let [first, end, delta] = [0, 0, 0];
    for (const item of items) {
      const before = end;
      end += lengthOf(item);
      if (typeof item === "number") continue;
      this.#runs.push({ first, end: before, delta }, { first: before, end, delta, media: item });
      delta += item.tokens - momentsOf(item);
      first = end;
    }
    this.#runs.push({ first, end: Infinity, delta });
  }

  /** The run that contains a position. */
  at(position: number): PromptRun {
    return this.#runs.find(({ end }) => position < end)!;
  }

  /** The keys of the tokens from `first` on: tokens, or for images which row of which image. */
  keysOf(tokens: readonly number[], first: number): readonly TokenKey[] {
    if (this.#runs.length === 1) return tokens;
    return tokens.map((token, i) => {
      const run = this.at(first + i);
      return run.media ? `${first + i - run.first} of ${run.media.key}` : token;
    });
  }
}

/** The three parts of a row's M-RoPE position. */
export interface MropePosition {
  readonly time: number;
  readonly height: number;
  readonly width: number;
}

/** The M-RoPE position of a row of a run. */
export function mropePosition({ media, first, delta }: PromptRun, position: number): MropePosition {
  const row = position - first;
  const time = first - delta;
  if (!media?.grid) return { time: time + row, height: time + row, width: time + row };
  const { columns } = media.grid;
  return { time, height: time + Math.floor(row / columns), width: time + row % columns };
}

function lengthOf(item: PromptItem): number {
  return typeof item === "number" ? 1 : item.tokens;
}

/** By how much the text after an image is later than the image. */
function momentsOf({ tokens, grid }: PromptMedia): number {
  return grid ? Math.max(grid.rows, grid.columns) : tokens;
}
