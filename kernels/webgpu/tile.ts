// The tiles of matrix products: the work of an invocation and a workgroup of linear.wgsl or
// matmul.wgsl, what a tile demands of a device, and the choice of the best one. tileFault() checks
// a tile before a kernel is bound with it.

import type { Capabilities } from "../device.ts";
import { GpuError } from "../errors.ts";
import { GROUP, ROW_PADDING } from "../ops/activation.ts";
import {
  MATRIX_WORKGROUP,
  matrixBytes,
  matrixSize,
  type SubgroupMatrices,
} from "./subgroup_matrices.ts";

/** Work per invocation and workgroup of linear.wgsl. */
export interface LinearTile {
  /** Rows of each side per team. */
  readonly rows: number;
  /** Tokens per team: 1, 2, 4 or 8. */
  readonly cols: number;
  /** Invocations that share the columns of a row: a team. */
  readonly lanes: number;
  /** Invocations per workgroup: whole teams. */
  readonly workgroup: number;
}

/** A tile of 64 rows by 64 tokens in workgroup memory: matmul.wgsl. */
export const STAGED = "staged";

/** A tile of 64 rows by 64 tokens in subgroup matrices: matmul_matrices.wgsl. */
export const MATRICES = "matrices";

/** How a product is tiled. */
export type Tile = LinearTile | typeof STAGED | typeof MATRICES;

/** Whether the tile is one of 64 rows by 64 tokens in workgroup memory. */
export function isStaged(tile: Tile): tile is typeof STAGED | typeof MATRICES {
  return tile === STAGED || tile === MATRICES;
}

/** The properties of a product on which its tiles depend. */
export interface TileUse {
  /** 2 for a pair of matrices. */
  readonly sides: 1 | 2;
  /** Whether it reads int8 groups. */
  readonly integer: boolean;
  /** Whether it writes int8 groups or sums of squares, each of 32 outputs of one workgroup. */
  readonly quantized: boolean;
}

/** The device, as far as tiles depend on it. */
export interface TileDevice {
  readonly capabilities: Capabilities;
  readonly limits: GPUSupportedLimits;
  readonly matrices?: SubgroupMatrices;
}

/** Rows of all sides, and tokens, of a staged tile. */
const STAGED_SIZE = 64;

const STAGED_WORKGROUP = 256;

/** Tokens from which a staged tile is worthwhile, although a part of it is idle. */
const STAGED_TOKENS = 33;

/** Tokens of the widest tile of teams. */
export const MOST_COLS = 8;

/** Most invocations of a workgroup. With more, registers run short. */
const MOST_INVOCATIONS = 256;

/** Most sums that an invocation keeps in registers. With more, GPUs keep some in memory. */
const MOST_SUMS = 16;

/** Most bytes of workgroup memory. With more, a GPU runs too few teams at a time. */
const MOST_TEAM_BYTES = 20 * 1024;

/** Bytes of a lane's weights that linear.wgsl loads at once of float formats. */
const BYTES_AT_ONCE = 128;

/** Most quads of a row in that. With more, GPUs hold the activations for all of them. */
const MOST_QUADS = 4;

/** Token counts with the same best tile: what a product has one variant for. */
interface TokenClass {
  /** The greatest of them. */
  readonly most: number;
  /** The one that tiles are timed with. */
  readonly measured: number;
}

/** All classes, those of few tokens first. */
export const TOKEN_CLASSES: readonly TokenClass[] = [
  { most: 1, measured: 1 },
  { most: 2, measured: 2 },
  { most: 4, measured: 4 },
  { most: MOST_COLS, measured: MOST_COLS },
  { most: STAGED_TOKENS - 1, measured: 16 },
  { most: Infinity, measured: 256 },
];

/** The number of the class of a token count. */
export function tokenClass(tokens: number): number {
  return TOKEN_CLASSES.findIndex(({ most }) => tokens <= most);
}

/** One token count of each class, up to that of `most`. */
export function tokenClasses(most: number): number[] {
  const classes = TOKEN_CLASSES.slice(0, tokenClass(most) + 1);
  return classes.map((one) => Math.min(one.most, most));
}

/** A name that identifies the tile. */
export function tileName(tile: Tile): string {
  if (isStaged(tile)) return tile;
  return `${tile.rows}x${tile.cols}, ${tile.lanes} of ${tile.workgroup}`;
}

/** Rows of each side that one workgroup of a tile makes. */
export function rowsOf(tile: Tile, { sides }: { sides: 1 | 2 }): number {
  return isStaged(tile) ? STAGED_SIZE / sides : tile.rows * tile.workgroup / tile.lanes;
}

/** Tokens in a tile. */
export function columnsOf(tile: Tile): number {
  return isStaged(tile) ? STAGED_SIZE : tile.cols;
}

/** Buffers of a staged tile: two if they fit, so that one is filled while the other is multiplied. */
export function stagedBuffers({ limits }: TileDevice, use: TileUse): 1 | 2 {
  // Two buffers of floats, each with half a group, are as large as one of whole groups.
  const needed = resultBytes(STAGED, use) + 2 * stagedBytes(use);
  return use.integer && needed > limits.maxComputeWorkgroupStorageSize ? 1 : 2;
}

/**
 * Bytes of a buffer of a staged tile, for w and x: a group of codes and a vector of scales, or half a
 * group of floats.
 */
function stagedBytes({ integer }: TileUse): number {
  return 2 * STAGED_SIZE * (integer ? GROUP + 16 : GROUP / 2 * 4);
}

/** Bytes of the results of a workgroup that are quantized before they are written. */
function resultBytes(tile: Tile, use: TileUse): number {
  return use.quantized ? columnsOf(tile) * rowsOf(tile, use) * 4 : 0;
}

/** Quads of a row that a lane of a team loads at once: of formats of floats. */
export function quadsAtOnce(
  { rows }: LinearTile,
  { blockBytes, blockSize }: { blockBytes: number; blockSize: number },
  sides: 1 | 2,
): number {
  const quadBytes = 4 * blockBytes / blockSize;
  return Math.min(MOST_QUADS, Math.max(1, Math.floor(BYTES_AT_ONCE / (quadBytes * rows * sides))));
}

/** Whether the lanes of a team are a subgroup, which sums without workgroup memory. */
export function usesSubgroups({ lanes }: LinearTile, { capabilities }: TileDevice): boolean {
  return lanes > 1 && lanes === capabilities.subgroupSize;
}

/**
 * Lanes of a team, a power of two, that sum by shuffles. The rest is summed in workgroup memory.
 */
export function shuffledLanes(tile: LinearTile, { capabilities }: TileDevice): number {
  const { leastSubgroup, software } = capabilities;
  if (software || leastSubgroup < 2) return 1;
  // Teams of a power of two begin at a multiple of their size within a subgroup.
  let lanes = 1;
  while (2 * lanes <= leastSubgroup && tile.lanes % (2 * lanes) === 0) lanes *= 2;
  return lanes;
}

/** Bytes of workgroup memory of the kernel with this tile. */
export function workgroupBytes(device: TileDevice, tile: Tile, use: TileUse): number {
  if (tile === MATRICES) return matrixBytes(matrixSize(device.matrices!, use)!);
  const results = resultBytes(tile, use);
  if (tile === STAGED) return results + stagedBuffers(device, use) * stagedBytes(use);
  const shuffled = shuffledLanes(tile, device);
  const shared = tile.lanes > shuffled && !usesSubgroups(tile, device);
  if (!shared) return results;
  const sums = use.sides * tile.rows * tile.cols * tile.workgroup;
  const squares = tile.cols * tile.lanes; // of a norm that is left to this product
  return results + (sums + squares) / shuffled * 4;
}

/** Why a device cannot run a product with a tile; undefined if it can. */
export function tileFault(device: TileDevice, tile: Tile, use: TileUse): string | undefined {
  const { limits } = device;
  if (tile === MATRICES && !(device.matrices && matrixSize(device.matrices, use))) {
    return "the device has no subgroup matrices for it";
  }
  const { workgroup, lanes, rows, cols } = isStaged(tile)
    ? {
      workgroup: tile === STAGED ? STAGED_WORKGROUP : MATRIX_WORKGROUP,
      lanes: 1,
      rows: 1,
      cols: 1,
    }
    : tile;
  const counts = [workgroup, lanes, rows, cols];
  if (!counts.every((count) => Number.isInteger(count) && count > 0)) {
    return `its numbers are no counts: ${counts.join(", ")}`;
  }
  if (ROW_PADDING % cols !== 0) return `${cols} tokens do not divide the padding of activations`;
  if (workgroup % lanes !== 0) return `${workgroup} invocations are no whole teams of ${lanes}`;
  const most = Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  if (workgroup > most) return `it wants ${workgroup} invocations, the device has ${most}`;
  const outputs = rowsOf(tile, use);
  if (use.quantized && outputs % GROUP !== 0) {
    return `${outputs} outputs of a workgroup are no whole int8 groups of ${GROUP}`;
  }
  const bytes = workgroupBytes(device, tile, use);
  const room = limits.maxComputeWorkgroupStorageSize;
  if (bytes > room) return `it wants ${bytes} bytes of workgroup memory, the device has ${room}`;
}

/**
 * The best tile for a number of tokens that the device can run.
 * @param cols columns of the tile, if these are already determined
 * @throws GpuError if there is none
 */
export function chooseTile(
  device: TileDevice,
  tokens: number,
  use: TileUse & { cols?: number },
): Tile {
  for (const tile of candidates(device, tokens, use)) {
    const fits = use.cols === undefined || columnsOf(tile) === use.cols;
    if (fits && tileFault(device, tile, use) === undefined) return tile;
  }
  throw new GpuError(`Cannot tile a product of ${tokens} tokens: ${JSON.stringify(use)}`);
}

/** The most demanding product of a mixture of experts. */
const MOST_DEMANDING = { sides: 2, integer: false, quantized: true } as const;

/**
 * Pairs in a tile of experts' products, where so many pairs share an expert on average. All products of
 * a mixture share the tiles, so it is a number that the most demanding of them can have.
 */
export function pairColumns(device: TileDevice, density: number): number {
  return columnsOf(chooseTile(device, density, MOST_DEMANDING));
}

/** Whether every product of a mixture has a tile of so many pairs. */
export function canHaveColumns(device: TileDevice, cols: number): boolean {
  for (const tile of candidates(device, cols, MOST_DEMANDING)) {
    if (columnsOf(tile) === cols && !tileFault(device, tile, MOST_DEMANDING)) return true;
  }
  return false;
}

/** Tiles for a number of tokens, best first. */
function* candidates(device: TileDevice, tokens: number, use: TileUse): Generator<Tile> {
  const cols = tokens <= 1 ? 1 : tokens <= 2 ? 2 : tokens <= 4 ? 4 : 8;
  const { software, subgroupSize } = device.capabilities;
  if (software) {
    // No barriers and no idle lanes: each invocation has whole rows. Wider tiles run up to 1.5
    // times faster, but LLVM compiles them for tens of seconds. Two tokens use two tiles of one,
    // because a tile of two is hardly faster and every load would compile it.
    const isSingle = tokens <= 2;
    const rows = isSingle ? 2 : (use.integer ? 4 : 2) / use.sides;
    yield { rows, cols: isSingle ? 1 : 4, lanes: 1, workgroup: GROUP / rows };
    return;
  }
  if (tokens >= STAGED_TOKENS) yield* [MATRICES, STAGED] as const;
  // Fewer lanes if those of a subgroup demand too much of the device. A row is still read in
  // neighbouring pieces.
  const rows = Math.min(4, MOST_SUMS / (cols * use.sides));
  for (let lanes = subgroupSize || 32; lanes >= 1; lanes = Math.floor(lanes / 2)) {
    const workgroup = use.quantized ? lanes * GROUP / rows : Math.max(64, lanes);
    const tile = { rows, cols, lanes, workgroup };
    if (workgroup > MOST_INVOCATIONS) continue;
    if (workgroupBytes(device, tile, use) <= MOST_TEAM_BYTES) yield tile;
  }
}
