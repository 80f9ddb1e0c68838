// The ways to compute a kernel that are worth timing on a device: the default, which comes first, and
// those near it.

import type { AttentionCase, ExpertPairsCase, ExpertsCase, ProductCase } from "../tuning.ts";
import {
  canHaveColumns,
  chooseTile,
  columnsOf,
  isStaged,
  type LinearTile,
  MATRICES,
  MOST_COLS,
  pairColumns,
  STAGED,
  type Tile,
  type TileDevice,
  tileFault,
  tileName,
  type TileUse,
} from "./tile.ts";

/** Most sums that an invocation of a tile keeps: with more, registers spill. */
const MOST_SUMS = 32;
/** Most sums on a driver that runs on the CPU: with more, LLVM compiles for a long time. */
const MOST_SUMS_SOFTWARE = 8;

const WORKGROUPS = [64, 128, 256];
const MOST_INVOCATIONS = 256;

/** Tiles for a product, the default one first. Errors: GpuError if there is none. */
export function productTiles(device: TileDevice, product: Omit<ProductCase, "kernel">): Tile[] {
  const { tokens } = product;
  const { software } = device.capabilities;
  const usual = chooseTile(device, tokens, product);
  // If the default is a staged tile, the tiles of teams are those near the default for fewer tokens.
  const base = isStaged(usual) ? chooseTile(device, 8, product) : usual;
  const near = isStaged(base) ? [] : tilesNear(device, base, tokens, product);
  // Up to MOST_COLS tokens, one tile of teams has all of them, and may have to finish a norm.
  if (tokens > MOST_COLS && !software) near.push(MATRICES, STAGED);
  return runnable(device, [usual, ...near], product);
}

/** Numbers of pairs in a tile. */
const PAIR_COLUMNS = [2, 4, 8, 64];

/** Numbers of pairs in a tile, where so many pairs share an expert on average; the default one first. */
export function pairColumnsNear(device: TileDevice, density: number): number[] {
  const usual = pairColumns(device, density);
  const at = PAIR_COLUMNS.indexOf(usual);
  // Pairs of few tokens, which are not grouped, are tiles of their own.
  if (at < 0) return [usual];
  const near = [PAIR_COLUMNS[at - 1], PAIR_COLUMNS[at + 1]].filter((cols) => cols !== undefined);
  return [usual, ...near.filter((cols) => canHaveColumns(device, cols))];
}

/** A name for a number of pairs in a tile. */
export function columnsName(cols: number): string {
  return `tiles of ${cols}`;
}

/** The default tile of experts' products for tiles of so many pairs. Errors: GpuError if there is none. */
export function expertTile(device: TileDevice, use: TileUse, cols: number): Tile {
  return chooseTile(device, cols, { ...use, cols });
}

/**
 * Tiles for the products of experts, the default one first: all of the width that the tiles of pairs
 * have. Errors: GpuError if there is none.
 */
export function expertTiles(device: TileDevice, product: Omit<ExpertsCase, "kernel">): Tile[] {
  const { cols } = product;
  const usual = expertTile(device, product, cols);
  const near: Tile[] = isStaged(usual)
    ? [MATRICES, STAGED]
    : tilesNear(device, usual, cols, product);
  return runnable(device, [usual, ...near.filter((tile) => columnsOf(tile) === cols)], product);
}

/**
 * The ways to compute a product of experts by their names, the default one first, and the tile of each.
 * Errors: GpuError if there is none.
 */
export function expertWays(
  device: TileDevice,
  kernel: ExpertsCase | ExpertPairsCase,
): Map<string, Tile> {
  return new Map(
    kernel.kernel === "experts"
      ? expertTiles(device, kernel).map((tile) => [tileName(tile), tile])
      : pairColumnsNear(device, kernel.density).map((cols) => [
        columnsName(cols),
        expertTile(device, kernel, cols),
      ]),
  );
}

/** Tiles of teams that differ from one in a number or two. */
function tilesNear(
  device: TileDevice,
  base: LinearTile,
  tokens: number,
  { quantized }: TileUse,
): Tile[] {
  const { software } = device.capabilities;
  const near: Tile[] = [base];
  for (const factor of [0.5, 2]) {
    near.push({ ...base, rows: base.rows * factor });
    if (!software) near.push(...narrowed(base, factor));
    if (tokens > 1) near.push({ ...base, cols: base.cols * factor });
  }
  if (!software && !quantized) {
    for (const workgroup of WORKGROUPS) near.push({ ...base, workgroup });
    near.push({ ...base, lanes: 1, workgroup: 64 });
  }
  // All lanes on one row suit long rows; teams with fewer lanes suit short ones.
  if (tokens > 1) near.push({ ...base, cols: 1 }, { ...base, rows: base.rows / 2, cols: 4 });
  return near;
}

/** Those of some tiles that a device can run and that fit into its registers, each once; the first is kept. */
function runnable(device: TileDevice, [usual, ...near]: [Tile, ...Tile[]], use: TileUse): Tile[] {
  const most = device.capabilities.software ? MOST_SUMS_SOFTWARE : MOST_SUMS;
  const names = new Set<string>([tileName(usual)]);
  return [
    usual,
    ...near.filter((tile) => {
      const name = tileName(tile);
      if (names.has(name) || tileFault(device, tile, use) !== undefined) return false;
      names.add(name);
      if (isStaged(tile)) return true;
      return tile.rows * tile.cols * use.sides <= most && tile.workgroup <= MOST_INVOCATIONS;
    }),
  ];
}

/** A tile with more or fewer lanes for each row, and as many teams or lanes in a workgroup as before. */
function narrowed(base: LinearTile, factor: number): LinearTile[] {
  const lanes = base.lanes * factor;
  const teams = base.workgroup / base.lanes;
  return [{ ...base, lanes }, { ...base, lanes, workgroup: lanes * teams }];
}

/** How a workgroup reads the cache. */
export interface AttentionWay {
  readonly name: string;
  /** Factor of the length of splits that the tiling gives. */
  readonly stretch: number;
  /** Most loads of keys, and of values, that an invocation has under way at a time. */
  readonly loads: number;
  /** Whether a load has two quads of halves, if that is possible. */
  readonly wide: boolean;
}

/** Fewest positions of a split in decode: more if workgroups are expensive. */
const SPLIT = 64;
const SPLIT_SOFTWARE = 1024;

/** Loads at a time by default. */
const LOADS = 8;

/** Positions of a split in decode by default. */
export function usualSplit({ capabilities }: TileDevice): number {
  return capabilities.software ? SPLIT_SOFTWARE : SPLIT;
}

/** Ways to compute attention, the default one first. */
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
