// How attention divides its work: query heads and rows among workgroups; queries, keys and the columns
// of values among the invocations of one; and how many loads each of these has under way.

import { GpuError } from "../errors.ts";
import type { CacheTypes, HeadShape } from "../ops/kv_cache.ts";
import type { AttentionWay } from "./candidates.ts";
import type { Gpu } from "./gpu.ts";

/** Positions whose keys are multiplied at a time. */
export const POSITIONS = 64;

/** Invocations that share the softmax of a query, see attention.wgsl. */
export const SOFTMAX_PARTS = 8;

/** Loads that an invocation can have under way at a time: the most that divide what it loads. */
export const UNROLLS = [8, 4, 2, 1] as const;

/**
 * Most products of a key and a query in the text of the loop over keys. With more, compilation
 * takes long.
 */
const MOST_PRODUCTS = 128;
const MOST_PRODUCTS_SOFTWARE = 4;

/** Most products of a key and a query where queries are shared. With more, a GPU keeps queries in registers, which run short. */
const MOST_PRODUCTS_SHARED = 32;

/** Most invocations that share the queries of a tile. */
const MOST_SHARES = 8;

/** Least queries of a share: as many products follow the loading of a key. */
const LEAST_SHARE = 3;

/** Keys of an invocation where queries are shared: each query that it reads is multiplied by all. */
const SHARED_KEYS = 2;

/** Most queries of a workgroup for which an invocation keeps all sums in registers. */
const MOST_SUMS = 8;

/**
 * Most queries (rows times heads) whose vectors, scores and results fit one workgroup. Errors:
 * GpuError if none does.
 */
function mostQueries(device: Gpu, shape: HeadShape): number {
  const { headDim, valueDim = headDim } = shape;
  const available = device.gpu.limits.maxComputeWorkgroupStorageSize;
  const each = headDim * 4 + (POSITIONS + 1) * 4 + 12;
  const fits = Math.floor((available - 2048) / each);
  if (fits < 1) {
    const state = `a query wants ${each} of the device's ${available} bytes of workgroup memory`;
    throw new GpuError(`Cannot attend with heads of ${headDim}: ${state}`);
  }
  const results = 32 * POSITIONS; // vec4 of output, in registers
  return Math.max(1, Math.min(32, fits, Math.floor(results / (valueDim / 4))));
}

/** Query heads of a KV head that one workgroup handles: all, or an equal part if there are many. */
export function chunkOf(device: Gpu, shape: HeadShape): { chunk: number; chunks: number } {
  const group = shape.heads / shape.kvHeads;
  const chunks = Math.ceil(group / mostQueries(device, shape));
  return { chunk: Math.ceil(group / chunks), chunks };
}

/** Most rows per tile whose queries and scores fit the workgroup memory: one to eight. */
export function mostTileRows(device: Gpu, shape: HeadShape): number {
  const { chunk } = chunkOf(device, shape);
  const registers = device.capabilities.software ? 12 : 32; // accumulators that stay in registers
  const queries = Math.min(registers, mostQueries(device, shape));
  return Math.max(1, Math.min(8, Math.floor(queries / chunk)));
}

/**
 * Invocations that share the queries of a tile, in equal parts. On a CPU they would only wait for each
 * other.
 */
function sharesOf({ capabilities }: Gpu, queries: number): number {
  if (capabilities.software || queries <= MOST_SUMS) return 1;
  let shares = Math.min(MOST_SHARES, Math.floor(queries / LEAST_SHARE));
  while (queries % shares !== 0) shares--;
  return shares;
}

/**
 * How the invocations of a workgroup divide keys and values, and how many loads each has in flight.
 */
export function shares(
  device: Gpu,
  { headDim, valueDim, types, queries }: {
    headDim: number;
    valueDim: number;
    types: CacheTypes;
    queries: number;
  },
  way: AttentionWay,
) {
  const { software } = device.capabilities;
  // More columns per load mean fewer lanes and more teams, which are too many for the queries of a
  // small tile.
  const half = types.keys === "f16" && types.values === "f16";
  const isWide = way.wide && half && headDim % 8 === 0 && valueDim % 8 === 0;
  const each = isWide ? 2 : 1;
  const valueLoads = valueDim / 4 / each;
  const sharing = sharesOf(device, queries);
  const keys = sharing > 1 ? SHARED_KEYS : 1;
  const workgroup = POSITIONS / keys * sharing;
  const lanes = Math.min(workgroup, valueLoads);
  const teams = Math.floor(workgroup / lanes);
  const columns = Math.ceil(valueLoads / workgroup);
  // The teams' sums are added in the memory of the queries. A driver on the CPU has few registers.
  const positionTeams = !software && teams > 1 && queries <= MOST_SUMS && valueDim <= headDim;
  const items = positionTeams ? queries : Math.ceil(queries / teams);
  const keyLoads = headDim / 4 / each;
  const products = software ? MOST_PRODUCTS_SOFTWARE : MOST_PRODUCTS;
  const unroll = (count: number, queries: number, bound = products) => {
    const most = Math.min(Math.floor(bound / (each * queries)), way.loads);
    return UNROLLS.find((loads) => count % loads === 0 && loads <= most) ?? 1;
  };
  return {
    WORKGROUP: workgroup,
    SHARES: sharing,
    KEYS: keys,
    SHARE_QUERIES: queries / sharing,
    WIDE: isWide,
    EACH: each,
    LANES: lanes,
    ROWS: teams,
    POSITION_TEAMS: positionTeams,
    QUERY_ROWS: positionTeams ? 1 : teams,
    ITEMS: items,
    COLUMNS: columns,
    KEY_UNROLL: sharing > 1
      ? unroll(keyLoads, keys * queries / sharing, MOST_PRODUCTS_SHARED)
      : unroll(keyLoads, queries),
    VALUE_UNROLL: unroll(
      positionTeams ? 2 ** Math.floor(Math.log2(POSITIONS / teams)) : POSITIONS,
      sharing > 1 ? items : queries,
    ),
  };
}
