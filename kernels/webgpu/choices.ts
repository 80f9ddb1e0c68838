// The choices of a device: which kernels were bound, and which way to compute each was found to be the
// fastest (tuning/tuner.ts). Where nothing was found, tile.ts and attention.ts choose as they do by
// themselves. Products of mixtures of experts are not tuned.

import { type AttentionCase, type KernelCase, keyOf, type ProductCase } from "../tuning.ts";
import {
  chooseTile,
  type Tile,
  type TileDevice,
  tileName,
  TOKEN_CLASSES,
  tokenClass,
} from "./tile.ts";
import { type AttentionWay, attentionWays, productTiles } from "./candidates.ts";

/** A product, whatever the number of tokens. */
export type ProductShape = Omit<ProductCase, "kernel" | "tokens">;

/** Attention, as far as choices depend on it. */
export type AttentionShape = Omit<AttentionCase, "kernel">;

/** A shape that was bound. */
interface BoundShape {
  readonly first: KernelCase;
  count: number;
  /** Tokens that a product was made ready for. */
  most: number;
}

/** The choices of one device, shared by all that use it. */
export class TuningChoices {
  /** Counts changes, so that whoever keeps what was bound by an earlier choice can tell. */
  version = 0;
  readonly #device: TileDevice;
  /** Shapes that were bound, by the key of their first kernel. */
  readonly #bound = new Map<string, BoundShape>();
  readonly #chosen = new Map<string, string>();

  constructor(device: TileDevice) {
    this.#device = device;
  }

  /** Notes that a product is bound. */
  noteProduct(shape: ProductShape): void {
    this.#note({ kernel: "product", ...shape, tokens: 1 });
  }

  /** Notes that a product is made ready for up to `most` tokens. */
  prepareProduct(shape: ProductShape, most: number): void {
    const bound = this.#bound.get(keyOf({ kernel: "product", ...shape, tokens: 1 }));
    if (bound) bound.most = Math.max(bound.most, most);
  }

  /** Notes that attention is bound. */
  noteAttention(shape: AttentionShape): void {
    this.#note({ kernel: "attention", ...shape });
  }

  #note(first: KernelCase): void {
    const key = keyOf(first);
    const known = this.#bound.get(key);
    if (known) known.count++;
    else this.#bound.set(key, { first, count: 1, most: 1 });
  }

  /** Whether a kernel's shape was bound. */
  isBound(kernel: KernelCase): boolean {
    const first = kernel.kernel === "product" ? { ...kernel, tokens: 1 } : kernel;
    return this.#bound.has(keyOf(first));
  }

  /** Kernels that were bound and made ready, each with how often. */
  bound(): { kernel: KernelCase; count: number }[] {
    return [...this.#bound.values()].flatMap(({ first, count, most }) => {
      const kernels = first.kernel === "product" ? productCases(first, most) : [first];
      return kernels.map((kernel) => ({ kernel, count }));
    });
  }

  /** Name of the way that was chosen; undefined where there is no choice. */
  chosen(kernel: KernelCase): string | undefined {
    return this.#chosen.get(keyOf(kernel));
  }

  /** Chooses a way, or with undefined what is taken without a choice. */
  choose(kernel: KernelCase, name: string | undefined): void {
    if (this.chosen(kernel) === name) return;
    if (name === undefined) this.#chosen.delete(keyOf(kernel));
    else this.#chosen.set(keyOf(kernel), name);
    this.version++;
  }

  /** The tile of a product. Errors: GpuError where there is none. */
  tile(shape: ProductShape, tokens: number): Tile {
    if (this.#chosen.size > 0) {
      const kernel = { kernel: "product", ...shape, tokens: measuredTokens(tokens) } as const;
      const name = this.#chosen.get(keyOf(kernel));
      const tiles = name === undefined ? [] : productTiles(this.#device, kernel);
      const tile = tiles.find((tile) => tileName(tile) === name);
      if (tile) return tile;
    }
    return chooseTile(this.#device, tokens, shape);
  }

  /** How attention is computed. */
  attention(shape: AttentionShape): AttentionWay {
    const ways = attentionWays(this.#device, shape);
    const name = this.#chosen.get(keyOf({ kernel: "attention", ...shape }));
    return ways.find((way) => way.name === name) ?? ways[0]!;
  }
}

/** A product with the number of tokens of each class that is timed, up to the class of `most`. */
export function productCases(shape: ProductShape, most: number): ProductCase[] {
  const classes = TOKEN_CLASSES.slice(0, tokenClass(most) + 1);
  return classes.map(({ measured }) => ({ ...shape, kernel: "product", tokens: measured }));
}

/** The number of tokens that the class of a number is timed with. */
function measuredTokens(tokens: number): number {
  return TOKEN_CLASSES[tokenClass(tokens)]!.measured;
}
