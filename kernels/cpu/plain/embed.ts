// Look-ups by token or position in plain TypeScript, and the beginning of a step, which resolves its
// rows: see kernels/ops/embed.ts.

import type { FloatRows } from "../../ops/activation.ts";
import { type EmbedOptions, IMAGE_TOKEN, type StepRows } from "../../ops/embed.ts";
import type { CpuMatrix } from "../matrix.ts";
import { cpu } from "../memory.ts";
import { floatsOf } from "./rows.ts";

/** x[row] = scale * table[token or position of row]. */
export function embed(
  table: CpuMatrix,
  step: StepRows,
  x: FloatRows,
  { scale = 1, by = "step", accumulate = false, standIn = false }: EmbedOptions,
) {
  const [plan, slots, rows, history] = [step.plan, step.slots, step.rows, step.history]
    .map((buffer) => cpu(buffer).words);
  const to = floatsOf(x);
  const resolve = (row: number) => {
    let [token, position] = plan.subarray(4 * row, 4 * row + 2);
    const [slot, mark] = plan.subarray(4 * row + 2, 4 * row + 4);
    if (mark % 2 === 1) [token, position] = slots.subarray(2 * slot, 2 * slot + 2);
    rows.set([token, position, slot, position - (mark >>> 1)], 4 * row);
    if (position < step.context) history[slot * step.context + position] = token;
  };
  return (count: number) => {
    for (let row = 0; row < count; row++) {
      if (by === "step") resolve(row);
      let wanted = rows[4 * row + (by === "position" ? 1 : 0)];
      if (standIn && wanted >= IMAGE_TOKEN) wanted = 0;
      const number = wanted - table.firstRow;
      if (number < 0 || number >= table.rows) continue;
      const values = table.floatRow(number);
      const at = row * x.stride;
      for (let k = 0; k < table.columns; k++) {
        to[at + k] = accumulate ? to[at + k] + scale * values[k] : scale * values[k];
      }
    }
  };
}
