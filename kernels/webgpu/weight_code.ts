// What kernels are told of a weight format: its snippet, the bindings of its planes, and constants.

import groupSource from "./group.wgsl" with { type: "text" };
import { GROUP } from "../ops/activation.ts";
import type { QuantFormat } from "../quants/mod.ts";
import { type LinearTile, quadsAtOnce, type TileUse } from "./tile.ts";

/** Constants that describe a format's snippet to a kernel. */
export function weightConstants(format: QuantFormat): Record<string, boolean | number> {
  return {
    FLOAT_WEIGHTS: format.kind === "float",
    HAS_MINIMUM: format.hasMinimum,
    UNIFORM_GROUP: format.uniformGroup,
    CODE_BIAS: format.codeBias ?? 0,
    RAW_CODES: false,
  };
}

/** Storage buffers of a format: its planes, and its codebook if it has one. */
export function weightBuffers({ planes, codebook }: QuantFormat): number {
  return planes.length + (codebook ? 1 : 0);
}

/** Declarations of a format's planes and codebook from binding 8 on, and its snippet. */
export function weightSnippets(format: QuantFormat, more: readonly string[] = []): string[] {
  const { planes, codebook } = format;
  const tables = codebook ? [...planes, { ...codebook, name: "codebook" }] : planes;
  const bindings = tables.map(({ name, type }, i) =>
    `@group(0) @binding(${8 + i}) var<storage, read> w_${name}: array<${type}>;`
  );
  return [bindings.join("\n"), groupSource, format.snippet, ...more];
}

/**
 * How linear.wgsl reads weights. Other kernels take codes less their offset, it takes them as they are
 * stored where that is cheaper: not on a CPU, and with float activations, whose sums it has to compute,
 * for few tokens.
 */
export function weightReading(
  format: QuantFormat,
  tile: LinearTile,
  { integer, sides }: TileUse,
  software: boolean,
) {
  const { codeBias, hasMinimum, partOfRow = false } = format;
  const isAlone = tile.lanes === 1;
  const RAW_CODES = codeBias !== undefined && !software &&
    (integer || tile.cols <= tile.rows);
  return {
    SOFTWARE: software,
    RAW_CODES,
    UNSIGNED_CODES: RAW_CODES || hasMinimum,
    NEEDS_TOTAL: RAW_CODES || hasMinimum,
    PART_OF_ROW: partOfRow,
    // A lane that is alone has all quads of a group, so that none are left at the end of a row.
    WHOLE_TURNS: isAlone,
    QUADS: isAlone ? GROUP / 4 : quadsAtOnce(tile, format, sides),
  };
}
