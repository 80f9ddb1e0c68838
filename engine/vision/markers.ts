// The texts that models were trained to see around an image and between its parts, by the type of
// the projector, as llama.cpp writes them (tools/mtmd/mtmd.cpp). They are special tokens of the
// vocabulary; what ends a row of Pixtral's patches is a row of the embeddings and not written here.

import type { Layout } from "./preprocess/mod.ts";

/** One text more than there are parts: before the first, between two, after the last. */
type Markers = (image: Layout) => string[];

const IDEFICS_PART = "<fake_token_around_image>";

const MARKERS: Record<string, Markers> = {
  gemma3: between("<start_of_image>", "<end_of_image>"),
  gemma4v: between("<|image>", "<image|>"),
  idefics3: tileMarkers,
  llama4: between("<|image_start|>", "<|image_end|>"),
  mlp: between("", ""),
  pixtral: between("", "[IMG_END]"),
  "qwen2.5vl_merger": between("<|vision_start|>", "<|vision_end|>"),
  qwen3vl_merger: between("<|vision_start|>", "<|vision_end|>"),
};

/**
 * The texts around the parts of an image.
 *
 * @param projectorType one of PROJECTOR_TYPES
 * @returns one more than there are parts: before the first, between two, after the last
 */
export function textsAround(projectorType: string, image: Layout): string[] {
  return MARKERS[projectorType](image);
}

function between(open: string, close: string): Markers {
  return ({ images }) => [open, ...images.slice(1).map(() => ""), close];
}

/** Idefics3: tiles are named by row and column, lines end their rows, and the overview comes last. */
function tileMarkers({ images, columns, rows }: Layout): string[] {
  const texts = images.map(({ role }, i) => {
    if (role !== "tile") return `${rows > 0 ? "\n\n" : ""}${IDEFICS_PART}<global-img>`;
    const [row, column] = [Math.floor(i / columns), i % columns];
    const lineEnd = row > 0 && column === 0 ? "\n" : "";
    return `${lineEnd}${IDEFICS_PART}<row_${row + 1}_col_${column + 1}>`;
  });
  return [...texts, IDEFICS_PART];
}
