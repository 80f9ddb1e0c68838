// The inverse of the modified discrete cosine transform, by which Vorbis makes samples of spectra: through
// a cosine transform of type IV, and that through a complex Fourier transform of a quarter of the size.

import { FourierTransform } from "./fourier.ts";

/** Transforms of spectra of one size. */
export class InverseMdct {
  readonly #size: number;
  readonly #fourier: FourierTransform;
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;
  readonly #transformed: Float64Array;

  /** @param size values of a spectrum, an even number */
  constructor(size: number) {
    const half = size / 2;
    this.#size = size;
    this.#fourier = new FourierTransform(half);
    const angles = Float64Array.from(
      { length: half },
      (_, n) => -Math.PI * (8 * n + 1) / (8 * size),
    );
    this.#cos = angles.map(Math.cos);
    this.#sin = angles.map(Math.sin);
    this.#real = new Float64Array(half);
    this.#imaginary = new Float64Array(half);
    this.#transformed = new Float64Array(size);
  }

  /**
   * output[i] = sum over k of spectrum[k] * cos(pi / size * (i + 1/2 + size / 2) * (k + 1/2)).
   *
   * @param spectrum [size]
   * @param output [2 * size]
   */
  transform(spectrum: Float32Array, output: Float32Array): void {
    const size = this.#size;
    const values = this.#cosines(spectrum);
    for (let i = 0; i < size / 2; i++) {
      output[i] = values[size / 2 + i];
      output[size - 1 - i] = -values[size / 2 + i];
      output[size + i] = -values[size / 2 - 1 - i];
      output[2 * size - 1 - i] = -values[size / 2 - 1 - i];
    }
  }

  /** sum over k of spectrum[k] * cos(pi / size * (i + 1/2) * (k + 1/2)), for each i. */
  #cosines(spectrum: Float32Array): Float64Array {
    const [size, cos, sin] = [this.#size, this.#cos, this.#sin];
    const [real, imaginary] = [this.#real, this.#imaginary];
    for (let n = 0; n < size / 2; n++) {
      const [a, b] = [spectrum[2 * n], spectrum[size - 1 - 2 * n]];
      real[n] = a * cos[n] - b * sin[n];
      imaginary[n] = a * sin[n] + b * cos[n];
    }
    this.#fourier.transform(real, imaginary);
    const values = this.#transformed;
    for (let n = 0; n < size / 2; n++) {
      values[2 * n] = real[n] * cos[n] - imaginary[n] * sin[n];
      values[size - 1 - 2 * n] = -(real[n] * sin[n] + imaginary[n] * cos[n]);
    }
    return values;
  }
}
