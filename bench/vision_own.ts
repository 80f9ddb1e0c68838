// Our image encoder, timed in parts: from the bytes of a picture to what the encoder takes, and from
// there to the embeddings. No cache of images is in between.

import { readGguf } from "../engine/gguf/mod.ts";
import { decodeImage } from "../engine/vision/image/mod.ts";
import {
  type ImageEncoder,
  loadImageEncoder,
  readVision,
  type Vision,
} from "../engine/vision/mod.ts";
import { normalize, preprocess } from "../engine/vision/preprocess/mod.ts";
import { type Device, openDevice } from "../kernels/mod.ts";

/** The times of one picture, in milliseconds. */
export interface OwnTimes {
  /** Decoding, resizing and normalizing. */
  readonly prepare: number;
  /** From pixels to embeddings, of all tiles. */
  readonly encode: number;
  readonly tokens: number;
}

/** A loaded encoder on a device of its own. */
export class OwnEncoder implements Disposable {
  private constructor(
    readonly device: Device,
    /** Milliseconds of opening the device, reading the weights and compiling the kernels. */
    readonly loading: number,
    readonly vision: Vision,
    readonly encoder: ImageEncoder,
  ) {}

  /**
   * Loads the encoder of a projector's file, as the engine does, on the device that is chosen. Errors:
   * as of loadImageEncoder().
   */
  static async load(projector: string): Promise<OwnEncoder> {
    const started = performance.now();
    using resources = new DisposableStack();
    const device = resources.use(await openDevice());
    const file = await readGguf(projector);
    const encoder = resources.use(await loadImageEncoder(file, device));
    resources.move();
    return new OwnEncoder(device, performance.now() - started, readVision(file), encoder);
  }

  /** Encodes a picture. Errors: ImageError, RangeError. */
  async read(bytes: Uint8Array): Promise<OwnTimes> {
    const { preprocessing } = this.vision;
    const started = performance.now();
    const { images } = preprocess(await decodeImage(bytes), preprocessing);
    const inputs = images.map((image) => ({ image, pixels: normalize(image, preprocessing) }));
    const prepared = performance.now();
    let values = 0;
    for (const { image, pixels } of inputs) {
      values += (await this.encoder.encode(pixels, image)).length;
    }
    return {
      prepare: prepared - started,
      encode: performance.now() - prepared,
      tokens: values / this.encoder.columns,
    };
  }

  [Symbol.dispose](): void {
    this.encoder[Symbol.dispose]();
    this.device[Symbol.dispose]();
  }
}
