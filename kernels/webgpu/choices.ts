// The choices of a device: which kernels were bound, and the fastest way to compute each, as found by
// tuning (tuning/tuner.ts). Without tuning, the defaults of tile.ts and attention.ts are used. Products
// of mixtures of experts are not tuned.

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

/** The properties of attention on which choices depend. */
export type AttentionShape = Omit<AttentionCase, "kernel">;

/** A shape that was bound. */
interface BoundShape {
  readonly first: KernelCase;
  count: number;
  isPrepared: boolean;
  /** Fewest and most tokens for which a product was prepared. */
  least: number;
  most: number;
}

/** The choices of one device, shared by all that use it. */
export class TuningChoices {
  /** Counts changes, so that kernels that were bound by an earlier choice can be bound again. */
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

  /** Notes that a product is prepared for up to `most` tokens, from `least` on. */
  prepareProduct(shape: ProductShape, most: number, least = 1): void {
    const bound = this.#bound.get(keyOf({ kernel: "product", ...shape, tokens: 1 }));
    if (!bound) return;
    bound.least = bound.isPrepared ? Math.min(bound.least, least) : least;
    bound.most = Math.max(bound.most, most);
    bound.isPrepared = true;
  }

  /** Notes that attention is bound. */
  noteAttention(shape: AttentionShape): void {
    this.#note({ kernel: "attention", ...shape });
  }

  #note(first: KernelCase): void {
    const key = keyOf(first);
    const known = this.#bound.get(key);
    if (known) known.count++;
    else this.#bound.set(key, { first, count: 1, isPrepared: false, least: 1, most: 1 });
  }

  /** Whether a kernel's shape was bound. */
  isBound(kernel: KernelCase): boolean {
    const first = kernel.kernel === "product" ? { ...kernel, tokens: 1 } : kernel;
    return this.#bound.has(keyOf(first));
  }

  /** Kernels that were bound and prepared, each with its number of uses. */
  bound(): { kernel: KernelCase; count: number }[] {
    return [...this.#bound.values()].flatMap(({ first, count, least, most }) => {
      const kernels = first.kernel === "product" ? productCases(first, most, least) : [first];
      return kernels.map((kernel) => ({ kernel, count }));
    });
  }

  /** Name of the chosen way; undefined if none was chosen. */
  chosen(kernel: KernelCase): string | undefined {
    return this.#chosen.get(keyOf(kernel));
  }

  /** Chooses a way, or the default with undefined. */
  choose(kernel: KernelCase, name: string | undefined): void {
    if (this.chosen(kernel) === name) return;
    if (name === undefined) this.#chosen.delete(keyOf(kernel));
    else this.#chosen.set(keyOf(kernel), name);
    this.version++;
  }

  /** The tile of a product. Errors: GpuError if there is none. */
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

  /** The way to compute attention. */
  attention(shape: AttentionShape): AttentionWay {
    const ways = attentionWays(this.#device, shape);
    const name = this.#chosen.get(keyOf({ kernel: "attention", ...shape }));
    return ways.find((way) => way.name === name) ?? ways[0]!;
  }
}

/** A product with the number of tokens of each class that is timed, from the class of `least` to that of `most`. */
export function productCases(shape: ProductShape, most: number, least = 1): ProductCase[] {
  const classes = TOKEN_CLASSES.slice(tokenClass(least), tokenClass(most) + 1);
  return classes.map(({ measured }) => ({ ...shape, kernel: "product", tokens: measured }));
}

/** The number of tokens that the class of a number is timed with. */
function measuredTokens(tokens: number): number {
  return TOKEN_CLASSES[tokenClass(tokens)]!.measured;
}
