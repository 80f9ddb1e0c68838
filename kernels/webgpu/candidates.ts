// The ways to compute a kernel that are worth timing on a device: those near what is taken without
// timing, which comes first.

import type { AttentionCase, ProductCase } from "../tuning.ts";
import {
  chooseTile,
  type LinearTile,
  STAGED,
  type Tile,
  type TileDevice,
  tileFault,
  tileName,
} from "./tile.ts";

/** Sums that an invocation of a tile keeps, beyond which registers spill. */
const MOST_SUMS = 32;
/** On a CPU's driver, beyond which LLVM compiles for long. */
const MOST_SUMS_SOFTWARE = 8;

const WORKGROUPS = [64, 128, 256];
const MOST_INVOCATIONS = 256;

/** Tiles for a product, the one that is taken without timing first. Errors: GpuError without any. */
export function productTiles(device: TileDevice, product: Omit<ProductCase, "kernel">): Tile[] {
  const { tokens, sides } = product;
  const usual = chooseTile(device, tokens, product);
  const { software } = device.capabilities;
  const near: Tile[] = [usual];
  // Where the usual tile is the staged one, those of teams are near what fewer tokens get.
  const base = usual === STAGED ? chooseTile(device, 8, product) : usual;
  if (base !== STAGED) {
    near.push(base);
    const factors = [0.5, 2];
    for (const factor of factors) {
      near.push({ ...base, rows: base.rows * factor });
      if (!software) near.push(...narrowed(base, factor));
      if (tokens > 1) near.push({ ...base, cols: base.cols * factor });
    }
    if (!software && !product.quantized) {
      for (const workgroup of WORKGROUPS) near.push({ ...base, workgroup });
      near.push({ ...base, lanes: 1, workgroup: 64 });
    }
    // The whole team on one row, and a row of teams with fewer lanes: what long and short rows want.
    if (tokens > 1) near.push({ ...base, cols: 1 }, { ...base, rows: base.rows / 2, cols: 4 });
  }
  if (tokens > 4 && !software) near.push(STAGED);
  const most = software ? MOST_SUMS_SOFTWARE : MOST_SUMS;
  const names = new Set<string>();
  return near.filter((tile) => {
    const name = tileName(tile);
    if (names.has(name) || tileFault(device, tile, product) !== undefined) return false;
    names.add(name);
    if (tile === usual || tile === STAGED) return true;
    return tile.rows * tile.cols * sides <= most && tile.workgroup <= MOST_INVOCATIONS;
  });
}

/** A tile with more or fewer lanes to a row; a workgroup has as many teams as before, or lanes. */
function narrowed(base: LinearTile, factor: number): LinearTile[] {
  const lanes = base.lanes * factor;
  const teams = base.workgroup / base.lanes;
  return [{ ...base, lanes }, { ...base, lanes, workgroup: lanes * teams }];
}

/** How a workgroup goes through the cache. */
export interface AttentionWay {
  readonly name: string;
  /** How many times as long splits are as the tiling says. */
  readonly stretch: number;
  /** Most loads of keys, and of values, that an invocation has under way at a time. */
  readonly loads: number;
  /** Whether a load is of two quads of halves, where it can be. */
  readonly wide: boolean;
}

/** Positions of a split of attention in decode, at least: more of them where workgroups are dear. */
const SPLIT = 64;
const SPLIT_SOFTWARE = 1024;

/** Loads at a time that are taken without timing. */
const LOADS = 8;

/** Positions of a split in decode that are taken without timing. */
export function usualSplit({ capabilities }: TileDevice): number {
  return capabilities.software ? SPLIT_SOFTWARE : SPLIT;
}

/** Ways to attend, the one that is taken without timing first. */
export function attentionWays(
  device: TileDevice,
  shape: Omit<AttentionCase, "kernel">,
): AttentionWay[] {
  const { software } = device.capabilities;
  const { keys, sharedValues = false } = shape;
  const isHalf = keys === "f16" && (sharedValues || shape.values === "f16");
  const isWide = isHalf && !software;
  const ways = [
    { stretch: 1, loads: LOADS, wide: isWide },
    { stretch: 2, loads: LOADS, wide: isWide },
    { stretch: 4, loads: LOADS, wide: isWide },
    { stretch: 1, loads: LOADS / 2, wide: isWide },
    { stretch: 1, loads: LOADS / 4, wide: isWide },
    { stretch: 2, loads: LOADS / 2, wide: isWide },
    ...(isWide ? [{ stretch: 1, loads: LOADS, wide: false }] : []),
  ];
  return ways.map((way) => {
    const loads = `${way.loads} loads of ${way.wide ? 16 : 8} bytes`;
    return { ...way, name: `splits of ${way.stretch * usualSplit(device)}, ${loads}` };
  });
}
