// LoRA adapters (Hu et al. 2021) from GGUF files. For a weight W there is a pair A [rank, in], B
// [out, rank], used as two small products, so that W stays quantized: y = W x + s * B (A x), where each
// sequence has an s of its own (engine/nn/adapt.ts).

import { type Device, type Matrix, quantFormat } from "../../kernels/mod.ts";
import { AdapterError } from "../errors.ts";
import {
  type ByteSources,
  type GgufFile,
  MetadataReader,
  readGguf,
  type TensorBytes,
  type TensorInfo,
} from "../gguf/mod.ts";
import { rangesOf, type Rows } from "./rows.ts";

/** What an adapter adds to the product by one weight: B (A x), on the device. */
export interface LowRankPair {
  /** Number of the adapter. */
  readonly adapter: number;
  /** A [rank, in]. */
  readonly down: Matrix;
  /** B [out, rank], scaled by the adapter's own scale. */
  readonly up: Matrix;
}

/** Most adapters of a model: one bit of a word each. */
export const MOST_ADAPTERS = 32;

export interface AdapterOptions {
  /** Its number among those of the model. */
  index: number;
  /** Architecture of the model. */
  architecture: string;
  /** What opens it. Default: this machine. */
  files?: ByteSources;
  openTensors: (gguf: GgufFile) => Promise<TensorBytes>;
}

/** An open adapter file. To be disposed of after the model is loaded. */
export class Adapter implements Disposable {
  readonly #gguf: GgufFile;
  readonly #reader: TensorBytes;
  readonly #index: number;
  readonly #alpha: number;
  readonly #used = new Set<string>();

  private constructor(gguf: GgufFile, reader: TensorBytes, index: number) {
    this.#gguf = gguf;
    this.#reader = reader;
    this.#index = index;
    this.#alpha = new MetadataReader(gguf).optionalNumber("adapter.lora.alpha", 0);
  }

  /**
   * Opens an adapter.
   * @throws GgufError; AdapterError if it is not an adapter, or is for another architecture
   */
  static async open(
    path: string | URL,
    { index, architecture, files, openTensors }: AdapterOptions,
  ): Promise<Adapter> {
    const gguf = await readGguf(path, files);
    const metadata = new MetadataReader(gguf);
    const kind = metadata.optionalString("general.type", "model");
    const type = metadata.optionalString("adapter.type", "");
    if (kind !== "adapter" || type !== "lora") {
      const state = kind !== "adapter" ? `it is a ${kind}, no adapter` : `its type is "${type}"`;
      throw new AdapterError(gguf.path, `${state}; only LoRA adapters can be applied`);
    }
    const made = metadata.optionalString("general.architecture", architecture);
    if (made !== architecture) {
      throw new AdapterError(gguf.path, `it is for architecture "${made}", not "${architecture}"`);
    }
    return new Adapter(gguf, await openTensors(gguf), index);
  }

  /** Whether it changes a weight. */
  adapts(source: Rows): boolean {
    return this.#gguf.tensors.has(`${source.name}.lora_a`);
  }

  /**
   * The pairs for rows of a weight: one, or none if the adapter does not change the weight.
   * @param columns columns of the weight
   * @throws AdapterError if the pair does not fit the weight
   */
  pairsFor(
    device: Device,
    source: Rows,
    { columns: width, gain }: { columns: number; gain: number },
  ): LowRankPair[] {
    const { name } = source;
    const down = this.#gguf.tensors.get(`${name}.lora_a`);
    const up = this.#gguf.tensors.get(`${name}.lora_b`);
    if (!down || !up) return [];
    this.#used.add(down.name).add(up.name);
    const [columns, rank = 1] = down.shape;
    const [inner, rows = 1] = up.shape;
    const fits = inner === rank && columns === width && rows === source.rows;
    if (!fits || [down, up].some((tensor) => tensor.shape.length > 2)) {
      const [a, b, weight] = [down.shape, up.shape, [width, source.rows]]
        .map((sizes) => `[${sizes.join(", ")}]`);
      throw new AdapterError(
        this.#gguf.path,
        `its pair ${a}, ${b} for "${name}" does not fit the weight ${weight}`,
      );
    }
    const scale = gain * (this.#alpha === 0 ? 1 : this.#alpha / rank);
    const ranges = rangesOf(source);
    const count = ranges.reduce((sum, [, size]) => sum + size, 0);
    const upMatrix = this.#matrix(device, up, { rows: count, columns: rank }, ranges);
    device.setAffine(upMatrix, {
      scale: new Float32Array(count).fill(scale),
      bias: new Float32Array(count),
    });
    const downMatrix = this.#matrix(device, down, { rows: rank, columns });
    return [{ adapter: this.#index, down: downMatrix, up: upMatrix }];
  }

  /**
   * Checks that the model used all tensors. @throws AdapterError naming a tensor that it did not
   * use
   */
  checkAllUsed(): void {
    const left = [...this.#gguf.tensors.keys()].find((name) => !this.#used.has(name));
    if (left === undefined) return;
    throw new AdapterError(
      this.#gguf.path,
      `its tensor "${left}" changes a weight that the model lacks or that cannot be adapted`,
    );
  }

  [Symbol.dispose](): void {
    this.#reader[Symbol.dispose]();
  }

  #matrix(
    device: Device,
    tensor: TensorInfo,
    shape: { rows: number; columns: number },
    ranges: readonly (readonly [number, number])[] = [[0, shape.rows]],
  ): Matrix {
    const format = quantFormat(tensor.type);
    if (!format) {
      throw new AdapterError(this.#gguf.path, `"${tensor.name}" is of type ${tensor.typeName}`);
    }
    const matrix = device.matrix(tensor.name, format, shape);
    const writer = device.matrixWriter(matrix);
    const rowBytes = tensor.byteLength / (tensor.shape[1] ?? 1);
    for (const [first, count] of ranges) {
      const [start, end] = [first * rowBytes, (first + count) * rowBytes];
      for (const { bytes } of this.#reader.chunks(tensor, start, end, rowBytes)) {
        if (!isFinite(tensor.type, bytes)) {
          throw new AdapterError(
            this.#gguf.path,
            `"${tensor.name}" has values that are not finite`,
          );
        }
        writer.append(bytes);
      }
    }
    writer.finish();
    return matrix;
  }
}

/** The bits of an exponent that is all ones, by the ggml_type of f32, f16 and bf16. */
const EXPONENTS: Readonly<Record<number, number>> = { 0: 0x7f80_0000, 1: 0x7c00, 30: 0x7f80 };

/**
 * Whether values are numbers. Rows without the adapter are multiplied, too, by zeros: what is not finite
 * would show in sequences that do not have it.
 */
function isFinite(type: number, bytes: Uint8Array): boolean {
  const exponent = EXPONENTS[type];
  if (exponent === undefined) return true;
  const { buffer } = bytes.slice();
  const words = type === 0 ? new Uint32Array(buffer) : new Uint16Array(buffer);
  return words.every((word) => (word & exponent) !== exponent);
}
