// One tile of a product: some tokens by the eight rows of a band. The sums of a group's products
// are exact integers. Multiplied by the group's scales they become floats, which are added group
// after group, so that every tile gives a token the same bits.

import {
  f32x4,
  type FunctionBuilder,
  i32x4,
  type Local,
  type Memory,
  shuffleLanes,
  type V128,
  v128,
} from "../wasm/mod.ts";
import { accumulate, accumulateInPlace, type TileAddresses, type Totals } from "./bands.ts";
import type { StoredSums } from "./stored_sums.ts";
import { codeBytes } from "../quantize/kernel.ts";
import { type Activations, type DotMethod, SUM_BIAS, sumDots, times } from "../dot_product.ts";
import { GROUP, type PackedFormat, type Quads, STEPS } from "../formats/format.ts";
import { lanes } from "../formats/scales.ts";

/** Memories of products. */
export interface ProductMemories {
  /** Arguments, activations and results. */
  readonly work: Memory;
  readonly weights: Memory;
  /** A thread's own. */
  readonly panel: Memory;
}

/** A format on a machine. */
export interface Product {
  readonly format: PackedFormat;
  readonly method: DotMethod;
  readonly memories: ProductMemories;
}

/** The source of a group's codes and scales, of one band or of several side by side. */
export interface GroupSource {
  /** Number of vectors with a row in each lane. Default 2, those of a band. */
  readonly quads?: number;
  /** Whether sums of products begin with SUM_BIAS. Default false. */
  readonly isBiased?: boolean;
  load(step: number): Quads;
  /** For "turned": masks of negative codes, and the sums of their magnitudes. */
  readonly negative?: { signs(step: number): Quads; sums(half: number): Quads };
  /** The sums of the steps of a half, or of both. */
  readonly sum: typeof sumDots;
  scales(half: number): Quads;
  minimums(half: number): Quads;
}

/** The addresses of a tile's tokens. */
export interface GroupedTile extends TileAddresses {
  /** Whether there are no sums of earlier columns. Default: there never are. */
  readonly isFirst?: Local<"i32">;
  /** Bytes from one group of x to the next, over all tokens. */
  readonly groupStride: Local<"i32">;
}

/** The number one in 16-bit lanes. */
const ONES = Array.from({ length: 16 }, (_, i) => 1 - i % 2);
const ZERO = v128.const(new Uint8Array(16));

/** Loops over groups, and calls its argument for each. */
export type Walk = (body: (group: GroupSource) => void) => void;

/** Adds a tile's code. */
export function addTile(
  f: FunctionBuilder,
  product: Product,
  tile: GroupedTile,
  walk: Walk,
): void {
  accumulate(
    f,
    product.memories.panel,
    tile,
    tile.isFirst,
    (totals) => addGroups(f, product, tile, totals, walk, false),
  );
}

/** Adds the code of a tile whose sums are at constant addresses. */
export function addTileInPlace(
  f: FunctionBuilder,
  product: Product,
  tile: GroupedTile & { readonly isFirst: Local<"i32"> },
  walk: Walk,
): void {
  accumulateInPlace(
    f,
    product.memories.panel,
    tile,
    tile.isFirst,
    (totals) => addGroups(f, product, tile, totals, walk),
  );
}

/** Adds the code of a tile's groups. @param isJoined whether V8 is to join neighbouring vectors */
export function addGroups(
  f: FunctionBuilder,
  product: Product,
  { inputs, groupStride }: Pick<GroupedTile, "inputs" | "groupStride">,
  totals: Totals,
  walk: Walk,
  isJoined = true,
): void {
  walk((group) => {
    const tokens = inputs.map((x) =>
      isJoined || inputs.length === 1
        ? new SpreadTokenGroup(f, product, x)
        : new TokenGroup(product, x)
    );
    addGroup(
      f,
      product,
      group,
      tokens,
      (t, add) => totals[t].forEach((total, quad) => f.set(total, add(total, quad))),
    );
    for (const x of inputs) f.increase(x, groupStride);
  });
}

/** Adds the code of a lone token with groups of any number of bands. */
export function addLoneToken(
  f: FunctionBuilder,
  product: Product,
  x: Local<"i32">,
  group: GroupSource,
  totals: readonly Local<"v128">[],
): void {
  addGroup(
    f,
    product,
    group,
    [new SpreadTokenGroup(f, product, x)],
    (_, add) => totals.forEach((total, quad) => f.set(total, add(total, quad))),
  );
}

/** Adds the code of some tokens with a group, whose sums so far are in memory. */
export function addStagedGroup(
  f: FunctionBuilder,
  product: Product,
  group: GroupSource,
  inputs: readonly Local<"i32">[],
  sums: readonly StoredSums[],
): void {
  const tokens = inputs.map((x) => new SpreadTokenGroup(f, product, x));
  // Stores of both halves to one address would prevent V8 from joining vectors.
  const afterFirstHalf = new Map<number, Local<"v128">[]>();
  addGroup(f, product, group, tokens, (t, add) => {
    const { load, store } = sums[t]!;
    const before = afterFirstHalf.get(t);
    const added = (before ?? load()).map((sum, quad) => f.let(add(sum, quad)));
    if (product.format.scales.halves && !before) afterFirstHalf.set(t, added);
    else store(added);
  });
}

/** Replaces the sums of a token by those that `add` makes of each. */
type AddToSums = (token: number, add: (sum: V128, quad: number) => V128) => void;

/** Adds a group's products to the sums of each token. */
function addGroup(
  f: FunctionBuilder,
  { format, method }: Product,
  group: GroupSource,
  tokens: readonly TokenGroup[],
  addToSums: AddToSums,
): void {
  const { halves, hasMinimum } = format.scales;
  if (hasMinimum && method.kind === "magnitudes") {
    throw new RangeError(`Cannot multiply ${format.source.name}: magnitudes have no sums of codes`);
  }
  const forAll = (sum: V128): Quads => new Array(group.quads ?? 2).fill(f.let(sum));
  const parts = halves ? 2 : 1;
  const steps = STEPS / parts;
  const offset = method.isSigned ? 0 : format.offset;
  const ones = f.constant(ONES);
  const bias = group.isBiased ? lanes(f, Float32Array.of(SUM_BIAS)) : undefined;
  const biased = (sum: V128) => bias ? i32x4.add(sum, bias) : sum;
  const toFloats = (sum: V128) => bias ? f32x4.sub(sum, bias) : f32x4.convert_i32x4_s(sum);
  for (let half = 0; half < parts; half++) {
    const codeSum = (t: number) => tokens[t].codeSum(halves ? half : undefined);
    const sums = group.sum(f, method, {
      tokens,
      first: half * steps,
      end: (half + 1) * steps,
      load: group.load,
      ...(group.negative && { signs: group.negative.signs }),
      // Of magnitudes the sums are of those whose x is negative.
      start: (t) =>
        group.negative
          ? group.negative.sums(half)
          : method.kind === "magnitudes"
          ? forAll(biased(codeSum(t)))
          : offset === 0
          ? forAll(bias ?? ZERO)
          : forAll(biased(times(codeSum(t), offset))),
    }, ones);
    const scales = group.scales(half);
    const minimums = hasMinimum ? group.minimums(half) : undefined;
    tokens.forEach((token, t) => {
      const scale = f.let(token.scale());
      const sum = minimums && f.let(toFloats(biased(codeSum(t))));
      addToSums(t, (total, quad) => {
        const dot = toFloats(sums[t][quad]);
        if (!minimums || !sum) {
          return multiplyAdd(method, f32x4.mul(scales[quad], scale), dot, total);
        }
        const own = multiplyAdd(method, minimums[quad], sum, f32x4.mul(scales[quad], dot));
        return multiplyAdd(method, own, scale, total);
      });
    });
  }
}

/** a * b + c. */
function multiplyAdd(method: DotMethod, a: V128, b: V128, c: V128): V128 {
  return method.isRelaxed ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
}

/** A token's activations in a group; each is copied to all lanes where it is used. */
class TokenGroup implements Activations {
  readonly #memory: Memory;
  readonly #x: Local<"i32">;
  readonly #meta: number;

  constructor({ method, memories }: Product, x: Local<"i32">) {
    this.#memory = memories.work;
    this.#x = x;
    this.#meta = codeBytes(method.isWide);
  }

  step(step: number): V128 {
    return this.#memory.v128.load32_splat(this.#x, 4 * step);
  }

  signs(step: number): V128 {
    return this.#memory.v128.load32_splat(this.#x, GROUP + 4 * step);
  }

  pair(pair: number): V128 {
    return this.#memory.v128.load32_splat(this.#x, 4 * pair);
  }

  wideStep(step: number): V128 {
    return this.#memory.v128.load64_splat(this.#x, 8 * step);
  }

  /** x = scale * code, in every lane. */
  scale(): V128 {
    return this.#memory.v128.load32_splat(this.#x, this.#meta);
  }

  /** Minus the sum of the codes of a half, or of all, in every lane. */
  codeSum(half?: number): V128 {
    return this.#memory.v128.load32_splat(
      this.#x,
      this.#meta + 4 * (half === undefined ? 3 : 1 + half),
    );
  }
}

/**
 * Loads sixteen bytes of the group at once, and copies lanes from there, because a load with a bounds check
 * costs four instructions. For one token, whose tile has free registers, and where V8 joins vectors: there
 * it makes a broadcast from memory of each copy, without a check of its own.
 */
class SpreadTokenGroup extends TokenGroup {
  readonly #f: FunctionBuilder;
  readonly #load: (offset: number) => V128;
  readonly #codes: number;
  readonly #loaded = new Map<number, Local<"v128">>();

  constructor(f: FunctionBuilder, product: Product, x: Local<"i32">) {
    super(product, x);
    this.#f = f;
    this.#codes = codeBytes(product.method.isWide);
    this.#load = (offset) => product.memories.work.v128.load(x, offset);
  }

  override step(step: number): V128 {
    return this.#spread(16 * (step >> 2), new Array(4).fill(step % 4));
  }

  override signs(step: number): V128 {
    return this.#spread(GROUP + 16 * (step >> 2), new Array(4).fill(step % 4));
  }

  override pair(pair: number): V128 {
    return this.step(pair);
  }

  override wideStep(step: number): V128 {
    const lane = 2 * (step % 2);
    return this.#spread(16 * (step >> 1), [lane, lane + 1, lane, lane + 1]);
  }

  override scale(): V128 {
    return this.#spread(this.#codes, [0, 0, 0, 0]);
  }

  override codeSum(half?: number): V128 {
    return this.#spread(this.#codes, new Array(4).fill(half === undefined ? 3 : 1 + half));
  }

  #spread(offset: number, lanes: number[]): V128 {
    let vector = this.#loaded.get(offset);
    if (!vector) this.#loaded.set(offset, vector = this.#f.let(this.#load(offset)));
    return shuffleLanes(vector, vector, lanes);
  }
}
