// Images in a prompt: what of an image a text model reads, and where in a sequence they lie. A row of
// an image takes the place of a token everywhere: in the window, in the KV cache, in counts. Its rotary
// position (M-RoPE, Wang et al. 2024) is another matter: the rows of an image share a moment, and what
// follows is only as much later as the image is wide or high. The difference is the M-RoPE delta.

import { IMAGE_TOKEN, type MROPE_POSITION, type RecordOf } from "../../kernels/mod.ts";

/** A token, or the name of a row of an image. */
export type TokenKey = number | string;

/** An image as a text model reads it: rows of embeddings that an encoder made. */
export interface PromptImage {
  /** Tells it from all others: a hash of its bytes and of the settings that made rows of them. */
  readonly key: string;
  /** Rows; each stands in the place of a token. */
  readonly tokens: number;
  /** [tokens, columns]: the embeddings, and beside them what first layers add to them (deepstack). */
  readonly embeddings: Float32Array;
  /** Of M-RoPE: the rows are those of a grid, line by line. Missing: positions run on as in a text. */
  readonly grid?: { readonly rows: number; readonly columns: number };
}

/** The bytes of a picture's file, or their base64. */
export type ImageData = Uint8Array | string;

/** A picture as it stands in a prompt: an image, or its tiles, and the texts around them. */
export interface ReadImage {
  /** The image, or its tiles in the order of the prompt. */
  readonly parts: readonly PromptImage[];
  /** One more than there are parts: before the first, between two, after the last. */
  readonly texts: readonly string[];
}

/** Which images a model takes. */
export interface ImageLimits {
  /** Floats of a row: the width of the model, and as much for each layer that adds some. */
  readonly columns: number;
  /** Most rows: where an image has to run in one step, as many as that has room for. */
  readonly tokens: number;
}

/** What stands in a prompt: the id of a token, or an image, which stands for as many as it has rows. */
export type PromptItem = number | PromptImage;

/** Neighbouring positions of a sequence that are all of its text, or all of one image. */
export interface PromptRun {
  readonly first: number;
  /** After its last position. Infinity for the last text, which what is generated goes on with. */
  readonly end: number;
  /** M-RoPE delta: how far rotary positions of its rows are behind their positions. */
  readonly delta: number;
  readonly image?: PromptImage;
}

/** Neighbouring rows of an image. */
export interface ImageRun {
  readonly image: PromptImage;
  /** The first of them, and how many. */
  readonly first: number;
  readonly count: number;
}

/** How many positions a prompt takes. */
export function promptLength(items: readonly PromptItem[]): number {
  return items.reduce<number>((sum, item) => sum + lengthOf(item), 0);
}

/** The token of each position; no token of a vocabulary where an image is. */
export function tokensOf(items: readonly PromptItem[]): number[] {
  return items.flatMap((item) =>
    typeof item === "number" ? item : Array.from({ length: item.tokens }, () => IMAGE_TOKEN)
  );
}

/** Those of the tokens that are no rows of images. */
export function textTokens(tokens: readonly number[]): number[] {
  return tokens.filter((token) => token < IMAGE_TOKEN);
}

/** Where text and images of a sequence lie. */
export class PromptRuns {
  readonly #runs: PromptRun[] = [];

  constructor(items: readonly PromptItem[]) {
    let [first, end, delta] = [0, 0, 0];
    for (const item of items) {
      const before = end;
      end += lengthOf(item);
      if (typeof item === "number") continue;
      this.#runs.push({ first, end: before, delta }, { first: before, end, delta, image: item });
      delta += item.tokens - momentsOf(item);
      first = end;
    }
    this.#runs.push({ first, end: Infinity, delta });
  }

  /** The run that has a position. */
  at(position: number): PromptRun {
    return this.#runs.find(({ end }) => position < end)!;
  }

  /** What tells the tokens at `first` and after it from others: of an image, which row of which. */
  keysOf(tokens: readonly number[], first: number): readonly TokenKey[] {
    if (this.#runs.length === 1) return tokens;
    return tokens.map((token, i) => {
      const run = this.at(first + i);
      return run.image ? `${first + i - run.first} of ${run.image.key}` : token;
    });
  }
}

/** The M-RoPE position of a row of an image. */
export function mropePosition(
  { image, first, delta }: PromptRun,
  position: number,
): RecordOf<typeof MROPE_POSITION["fields"]> {
  const row = position - first;
  const time = first - delta;
  if (!image?.grid) return { time: time + row, height: time + row, width: time + row };
  const { columns } = image.grid;
  return { time, height: time + Math.floor(row / columns), width: time + row % columns };
}

function lengthOf(item: PromptItem): number {
  return typeof item === "number" ? 1 : item.tokens;
}

/** By how much what follows an image is later. */
function momentsOf({ tokens, grid }: PromptImage): number {
  return grid ? Math.max(grid.rows, grid.columns) : tokens;
}
