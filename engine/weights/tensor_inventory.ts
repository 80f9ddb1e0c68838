// The tensors of a file and which of them were loaded: finds tensors that are missing, have another
// shape than the architecture demands, or were never read. An optional tensor is in all layers of a
// kind or in none, so that a lost one is noticed.

import { GgufError } from "../errors.ts";
import type { GgufFile, TensorInfo } from "../gguf/mod.ts";

/** Tensors of real files that no architecture here reads. */
const UNREAD: readonly RegExp[] = [
  // Scales of activations, for kernels that quantize them to FP4.
  /\.input_scale$/,
  // Angles and masks that follow from the metadata, written by early converters.
  /\.(attn_rot_embd|rotary_emb|rope\.freqs|inv_freq|attn\.bias|attn\.masked_bias)\b/,
  // Multi-token prediction, and heads for classification.
  /\.nextn\./,
  /^mtp\./,
  /^cls(\.|$)/,
  // Encoders of audio.
  /^(a|mm\.a)\./,
];

/** The tensors of an image encoder in a decoder's file, which the encoder's loader reads. */
export const OF_ENCODERS: readonly RegExp[] = [/^(v|mm)\./];

/** Tensors of image encoders for ways of tiling that are not used here. */
export const OF_TILES: readonly RegExp[] = [/\bimage_newline$/, /^v\.view_separator$/];

/** Advice for a file that does not match its architecture. */
const ADVICE = "the file is damaged or not complete: download or convert it again";

/** The result of asking for an optional tensor in one layer. */
interface Answer {
  readonly name: string;
  readonly present: boolean;
}

/** The tensors of one file, and which of them were taken. */
export class TensorInventory {
  readonly #gguf: GgufFile;
  #ignored: readonly RegExp[] = [];
  readonly #taken = new Set<string>();
  /** Results by the tensor's name without the number of its layer. */
  readonly #answers = new Map<string, Answer>();

  constructor(gguf: GgufFile) {
    this.#gguf = gguf;
  }

  /**
   * Treats optional tensors with these names as missing, because the architecture, as llama.cpp
   * runs it, does not use them. They can still be taken by name.
   */
  ignore(names: RegExp): void {
    this.#ignored = [...this.#ignored, names];
  }

  /** Undoes {@linkcode TensorInventory.ignore} of the same expression. */
  heed(names: RegExp): void {
    this.#ignored = this.#ignored.filter((ignored) => ignored !== names);
  }

  /** Whether the file has any of these tensors, which tells the kind of a layer. */
  hasAny(names: readonly string[]): boolean {
    return names.some((name) => this.#find(name) !== undefined);
  }

  /**
   * Whether the file has an optional tensor.
   *
   * @param kind kind of the layer, if only layers of one kind agree
   * @throws GgufError if only some of these layers have it
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

  /** Whether a weight has a scale of its input. Then its own scale is not ignored. */
  needsScale(base: string): boolean {
    const scale = `${base}.scale`;
    return !this.#isIgnored(scale) && this.#gguf.tensors.has(`${base}.input_scale`);
  }

  /**
   * Whether the file has tensors that belong together.
   *
   * @throws GgufError if it has only some of them
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
   * The index of the layout that a layer has. Each layout is a list of tensors. It is the first of
   * which the layer has any tensor, or if it has none, the first that other layers have.
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

  /** The names of the file's tensors that match. */
  names(pattern: RegExp): string[] {
    return [...this.#gguf.tensors.keys()].filter((name) => pattern.test(name));
  }

  /** A tensor's entry in the header, with any shape. Errors: GgufError if it is missing. */
  find(name: string): TensorInfo {
    const tensor = this.#gguf.tensors.get(name);
    if (!tensor) throw this.missing(name);
    return tensor;
  }

  /**
   * Takes a tensor, which is read now.
   *
   * @param shape the shape that it must have, the length of a row first; axes of length one do not
   *   count
   * @throws GgufError if it is missing or has another shape
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

  nameInFile(name: string): string {
    return this.#gguf.namesInFile?.get(name) ?? name;
  }

  /** The error of a faulty tensor. */
  fault(name: string, state: string): GgufError {
    return new GgufError(this.#gguf.path, `tensor "${this.nameInFile(name)}"`, state);
  }

  /** The error of a missing tensor. */
  missing(name: string, reason = ""): GgufError {
    const state = `it is missing${reason && `, ${reason}`}; ${ADVICE}`;
    return this.fault(name, state);
  }

  /** The error of a tensor with a value that is not a number. */
  notANumber(name: string): GgufError {
    return this.fault(name, `it has a value of NaN; ${ADVICE}`);
  }

  /**
   * Ends a load.
   *
   * @param unread tells which other tensors are ignored, such as those of layers that are not run
   * @throws GgufError naming a tensor that was neither read nor is known to be unused
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
    // The scale of NVFP4 weights is a part of their format and is never ignored.
    const weight = this.#gguf.tensors.get(name.replace(/\.scale$/, ".weight"));
    return !(name.endsWith(".scale") && weight?.typeName === "NVFP4");
  }
}

/** The number of a tensor's layer, or -1. @param prefix "blk." or "v.blk." */
export function layerOf(name: string, prefix = "blk."): number {
  return name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length)) : -1;
}

function withoutLayer(name: string): string {
  return name.replace(/^(\w+\.)?blk\.\d+\./, "$1blk.N.");
}

function text(shape: readonly number[]): string {
  return `[${shape.length > 0 ? shape.join(", ") : 1}]`;
}
