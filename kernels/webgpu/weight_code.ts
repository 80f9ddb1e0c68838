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

/** Most tokens of a tile of int8 whose sides are multiplied one after the other. */
const MOST_APART = 2;

/** Registers of an invocation for all that it has of x, of its codes and of their products. */
const MOST_REGISTERS = 96;

/**
 * How linear.wgsl reads weights and x. Other kernels take codes less their offset, it takes them as they
 * are stored where that is cheaper: not on a CPU, and with float activations, whose sums it has to
 * compute, for few tokens. With more of these it adds minima to the weights themselves.
 */
export function weightReading(
  format: QuantFormat,
  tile: LinearTile,
  { integer, sides }: TileUse,
  software: boolean,
) {
  const { codeBias, hasMinimum, uniformGroup, partOfRow = false } = format;
  const { cols, lanes } = tile;
  const isAlone = lanes === 1;
  const rows = tile.rows * sides;
  // With the sum of x, which serves all rows.
  const hasTotals = integer || cols < tile.rows;
  const WHOLE_WEIGHTS = hasMinimum && !hasTotals && !software;
  const RAW_CODES = codeBias !== undefined && hasTotals && !software;
  // A pair of few tokens has more codes than x: it takes those of one side at a time. With more tokens
  // it is x of which there is more.
  const SIDES_APART = integer && (software || cols <= MOST_APART);
  // Eight words of codes of a row, and two sums for each token.
  const held = rows * (8 + 2 * cols);
  const AT_ONCE = integer ? 4 : [4, 2].find((n) => held + 4 * n * cols <= MOST_REGISTERS) ?? 1;
  return {
    SOFTWARE: software,
    RAW_CODES,
    WHOLE_WEIGHTS,
    UNSIGNED_CODES: RAW_CODES || hasMinimum,
    NEEDS_TOTAL: (RAW_CODES || hasMinimum) && !WHOLE_WEIGHTS,
    ADD_HALVES: !uniformGroup && !WHOLE_WEIGHTS,
    ADD_GROUPS: uniformGroup && !WHOLE_WEIGHTS,
    SIDES_APART,
    // A multiplication by three for each token takes a GPU long.
    ADDED_PLACE: integer && !SIDES_APART,
    // Quads of x that are loaded together, and how often for half a group.
    AT_ONCE,
    TURNS: 4 / AT_ONCE,
    PART_OF_ROW: partOfRow,
    // A lane that is alone has all quads of a group, so that none are left at the end of a row.
    WHOLE_TURNS: isAlone,
    QUADS: isAlone ? GROUP / 4 : quadsAtOnce(tile, format, sides),
  };
}
