// From the bytes of a picture to what stands for it in a prompt: decoded, prepared, encoded, with the
// model's markers. Where it stands is the prompt's business (engine/image_marks.ts).

import { RequestError } from "../errors.ts";
import { nextTask } from "../next_task.ts";
import type { PromptImage } from "../prompt_images.ts";
import type { ImageEncoder } from "./encoder.ts";
import { decodeImage, ImageError } from "./image/mod.ts";
import { ImageCache, type ReadImage } from "./image_cache.ts";
import { textsAround } from "./markers.ts";
import { normalize, type PreparedImage, preprocess } from "./preprocess/mod.ts";
import type { Vision } from "./vision.ts";

/** The bytes of a picture's file, or their base64. */
export type ImageData = Uint8Array | string;

/** Bytes of embeddings that are remembered. */
const CACHE_BYTES = 64 * 2 ** 20;

/** Projectors whose decoders place the rows of an image in a grid (M-RoPE). */
const GRIDS = ["qwen2.5vl_merger", "qwen3vl_merger"];

/** Runs work while nothing else uses the encoder's GPU; with the signal, waiting for that ends. */
export type Between = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Reads the images of a model's prompts. */
export class ImageReader {
  readonly #vision: Vision;
  readonly #encoder: ImageEncoder;
  readonly #between: Between;
  readonly #cache = new ImageCache(CACHE_BYTES);

  /** Reads as `vision` says, on the GPU when it is its turn. */
  constructor(vision: Vision, encoder: ImageEncoder, between: Between) {
    this.#vision = vision;
    this.#encoder = encoder;
    this.#between = between;
  }

  /**
   * Reads an image; one that is remembered is not encoded again.
   *
   * @param signal ends it: at once for who waits, and between two blocks of the encoder or two tiles
   * for the work, if nobody else waits for the same image
   * @throws {ImageError} if it is none, or one that cannot be read
   * @throws {RequestError} if it does not fit the encoder
   */
  async read(data: ImageData, signal?: AbortSignal): Promise<ReadImage> {
    const bytes = bytesOf(data);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    return await this.#cache.get(hash, (signal) => this.#read(bytes, hash, signal), signal);
  }

  async #read(bytes: Uint8Array, hash: string, signal: AbortSignal): Promise<ReadImage> {
    const { preprocessing, projectorType } = this.#vision;
    const image = await decodeImage(bytes);
    await nextTask();
    signal.throwIfAborted();
    const prepared = preprocess(image, preprocessing);
    const parts: PromptImage[] = [];
    for (const [i, image] of prepared.images.entries()) {
      parts.push(await this.#encode(image, `${hash} ${i}`, signal));
    }
    return { parts, texts: textsAround(projectorType, prepared) };
  }

  async #encode(image: PreparedImage, key: string, signal: AbortSignal): Promise<PromptImage> {
    const { preprocessing, projectorType } = this.#vision;
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
    const side = preprocessing.patchSize * preprocessing.merge;
    return {
      key,
      tokens: embeddings.length / this.#encoder.columns,
      embeddings,
      ...(GRIDS.includes(projectorType) && {
        grid: { rows: height / side, columns: width / side },
      }),
    };
  }
}

function bytesOf(data: ImageData): Uint8Array<ArrayBuffer> {
  if (typeof data !== "string") return new Uint8Array(data);
  try {
    return Uint8Array.fromBase64(data);
  } catch {
    throw new ImageError(
      "its text is no base64; send the bytes of a file in base64, no URL or path",
    );
  }
}
