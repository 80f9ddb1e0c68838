// Look-ups in a table in bands, as products have it, in WebAssembly. One item is a row.

import { MEDIA_TOKEN } from "../../ops/embed.ts";
import { STEP_ROW } from "../../ops/step_records.ts";
import { floatWeights } from "../linear/float_kernel.ts";
import { BAND, type CpuFormat, GROUP } from "../formats/mod.ts";
import { addKernel, forItems } from "../kernel.ts";
import type { ProductMemories } from "../linear/tile.ts";
import { clear } from "../vectors.ts";
import { f32, i32, type ModuleBuilder } from "../wasm/mod.ts";

/** The arguments of look-ups; `wanted` is the address of the first row's token or position. */
export const EMBED_ARGUMENTS = [
  ...["weights", "blocks", "rows", "columns", "wanted", "y", "stride", "scale"] as const,
  ...["accumulate", "standIn"] as const,
] as const;

/** Adds `embed(record, first, last)` for rows `first` to `last`. */
export function addEmbed(
  module: ModuleBuilder,
  memories: ProductMemories,
  format: CpuFormat,
): void {
  const { work, panel } = memories;
  const source = floatWeights(format, memories);
  const kernel = { name: "embed", takes: EMBED_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) => {
    const scale = f.let(f32.reinterpret_i32(given.scale));
    const bandBytes = f.let(i32.mul(given.blocks, source.blockBytes));
    forItems(f, first, last, (row) => {
      const number = f.let(work.i32.load(i32.add(given.wanted, i32.mul(row, STEP_ROW.bytes))));
      f.if(i32.and(given.standIn, i32.ge_u(number, MEDIA_TOKEN)), () => f.set(number, 0));
      f.if(i32.lt_u(number, given.rows), () => {
        const band = i32.mul(i32.div_u(number, BAND), bandBytes);
        const from = f.let(i32.add(given.weights, band));
        const end = f.let(i32.add(from, bandBytes));
        const lane = f.let(i32.mul(i32.rem_u(number, BAND), 4));
        const to = f.let(i32.add(given.y, i32.mul(row, given.stride)));
        const rest = f.let(given.columns);
        source.walk(f, from, end, (load) => {
          for (let column = 0; column < GROUP; column++) {
            load(column).forEach((quad, q) =>
              f.do(panel.v128.store(i32.const(0), quad, 4 * BAND * column + 16 * q))
            );
          }
          const at = f.let(lane);
          const groupEnd = f.let(i32.add(lane, 4 * BAND * GROUP));
          f.if(i32.lt_u(rest, GROUP), () => {
            f.set(groupEnd, i32.add(lane, i32.mul(rest, 4 * BAND)));
          });
          f.forUpTo(at, groupEnd, 4 * BAND, () => {
            const value = f.let(f32.mul(panel.f32.load(at), scale));
            f.if(given.accumulate, () => f.set(value, f32.add(value, work.f32.load(to))));
            f.do(work.f32.store(to, value));
            f.increase(to, 4);
          });
          f.set(rest, i32.sub(rest, GROUP));
        });
        f.if(i32.eqz(given.accumulate), () => {
          const next = i32.mul(i32.add(row, 1), given.stride);
          clear(f, work, to, f.let(i32.add(given.y, next)));
        });
      });
    });
  });
}
