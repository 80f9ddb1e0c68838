// Look-ups by token or position, and the beginning of a step, which resolves its rows; see
// kernels/ops/embed.ts. Tables are read from bands, as in products, so that a table that is also
// the output matrix is in memory once.

import type { FloatRows } from "../ops/activation.ts";
import { type EmbedOptions, MEDIA_TOKEN, type StepRows } from "../ops/embed.ts";
import { PLAN_ROW, SLOT_TOKEN, STEP_ROW } from "../ops/step_records.ts";
import { type CpuCore, floatBits } from "./core.ts";
import { EMBED_ARGUMENTS } from "./embed/kernel.ts";
import { blockColumns } from "./formats/mod.ts";
import { keepCalls } from "./kept_calls.ts";
import { inOrder } from "./kernel.ts";
import { type CpuMatrix, type FloatTable, WeightMatrix } from "./matrix.ts";
import { cpu } from "./memory.ts";

/** Resolves the tokens and positions of a step's rows, also from slots, and writes rows and histories. */
function resolveRows({ context, ...buffers }: StepRows, count: number): void {
  const [plan, slots] = [cpu(buffers.plan).words, cpu(buffers.slots).words];
  const [rows, history] = [cpu(buffers.rows).words, cpu(buffers.history).words];
  const [from, to, left] = [PLAN_ROW.word, STEP_ROW.word, SLOT_TOKEN.word];
  for (let row = 0; row < count; row++) {
    const planned = row * PLAN_ROW.words;
    const slot = plan[planned + from.slot];
    const isInSlot = plan[planned + from.inSlot] === 1;
    const last = slot * SLOT_TOKEN.words;
    const token = isInSlot ? slots[last + left.token] : plan[planned + from.token];
    const position = isInSlot ? slots[last + left.position] : plan[planned + from.position];
    const at = row * STEP_ROW.words;
    rows[at + to.token] = token;
    rows[at + to.position] = position;
    rows[at + to.slot] = slot;
    rows[at + to.time] = position - plan[planned + from.timeDelta];
    rows[at + to.height] = position - plan[planned + from.heightDelta];
    rows[at + to.width] = position - plan[planned + from.widthDelta];
    if (position < context) history[slot * context + position] = token;
  }
}

/** x[row] = scale * table[token or position of row]. */
export function embed(
  core: CpuCore,
  table: CpuMatrix,
  step: StepRows,
  x: FloatRows,
  options: EmbedOptions = {},
) {
  const { by = "step" } = options;
  const lookUp = table instanceof WeightMatrix
    ? inKernel(core, table, step, x, options)
    : plainLookUp(core, table, step, x, options);
  return (rows: number) => {
    if (by === "step") {
      core.flush(); // The kernels that sample the tokens of slots.
      core.byHost(() => resolveRows(step, rows));
    }
    lookUp(rows);
  };
}

function plainLookUp(core: CpuCore, ...given: Parameters<typeof plainEmbed>) {
  const run = plainEmbed(...given);
  return (rows: number) => {
    core.flush();
    core.byHost(() => run(rows));
  };
}

/** Looks rows up in bands. */
function inKernel(
  core: CpuCore,
  table: WeightMatrix,
  step: StepRows,
  x: FloatRows,
  { scale = 1, by = "step", accumulate = false, standIn = false }: EmbedOptions,
) {
  const format = table.layout;
  const [side] = table.packed(core);
  const { memory, address } = side!;
  const kernels = core.formatKernels(format, memory);
  const words = inOrder(EMBED_ARGUMENTS, {
    weights: address,
    blocks: Math.ceil(table.columns / blockColumns(format)),
    rows: table.rows,
    columns: table.columns,
    wanted: cpu(step.rows).address + STEP_ROW.byte[by === "position" ? "position" : "token"],
    y: cpu(x.floats).address,
    stride: 4 * x.stride,
    scale: floatBits(scale),
    accumulate: Number(accumulate),
    standIn: Number(standIn),
  });
  return keepCalls(
    core,
    (rows: number) => [[{ kernels, name: "embed", arguments: words, items: rows }]],
  );
}

/** x[row] = scale * table[token or position of row], of rows that are resolved. */
function plainEmbed(
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
      if (standIn && wanted >= MEDIA_TOKEN) wanted = 0;
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
