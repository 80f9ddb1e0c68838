// By what a model sees: the image encoder of its projector, or of its own file, beside the decoder on
// one GPU. What it takes from headers and what from weights is kept apart, so that rooms can be
// planned before anything is loaded.

import type { Device } from "../kernels/mod.ts";
import { UnsupportedModelError } from "./errors.ts";
import { type GgufFile, readGguf } from "./gguf/mod.ts";
import type { Scheduler } from "./scheduler.ts";
import type { LoadOptions, ModelInfo } from "./types.ts";
import {
  hasVision,
  type ImageEncoder,
  type ImageEncoderOptions,
  ImageReader,
  loadImageEncoder,
  readVision,
  type Vision,
} from "./vision/mod.ts";

/** A loaded encoder, and what reads images with it. */
export interface Sight {
  readonly encoder: ImageEncoder;
  readonly reader: ImageReader;
}

/** A file with an encoder, and what its header says of that. */
export interface FoundSight extends Vision {
  readonly file: GgufFile;
}

/** What an encoder is loaded for. */
export interface SightOptions extends Pick<ImageEncoderOptions, "openTensors" | "signal"> {
  /** Path of the decoder. */
  readonly model: string;
  /** Floats of an image's row that the decoder takes; undefined if it takes no images. */
  readonly columns: number | undefined;
  readonly scheduler: Scheduler;
}

/**
 * The encoder of a model: of the projector that was named, or of its own file.
 *
 * @throws {UnsupportedModelError} if the projector that was named has none that runs
 */
export async function findSight(
  gguf: GgufFile,
  { sees }: ModelInfo,
  { projector, ...limits }: LoadOptions,
): Promise<FoundSight | undefined> {
  if (projector === undefined && !sees) return undefined;
  const file = projector === undefined ? gguf : await readGguf(projector);
  return { ...readVision(file, limits), file };
}

/** The projector of a model as an option to load it with, if it runs: without, the model reads text. */
export async function usableProjector(
  { projector }: { projector?: string },
): Promise<Pick<LoadOptions, "projector">> {
  return projector !== undefined && hasVision(await readGguf(projector)) ? { projector } : {};
}

/** Loads an encoder. Errors: UnsupportedModelError where it does not fit the decoder. */
export async function loadSight(
  vision: FoundSight,
  device: Device,
  { model, columns, scheduler, ...options }: SightOptions,
): Promise<Sight> {
  const encoder = await loadImageEncoder(vision.file, device, options);
  if (encoder.columns !== columns) {
    const takes = columns === undefined ? "reads text alone" : `takes rows of ${columns}`;
    const { path } = vision.file;
    encoder[Symbol.dispose]();
    throw new UnsupportedModelError(
      `Cannot see with "${path}": it makes rows of ${encoder.columns} values, and "${model}" ${takes}`,
    );
  }
  const reader = new ImageReader(vision, encoder, (work) => scheduler.alone(work));
  return { encoder, reader };
}
