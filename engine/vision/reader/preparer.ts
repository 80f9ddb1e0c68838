// Decodes and scales images: small ones in the caller's thread, since starting a worker takes
// longer, others in a worker, one after the other, so that only one is in memory. The worker lives
// while images are being read; when it ends, its memory is freed.

import { aloneBecause, type WorkerThread } from "../../../host/mod.ts";
import { startWorker, untilRoomForWorker } from "../../../kernels/mod.ts";
import { CancelFlag, cancellable } from "../../cancellation.ts";
import { crashOfWorker, EngineError } from "../../errors.ts";
import { untilAborted } from "../../async.ts";
import { decodeImage, ImageError, measureImage } from "../image/mod.ts";
import { type PreparedImages, preprocess, type PreprocessingConfig } from "../preprocess/mod.ts";

/** Images with up to this number of pixels are prepared in some tens of milliseconds. */
const SMALL_PIXELS = 500_000;

/** The message to the worker. */
export interface PrepareRequest {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly config: PreprocessingConfig;
  /** Memory of the flag that cancels the work. */
  readonly cancelled: SharedArrayBuffer;
}

/** The worker's answer: the prepared images, a fault of the image, or an unexpected error. */
export type PrepareAnswer = { prepared: PreparedImages } | { fault: string } | { failure: string };

/** Decodes and scales images. */
export class ImagePreparer {
  #worker: WorkerThread | undefined;
  #users = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** Keeps the worker, once there is one, until the result is disposed of. */
  use(): Disposable {
    this.#users++;
    return {
      [Symbol.dispose]: () => {
        if (--this.#users === 0) this.#end();
      },
    };
  }

  /**
   * Decodes and scales an image.
   *
   * @throws {ImageError} if it cannot be read; the signal's reason, at once
   */
  async prepare(
    bytes: Uint8Array<ArrayBuffer>,
    config: PreprocessingConfig,
    signal: AbortSignal,
  ): Promise<PreparedImages> {
    const { width, height } = measureImage(bytes);
    if (width * height <= SMALL_PIXELS || aloneBecause() !== undefined) {
      return await prepareImage(bytes, config, []);
    }
    using _ = this.use();
    const cancelled = new CancelFlag();
    const abort = () => cancelled.set();
    signal.addEventListener("abort", abort);
    try {
      const prepared = this.#last.then(() =>
        this.#ask({ bytes, config, cancelled: cancelled.memory })
      );
      this.#last = prepared.catch(() => {});
      return await untilAborted(prepared, signal);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async #ask(request: PrepareRequest): Promise<PreparedImages> {
    if (!this.#worker) await untilRoomForWorker();
    if (new CancelFlag(request.cancelled).isSet) throw new DOMException("", "AbortError");
    const worker = this.#worker ??= startWorker(
      new URL("./prepare_worker.ts", import.meta.url),
      "Cannot read the image",
    );
    const { promise, resolve, reject } = Promise.withResolvers<PreparedImages>();
    worker.onmessage = ({ data }: MessageEvent<PrepareAnswer>) => {
      if ("prepared" in data) resolve(data.prepared);
      else if ("fault" in data) reject(new ImageError(data.fault));
      else reject(new EngineError(`Cannot read the image: ${data.failure}`));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#worker = undefined;
      reject(crashOfWorker("Cannot read the image", event.message));
    };
    worker.postMessage(request);
    return await promise;
  }

  #end(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#last = Promise.resolve();
  }
}

/**
 * Decodes and scales an image for an encoder.
 *
 * @param flags cancel the work
 * @throws {ImageError} if it cannot be read; CancelledError
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
    // RangeError: not enough memory for the image.
    if (!(error instanceof RangeError)) throw error;
    throw new ImageError(`there is no memory for its pixels (${error.message}); send it smaller`);
  }
}
