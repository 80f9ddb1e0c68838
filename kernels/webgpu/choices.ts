// The choices of a device: which kernels were bound, and the fastest way to compute each, as found by
// tuning (tuning/tuner.ts). Without tuning, the defaults of tile.ts and attention.ts are used.

import {
  type AttentionCase,
  type ExpertsCase,
  type KernelCase,
  keyOf,
  type ProductCase,
} from "../tuning.ts";
import {
  chooseTile,
  columnsOf,
  type Tile,
  type TileDevice,
  tileName,
  TOKEN_CLASSES,
  tokenClass,
} from "./tile.ts";
import { type AttentionWay, attentionWays, expertTiles, productTiles } from "./candidates.ts";

/** A product, whatever the number of tokens. */
export type ProductShape = Omit<ProductCase, "kernel" | "tokens">;

/** A product of experts, however many pairs share one. */
export type ExpertsShape = Omit<ExpertsCase, "kernel" | "density">;

/** The properties of attention on which choices depend. */
export type AttentionShape = Omit<AttentionCase, "kernel">;

/** A shape that was bound. */
interface BoundShape {
  readonly first: KernelCase;
  count: number;
  isPrepared: boolean;
  /** Fewest and most tokens, or pairs that share an expert, for which a product was prepared. */
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
    this.#prepare({ kernel: "product", ...shape, tokens: 1 }, most, least);
  }

  /** Notes that a product of experts is bound. */
  noteExperts(shape: ExpertsShape): void {
    this.#note({ kernel: "experts", ...shape, density: 1 });
  }

  /** Notes that a product of experts is prepared for up to `most` pairs that share one. */
  prepareExperts(shape: ExpertsShape, most: number): void {
    this.#prepare({ kernel: "experts", ...shape, density: 1 }, most, 1);
  }

  #prepare(first: KernelCase, most: number, least: number): void {
    const bound = this.#bound.get(keyOf(first));
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
    return this.#bound.has(keyOf(measuredWith(kernel, 1)));
  }

  /** Kernels that were bound and prepared, each with its number of uses. */
  bound(): { kernel: KernelCase; count: number }[] {
    return [...this.#bound.values()].flatMap(({ first, count, least, most }) =>
      kernelsOf(first, most, least).map((kernel) => ({ kernel, count }))
    );
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
    const kernel = { kernel: "product", ...shape, tokens: measuredNumber(tokens) } as const;
    return this.#tuned(kernel, () => productTiles(this.#device, kernel)) ??
      chooseTile(this.#device, tokens, shape);
  }

  /**
   * The tile of a product of experts, as wide as the tiles of pairs. Errors: GpuError if there is none.
   *
   * @param density average number of pairs that share an expert
   * @param cols pairs in a tile
   */
  expertTile(shape: ExpertsShape, density: number, cols: number): Tile {
    const kernel = { kernel: "experts", ...shape, density: measuredNumber(density) } as const;
    const tile = this.#tuned(kernel, () => expertTiles(this.#device, kernel));
    if (tile && columnsOf(tile) === cols) return tile;
    return chooseTile(this.#device, density, { ...shape, cols });
  }

  /** The chosen one of the tiles for a kernel; undefined if none was chosen. */
  #tuned(kernel: KernelCase, tiles: () => Tile[]): Tile | undefined {
    if (this.#chosen.size === 0) return undefined;
    const name = this.chosen(kernel);
    return name === undefined ? undefined : tiles().find((tile) => tileName(tile) === name);
  }

  /** The way to compute attention. */
  attention(shape: AttentionShape): AttentionWay {
    const ways = attentionWays(this.#device, shape);
    const name = this.#chosen.get(keyOf({ kernel: "attention", ...shape }));
    return ways.find((way) => way.name === name) ?? ways[0]!;
  }
}

/**
 * A kernel with the number of tokens, or of pairs that share an expert, of each class that is timed, from
 * the class of `least` to that of `most`.
 */
export function kernelsOf(first: KernelCase, most: number, least = 1): KernelCase[] {
  if (first.kernel === "attention") return [first];
  const classes = TOKEN_CLASSES.slice(tokenClass(least), tokenClass(most) + 1);
  return classes.map(({ measured }) => measuredWith(first, measured));
}

/** The kernel for another number of tokens, or of pairs that share an expert. */
function measuredWith(kernel: KernelCase, number: number): KernelCase {
  switch (kernel.kernel) {
    case "product":
      return { ...kernel, tokens: number };
    case "experts":
      return { ...kernel, density: number };
    case "attention":
      return kernel;
  }
}

/** The number that the class of a number is timed with. */
function measuredNumber(number: number): number {
  return TOKEN_CLASSES[tokenClass(number)]!.measured;
}
