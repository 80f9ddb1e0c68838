// Look-ups by token or position in plain TypeScript, for tables without kernels: rows of f32 that a
// step made. See kernels/ops/embed.ts.

import type { FloatRows } from "../../ops/activation.ts";
import { type EmbedOptions, IMAGE_TOKEN, type StepRows } from "../../ops/embed.ts";
import { STEP_ROW } from "../../ops/step_records.ts";
import type { FloatTable } from "../matrix.ts";
import { cpu } from "../memory.ts";

/** x[row] = scale * table[token or position of row], of rows that are resolved. */
export function embed(
  table: FloatTable,
  step: StepRows,
  x: FloatRows,
  { scale = 1, by = "step", accumulate = false, standIn = false }: EmbedOptions,
) {
  const rows = cpu(step.rows).words;
  const field = STEP_ROW.word[by === "position" ? "position" : "token"];
  const to = cpu(x.floats).floats;
  return (count: number) => {
    for (let row = 0; row < count; row++) {
      let wanted = rows[STEP_ROW.words * row + field];
      if (standIn && wanted >= IMAGE_TOKEN) wanted = 0;
      const number = wanted - table.firstRow;
      if (number < 0 || number >= table.rows) continue;
      const values = table.floatRow(number);
      const at = row * x.stride;
      if (!accumulate) to.fill(0, at + table.columns, at + x.stride);
      for (let k = 0; k < table.columns; k++) {
        to[at + k] = accumulate ? to[at + k] + scale * values[k] : scale * values[k];
      }
    }
  };
}
