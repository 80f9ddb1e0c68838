// The part of reading an image that needs no GPU: decoding and scaling.

import { type CancelFlag, cancellable } from "../../cancellation.ts";
import { decodeImage, ImageError } from "../image/mod.ts";
import { type PreparedImages, preprocess, type PreprocessingConfig } from "../preprocess/mod.ts";

/**
 * What an encoder takes of an image's file.
 *
 * @param flags call it off
 * @throws {ImageError} if it is none that can be read; CancelledError
 */
export async function prepareImage(
  bytes: Uint8Array,
  config: PreprocessingConfig,
  flags: readonly CancelFlag[],
): Promise<PreparedImages> {
  try {
    const image = await decodeImage(bytes, flags);
    return cancellable(flags, () => preprocess(image, config));
  } catch (error) {
    // Of buffers that cannot be had; whose size is the image's.
    if (!(error instanceof RangeError)) throw error;
    throw new ImageError(`there is no memory for its pixels (${error.message}); send it smaller`);
  }
}
