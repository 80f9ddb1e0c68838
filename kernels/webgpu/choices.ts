// The choices of a device: which kernels were bound, and the fastest way to compute each, as found by
// tuning (tuning/tuner.ts). Without tuning, the defaults of tile.ts and attention.ts are used.

import {
  type AttentionCase,
  type ExpertPairsCase,
  type ExpertsCase,
  type KernelCase,
  keyOf,
  type ProductCase,
} from "../tuning.ts";
import {
  type AttentionWay,
  attentionWays,
  columnsName,
  expertTile,
  expertTiles,
  pairColumnsNear,
  productTiles,
} from "./candidates.ts";
import type { Dispatch } from "./kernel.ts";
import {
  canHaveColumns,
  chooseTile,
  pairColumns,
  type Tile,
  type TileDevice,
  tileName,
  TOKEN_CLASSES,
  tokenClass,
  tokenClasses,
} from "./tile.ts";

/** A product, whatever the number of tokens. */
export type ProductShape = Omit<ProductCase, "kernel" | "tokens">;

/** A product of experts, however many pairs share one. */
export type ExpertsShape = Omit<ExpertsCase, "kernel" | "density" | "cols">;

/** The properties of attention on which choices depend. */
export type AttentionShape = Omit<AttentionCase, "kernel">;

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
  /** The product with the most weights of each mixture of experts. */
  readonly #largest = new Map<string, ExpertsShape>();
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
    this.#note(firstOf(shape));
    const mixture = mixtureOf(shape);
    const largest = this.#largest.get(mixture);
    if (!largest || weightsOf(shape) > weightsOf(largest)) this.#largest.set(mixture, shape);
  }

  /** Notes that a product of experts is prepared for up to `most` pairs that share one. */
  prepareExperts(shape: ExpertsShape, most: number): void {
    this.#prepare(firstOf(shape), most, 1);
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

  /** Whether a kernel's shape was bound, and the device can have its tiles of pairs. */
  isBound(kernel: KernelCase): boolean {
    switch (kernel.kernel) {
      case "product":
        return this.#bound.has(keyOf({ ...kernel, tokens: 1 }));
      case "experts":
        return canHaveColumns(this.#device, kernel.cols) && this.#bound.has(keyOf(firstOf(kernel)));
      case "expert pairs":
        return this.#bound.has(keyOf(firstOf(kernel)));
      case "attention":
        return this.#bound.has(keyOf(kernel));
    }
  }

  /** Kernels that were bound and prepared, each with its number of uses. */
  bound(): { kernel: KernelCase; count: number }[] {
    return [...this.#bound.values()].flatMap(({ first, count, least, most }) => {
      const classes = TOKEN_CLASSES.slice(tokenClass(least), tokenClass(most) + 1);
      const numbers = classes.map(({ measured }) => measured);
      return this.#kernelsOf(first, numbers).map((kernel) => ({ kernel, count }));
    });
  }

  /** A kernel with each number of tokens, or of pairs that share an expert, and what it depends on. */
  #kernelsOf(first: KernelCase, numbers: readonly number[]): KernelCase[] {
    switch (first.kernel) {
      case "product":
        return numbers.map((tokens) => ({ ...first, tokens }));
      case "experts":
        return numbers.flatMap((density) => [
          ...this.#pairsOf(first, density),
          { ...first, density, cols: this.pairColumns(first, density) },
        ]);
      case "expert pairs":
      case "attention":
        return [first];
    }
  }

  /** The tiles of pairs that depend on this product of experts, if it is the one with the most weights. */
  #pairsOf({ cols: _, ...first }: ExpertsCase, density: number): ExpertPairsCase[] {
    const largest = this.#largest.get(mixtureOf(first));
    if (!largest || keyOf(firstOf(largest)) !== keyOf(firstOf(first))) return [];
    return [{ ...first, kernel: "expert pairs", density }];
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
   * The tile of a product of experts. Errors: GpuError if there is none.
   *
   * @param density average number of pairs that share an expert
   * @param cols pairs in a tile
   */
  expertTile(shape: ExpertsShape, density: number, cols: number): Tile {
    const kernel = { ...shape, kernel: "experts", density: measuredNumber(density), cols } as const;
    return this.#tuned(kernel, () => expertTiles(this.#device, kernel)) ??
      expertTile(this.#device, shape, cols);
  }

  /**
   * Pairs in a tile of a mixture's products. Errors: GpuError if there is no such tile.
   *
   * @param density average number of pairs that share an expert
   */
  pairColumns(mixture: Mixture, density: number): number {
    const largest = this.#largest.get(mixtureOf(mixture));
    if (this.#chosen.size > 0 && largest) {
      const of = { ...largest, kernel: "expert pairs", density: measuredNumber(density) } as const;
      const name = this.chosen(of);
      const cols = pairColumnsNear(this.#device, density).find((cols) =>
        columnsName(cols) === name
      );
      if (cols !== undefined) return cols;
    }
    return pairColumns(this.#device, density);
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

/** A mixture of experts: how many there are, and how many of them a token has. */
export type Mixture = Pick<ExpertsCase, "experts" | "topK">;

function mixtureOf({ experts, topK }: Mixture): string {
  return `${topK} of ${experts}`;
}

function weightsOf({ sides, rows, columns }: ExpertsShape): number {
  return sides * rows * columns;
}

/** The kernel by which a product of experts is noted. */
function firstOf(shape: ExpertsShape): ExpertsCase {
  return { ...shape, kernel: "experts", density: 1, cols: 1 };
}

/** The number that the class of a number is timed with. */
function measuredNumber(number: number): number {
  return TOKEN_CLASSES[tokenClass(number)]!.measured;
}

// The variants of a product: one for each class of token counts, bound once for each tile, and bound
// again when tuning has chosen another tile.

/** A product bound with one tile: a dispatch per part of the matrix. */
export interface Variant {
  readonly tile: Tile;
  readonly dispatches: readonly Dispatch[];
}

/** Makes the variants of a product. */
export interface VariantMaker {
  /** A version, which changes when choose() may give another result. Missing: it never does. */
  version?(): number;
  choose(tokens: number): Tile;
  bind(tile: Tile): readonly Dispatch[];
}

/** The variants of a product: one for each class of token counts, bound once for each tile. */
export class Variants {
  readonly #maker: VariantMaker;
  readonly #byTile = new Map<string, Variant>();
  #byClass: Variant[] = [];
  #version: number | undefined;

  constructor(maker: VariantMaker) {
    this.#maker = maker;
  }

  for(tokens: number): Variant {
    const version = this.#maker.version?.();
    if (version !== this.#version) {
      this.#byClass = [];
      this.#version = version;
    }
    return this.#byClass[tokenClass(tokens)] ??= this.#make(tokens);
  }

  /** Binds those for up to `most` tokens, from `least` on. */
  prepare(most: number, least = 1): void {
    for (const tokens of tokenClasses(most)) if (tokens >= least) this.for(tokens);
  }

  #make(tokens: number): Variant {
    const tile = this.#maker.choose(tokens);
    const name = tileName(tile);
    let variant = this.#byTile.get(name);
    if (!variant) this.#byTile.set(name, variant = { tile, dispatches: this.#maker.bind(tile) });
    return variant;
  }
}
