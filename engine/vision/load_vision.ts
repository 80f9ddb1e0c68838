// Finds the image encoder of a model, in its projector or its own file, and loads it on the
// decoder's device. What only needs headers is separate from what needs weights, so that a load can
// be estimated.

import type { Device } from "../../kernels/mod.ts";
import { UnsupportedModelError } from "../errors.ts";
import { type GgufFile, readGguf } from "../gguf/mod.ts";
import { type ProvedPart, proveEncoder } from "../proof/mod.ts";
import type { Scheduler } from "../run/mod.ts";
import type { LoadOptions } from "../types/mod.ts";
import { type ImageEncoder, type ImageEncoderOptions, loadImageEncoder } from "./encoder.ts";
import type { ImageSize } from "./network/patch_grid.ts";
import type { Between } from "../encoder/mod.ts";
import { ImageReader } from "./reader/image_reader.ts";
import { checkHearing, hasAudioEncoder, hearingFault } from "../hearing/mod.ts";
import { hasImageEncoder } from "./files/encoder_file.ts";
import { readVisionOf, type Vision, visionFault } from "./vision.ts";

/** A loaded encoder, and the reader that uses it. */
export interface LoadedVision {
  readonly encoder: ImageEncoder;
  readonly reader: ImageReader;
}

/** A file with an encoder, and what its header tells about it. */
export interface FoundEncoder extends Vision {
  readonly file: GgufFile;
}

export interface LoadVisionOptions extends Pick<ImageEncoderOptions, "openTensors" | "signal"> {
  readonly scheduler: Scheduler;
  /**
   * Whether to build the network for the largest image at once. Otherwise it is built for a usual
   * one first.
   */
  readonly largestImage: boolean;
}

/**
 * The encoder of a model: that of the given projector, or of its own file.
 *
 * @param info isEncoder: whether the model itself is an encoder of texts
 * @throws {UnsupportedModelError} if the given projector has no supported encoder, or none that
 *   fits the model
 */
export async function findEncoder(
  gguf: GgufFile,
  { readsImages, isEncoder }: { readsImages: boolean; isEncoder: boolean },
  { projector, ...limits }: LoadOptions,
): Promise<FoundEncoder | undefined> {
  if (projector === undefined && !readsImages) return undefined;
  if (isEncoder) {
    throw new UnsupportedModelError(
      `Cannot read images with "${projector}": "${gguf.path}" reads text alone; load it without a projector`,
    );
  }
  const file = projector === undefined ? gguf : await readGguf(projector, gguf.files);
  if (!hasImageEncoder(file) && hasAudioEncoder(file)) {
    checkHearing(gguf, file);
    return undefined;
  }
  return { ...readVisionOf(gguf, file, limits), file };
}

/**
 * The load options for a model with the projector that was found for it.
 *
 * @param gguf the model's header, if it was read already
 * @throws {GgufError} if a header is malformed
 */
export async function usableProjector(
  { path, projector }: { path: string; projector?: string },
  gguf?: GgufFile,
): Promise<Pick<LoadOptions, "projector" | "warnings">> {
  if (projector === undefined) return {};
  const [decoder, file] = [gguf ?? await readGguf(path), await readGguf(projector)];
  const fault = visionFault(decoder, file);
  if (fault === undefined) return { projector };
  if (!hasAudioEncoder(file)) return { warnings: [withoutImages(fault)] };
  const unheard = hearingFault(decoder, file);
  if (unheard !== undefined) {
    return { warnings: [`the model reads text alone, and hears nothing: ${unheard}`] };
  }
  // A file with both encoders, of which only that of sounds is known, is of no use yet.
  return hasImageEncoder(file) ? { warnings: [withoutImages(fault)] } : { projector };
}

/** Warnings for a model that has an encoder in its own file but cannot read images with it. */
export function visionWarnings(gguf: GgufFile): string[] {
  if (!gguf.tensors.keys().some((name) => name.startsWith("v."))) return [];
  const fault = visionFault(gguf, gguf);
  return fault === undefined ? [] : [withoutImages(fault)];
}

function withoutImages(fault: string): string {
  return `the model reads text alone, no images: ${fault}`;
}

/** Loads an encoder. Errors: those of loadImageEncoder(). */
export async function loadVision(
  vision: FoundEncoder,
  device: Device,
  { scheduler, largestImage, ...options }: LoadVisionOptions,
): Promise<LoadedVision> {
  const encoder = await loadImageEncoder(vision.file, device, {
    ...options,
    most: vision.mostPatches,
    ...(largestImage && { patches: vision.mostPatches }),
  });
  const between: Between = (work, signal) => scheduler.between(work, signal);
  return { encoder, reader: new ImageReader(vision, encoder, between) };
}

// The encoder of a model's images as a part by which its device is proved.

/** About as many patches the image has, more than any tile of a product. */
const PATCHES = 70;

/** The encoder that was loaded from a file, as a part of its model. */
export function provedEncoder(file: GgufFile, encoder: ImageEncoder): ProvedPart {
  const size = smallImage(encoder);
  const patches = size.width * size.height / encoder.layout.patchSize ** 2;
  const pixels = Float32Array.from(
    { length: 3 * size.width * size.height },
    (_, i) => Math.sin(12.9898 * i),
  );
  return {
    name: "the image encoder",
    file,
    prove: async () =>
      await proveEncoder(
        await encoder.operationsFor(pixels, size),
        async (device, where) => {
          const twin = await loadImageEncoder(file, device, { patches, ...where });
          const step = await twin.operationsFor(pixels, size);
          return { ...step, [Symbol.dispose]: () => twin[Symbol.dispose]() };
        },
      ),
  };
}

/** The size of an image of few patches, wider than high. */
function smallImage({ layout: { patchSize, merge }, most }: ImageEncoder): ImageSize {
  const tokensOf = (patches: number) => patches / merge ** 2;
  const tokens = Math.ceil(tokensOf(Math.min(PATCHES, most)));
  const columns = Math.min(Math.ceil(Math.sqrt(tokens)) + 1, tokensOf(most));
  const lines = Math.min(Math.ceil(tokens / columns), Math.floor(tokensOf(most) / columns));
  const side = patchSize * merge;
  return { width: columns * side, height: lines * side };
}
