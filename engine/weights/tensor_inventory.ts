// What tensors a file has, and what of them a loader asked for: which are missing, have another shape
// than the architecture gives them, or were never read. A tensor that is optional is so for all layers
// alike, so that one which a file lost does not go unnoticed.

import { GgufError } from "../errors.ts";
import type { GgufFile, TensorInfo } from "../gguf/mod.ts";

/** Tensors of genuine files that no architecture here reads. */
const UNREAD: readonly RegExp[] = [
  // Scales of activations, for kernels that quantize them to FP4.
  /\.input_scale$/,
  // Angles and masks that follow from the metadata; the first converters wrote them.
  /\.(attn_rot_embd|rotary_emb|rope\.freqs|inv_freq|attn\.bias|attn\.masked_bias)\b/,
  // What predicts more than the next token, and heads that classify.
  /\.nextn\./,
  /^mtp\./,
  /^cls(\.|$)/,
  // Encoders of sounds.
  /^(a|mm\.a)\./,
];

/** Of a decoder with an encoder of images in its file, what the loader of that reads. */
export const OF_ENCODERS: readonly RegExp[] = [/^(v|mm)\./];

/** Of encoders of images: what other ways of cutting an image up need. */
export const OF_TILES: readonly RegExp[] = [/\bimage_newline$/, /^v\.view_separator$/];

/** What to do about a file that is not what its architecture needs. */
const ADVICE = "the file is damaged or not complete: download or convert it again";

/** An answer to whether a file has an optional tensor. */
interface Answer {
  readonly name: string;
  readonly present: boolean;
}

/** The tensors of one file, and which of them were taken. */
export class TensorInventory {
  readonly #gguf: GgufFile;
  #ignored: readonly RegExp[] = [];
  readonly #taken = new Set<string>();
  /** By the name without the number of its layer. */
  readonly #answers = new Map<string, Answer>();

  constructor(gguf: GgufFile) {
    this.#gguf = gguf;
  }

  /**
   * Treats optional tensors of these names as missing: the architecture, as llama.cpp runs it, has no
   * use for them. Whoever takes one by its name gets it nonetheless.
   */
  ignore(names: RegExp): void {
    this.#ignored = [...this.#ignored, names];
  }

  /** Takes {@linkcode TensorInventory.ignore} back, of the same expression. */
  heed(names: RegExp): void {
    this.#ignored = this.#ignored.filter((ignored) => ignored !== names);
  }

  /** Whether the file has any of these, which decides what kind of a layer it is. */
  hasAny(names: readonly string[]): boolean {
    return names.some((name) => this.#find(name) !== undefined);
  }

  /**
   * Whether the file has an optional tensor.
   *
   * @param kind of the layer, where only those of one kind are alike
   * @throws GgufError if it has the same one in another layer and not here, or the other way round
   */
  has(name: string, kind = ""): boolean {
    if (this.#isIgnored(name)) return false;
    const present = this.#gguf.tensors.has(name);
    const key = `${withoutLayer(name)} ${kind}`;
    const earlier = this.#answers.get(key);
    if (!earlier) this.#answers.set(key, { name, present });
    else if (earlier.present !== present) {
      const [missing, other] = present ? [earlier.name, name] : [name, earlier.name];
      throw this.missing(missing, `although "${this.nameInFile(other)}" is there`);
    }
    return present;
  }

  /** Whether a weight has a scale of its inputs, and so one of its own, which is not ignored. */
  needsScale(base: string): boolean {
    const scale = `${base}.scale`;
    return !this.#isIgnored(scale) && this.#gguf.tensors.has(`${base}.input_scale`);
  }

  /**
   * Whether the file has some tensors that belong together.
   *
   * @throws GgufError if it has some of them and lacks others
   */
  hasAll(names: readonly string[]): boolean {
    const there = names.find((name) => this.#find(name));
    const missing = names.find((name) => !this.#find(name));
    if (there && missing) {
      throw this.missing(missing, `although "${this.nameInFile(there)}" is there`);
    }
    for (const name of names) this.has(name);
    return there !== undefined;
  }

  /**
   * Which of several layouts a layer has, each a list of tensors: the first of which it has anything,
   * and where it has nothing at all, the first that other layers have.
   */
  choose(layouts: readonly (readonly string[])[]): number {
    const here = layouts.findIndex((names) => this.hasAny(names));
    if (here >= 0) return here;
    const others = new Set(Array.from(this.#gguf.tensors.keys(), withoutLayer));
    const elsewhere = layouts.findIndex((names) =>
      names.map(withoutLayer).some((name) => others.has(name))
    );
    return Math.max(0, elsewhere);
  }

  /** A tensor's entry in the header, of whatever shape. Errors: GgufError where it is missing. */
  find(name: string): TensorInfo {
    const tensor = this.#gguf.tensors.get(name);
    if (!tensor) throw this.missing(name);
    return tensor;
  }

  /**
   * A tensor that is read now.
   *
   * @param shape that it has to have, the length of a row first; ones count for nothing
   * @throws GgufError where it is missing or has another one
   */
  take(name: string, shape: readonly number[]): TensorInfo {
    const tensor = this.find(name);
    const [found, expected] = [tensor.shape, shape].map((sizes) =>
      sizes.filter((size) => size !== 1)
    );
    if (found.length !== expected.length || found.some((size, i) => size !== expected[i])) {
      const state = `its shape is ${text(found)}, but by the metadata of the file it has to be ` +
        `${text(expected)}; ${ADVICE}`;
      throw this.fault(name, state);
    }
    this.#taken.add(name);
    return tensor;
  }

  /** The name that the file has for a tensor. */
  nameInFile(name: string): string {
    return this.#gguf.namesInFile?.get(name) ?? name;
  }

  /** The error that something is wrong with a tensor. */
  fault(name: string, state: string): GgufError {
    return new GgufError(this.#gguf.path, `tensor "${this.nameInFile(name)}"`, state);
  }

  /** The error that a tensor is missing. */
  missing(name: string, reason = ""): GgufError {
    const state = `it is missing${reason && `, ${reason}`}; ${ADVICE}`;
    return this.fault(name, state);
  }

  /** The error that a tensor has a value that is no number. */
  notANumber(name: string): GgufError {
    return this.fault(name, `it has a value of NaN; ${ADVICE}`);
  }

  /**
   * Ends a load.
   *
   * @param unread what else the file may have, such as layers that are not run
   * @throws GgufError naming a tensor that was not read, and that is not known to be of no use
   */
  checkAllTaken(unread: (name: string) => boolean): void {
    const isKnown = (name: string) =>
      this.#isIgnored(name) || unread(name) || UNREAD.some((names) => names.test(name));
    for (const name of this.#gguf.tensors.keys()) {
      if (this.#taken.has(name) || isKnown(name)) continue;
      const state =
        "no part of the architecture reads it, so the model would not be what its file " +
        "says: it is damaged, or from a newer converter than this version knows; convert it again, " +
        "or update";
      throw this.fault(name, state);
    }
  }

  #find(name: string): TensorInfo | undefined {
    return this.#isIgnored(name) ? undefined : this.#gguf.tensors.get(name);
  }

  #isIgnored(name: string): boolean {
    if (!this.#ignored.some((names) => names.test(name))) return false;
    // The scale of NVFP4 weights is a part of their format and stays.
    const weight = this.#gguf.tensors.get(name.replace(/\.scale$/, ".weight"));
    return !(name.endsWith(".scale") && weight?.typeName === "NVFP4");
  }
}

/** The number of the layer that a tensor is of, or -1. @param prefix "blk." or "v.blk." */
export function layerOf(name: string, prefix = "blk."): number {
  return name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length)) : -1;
}

function withoutLayer(name: string): string {
  return name.replace(/^(\w\.)?blk\.\d+\./, "$1blk.N.");
}

function text(shape: readonly number[]): string {
  return `[${shape.length > 0 ? shape.join(", ") : 1}]`;
}
