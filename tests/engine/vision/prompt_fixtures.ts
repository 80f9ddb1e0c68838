// The vision fixtures of the conformance data, as far as the text model goes: prompts of tokens and
// images whose embeddings are given, the positions of their rows, and the logits expected.

import type { PromptItem } from "../../../engine/prompt/prompt_media.ts";
import { DATA, readFloats } from "../../conformance/logits.ts";

/** Names of the fixtures; "gemma4v-ple" is the other decoder of gemma4v. */
export const FIXTURES = [
  ...["gemma3", "gemma4v", "gemma4v-ple", "idefics3", "llama4", "llava", "mistral3", "pixtral"],
  ...["qwen25vl", "qwen3vl"],
] as const;

/** A prompt with an image. */
export interface ImagePrompt {
  readonly prompt: PromptItem[];
  /** Time, height and width of each position. */
  readonly positions: readonly (readonly number[])[];
  /** [positions, vocabulary] */
  readonly logits: Float32Array;
}

type Chunk =
  & { pos0: number }
  & ({ type: "text"; tokens: number[] } | {
    type: "image";
    n_tokens: number;
    nx: number;
    ny: number;
    pos_t?: number[];
    pos_h?: number[];
    pos_w?: number[];
  });

interface Manifest {
  images: Record<string, { embd: string; embd_shape: [number, number]; logits: string }>;
  per_layer?: { images: Record<string, { chunks: Chunk[]; logits: string }> };
}

/** Reads a fixture: the decoder's file, and its prompts by the name of the image. */
export async function readVisionFixture(
  name: string,
): Promise<{ model: URL; images: Record<string, ImagePrompt> }> {
  const perLayer = name.endsWith("-ple");
  const folder = `vision/${name.replace("-ple", "")}/`;
  const manifest: Manifest = JSON.parse(
    await Deno.readTextFile(new URL(`${folder}manifest.json`, DATA)),
  );
  const images: Record<string, ImagePrompt> = {};
  for (const [image, entry] of Object.entries(manifest.images)) {
    const { embd, embd_shape: [, columns], chunks, logits } = {
      ...entry,
      ...(perLayer ? manifest.per_layer!.images[image] : {}),
    } as Manifest["images"][string] & { chunks: Chunk[] };
    const embeddings = await readFloats(folder + embd);
    images[image] = {
      prompt: promptOf(chunks, { key: `${name} ${image}`, embeddings, columns }),
      positions: chunks.flatMap(positionsOf),
      logits: await readFloats(folder + logits),
    };
  }
  return { model: new URL(`${folder}text${perLayer ? "-ple" : ""}.gguf`, DATA), images };
}

function promptOf(
  chunks: readonly Chunk[],
  { key, embeddings, columns }: { key: string; embeddings: Float32Array; columns: number },
): PromptItem[] {
  let row = 0;
  return chunks.flatMap((chunk): PromptItem[] => {
    if (chunk.type === "text") return chunk.tokens;
    const { n_tokens: tokens, nx, ny, pos_t } = chunk;
    const first = row;
    row += tokens;
    return [{
      key: `${key} ${first}`,
      tokens,
      embeddings: embeddings.subarray(first * columns, row * columns),
      ...(pos_t && { grid: { rows: ny, columns: nx } }),
    }];
  });
}

function positionsOf(chunk: Chunk): number[][] {
  const { pos0 } = chunk;
  if (chunk.type === "image" && chunk.pos_t) {
    return chunk.pos_t.map((time, i) => [time, chunk.pos_h![i], chunk.pos_w![i]]);
  }
  const length = chunk.type === "image" ? chunk.n_tokens : chunk.tokens.length;
  return Array.from({ length }, (_, i) => [pos0 + i, pos0 + i, pos0 + i]);
}
