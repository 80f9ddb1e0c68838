// From the bytes of a picture to its part of a prompt: decoded, preprocessed, encoded, with the
// marks of its family around it. The header alone tells how many tokens that will be.
// prompt/media_marks.ts decides where in the prompt it goes.

import { type Between, MediaCache } from "../../encoder/mod.ts";
import { RequestError } from "../../errors.ts";
import type { MediaData, PromptMedia, ReadMedia } from "../../prompt/mod.ts";
import type { ImageEncoder } from "../encoder.ts";
import { ImageError, measureImage, type Size } from "../image/mod.ts";
import { layOut, normalize, type PreparedImage } from "../preprocess/mod.ts";
import type { Vision } from "../vision.ts";
import { ImagePreparer } from "./preparer.ts";

/** Most bytes of embeddings in the cache. */
const CACHE_BYTES = 64 * 2 ** 20;

/** Reads the images of a model's prompts. */
export class ImageReader {
  readonly #vision: Vision;
  readonly #encoder: ImageEncoder;
  readonly #between: Between;
  readonly #cache = new MediaCache(CACHE_BYTES);
  readonly #preparer = new ImagePreparer();

  /** @param between runs work on the device between two steps of the decoder */
  constructor(vision: Vision, encoder: ImageEncoder, between: Between) {
    this.#vision = vision;
    this.#encoder = encoder;
    this.#between = between;
  }

  /** Keeps the decoding worker alive until disposed of, for callers that read several images. */
  begin(): Disposable {
    return this.#preparer.use();
  }

  /**
   * The rows of an image by its header alone, without values.
   *
   * @throws {ImageError} if the header shows that it cannot be read
   */
  measure(data: MediaData): ReadMedia {
    const { preprocessing, family } = this.#vision;
    const layout = layOut(measureImage(bytesOf(data)), preprocessing);
    const parts = layout.images.map((size, i) => ({
      ...this.#describe(size),
      key: `measured ${i}`,
      embeddings: new Float32Array(),
    }));
    return { parts, texts: family.marks(layout) };
  }

  /**
   * Reads an image, or takes it from the cache.
   *
   * @param signal ends the caller's wait at once. The work ends between two blocks of the encoder
   *   or two tiles, if nobody else waits for the same image
   * @throws {ImageError} if it cannot be read
   * @throws {RequestError} if it does not fit the encoder
   */
  async read(data: MediaData, signal?: AbortSignal): Promise<ReadMedia> {
    const bytes = bytesOf(data);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    return await this.#cache.get(hash, (signal) => this.#read(bytes, hash, signal), signal);
  }

  async #read(
    bytes: Uint8Array<ArrayBuffer>,
    hash: string,
    signal: AbortSignal,
  ): Promise<ReadMedia> {
    const { preprocessing, family } = this.#vision;
    const prepared = await this.#preparer.prepare(bytes, preprocessing, signal);
    const parts: PromptMedia[] = [];
    for (const [i, image] of prepared.images.entries()) {
      parts.push(await this.#encode(image, `${hash} ${i}`, signal));
    }
    return { parts, texts: family.marks(prepared) };
  }

  async #encode(image: PreparedImage, key: string, signal: AbortSignal): Promise<PromptMedia> {
    const { preprocessing } = this.#vision;
    const pixels = normalize(image, preprocessing);
    const { width, height } = image;
    const embeddings = await this.#between(async () => {
      try {
        return await this.#encoder.encode(pixels, { width, height }, signal);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw new RequestError(error.message, { cause: error });
      }
    }, signal);
    const tokens = embeddings.length / this.#encoder.columns;
    return { ...this.#describe(image), key, tokens, embeddings };
  }

  /** The tokens and the grid that follow from the size of a prepared image. */
  #describe({ width, height }: Size): Pick<PromptMedia, "tokens" | "grid"> {
    const { preprocessing: { patchSize, merge }, family } = this.#vision;
    const side = patchSize * merge;
    return {
      tokens: this.#encoder.tokensOf({ width, height }),
      ...(family.usesGrid && {
        grid: { rows: height / side, columns: width / side },
      }),
    };
  }
}

function bytesOf(data: MediaData): Uint8Array<ArrayBuffer> {
  if (typeof data !== "string") return new Uint8Array(data);
  try {
    return Uint8Array.fromBase64(data);
  } catch {
    throw new ImageError(
      "its text is no base64; send the bytes of a file in base64, no URL or path",
    );
  }
}
