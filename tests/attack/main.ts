// The attack set: what hostile clients, files and disks do to a server, area by area. Counts crashes,
// hangs, wrong answers, statuses 500, slow answers of /health and pauses of another client's stream.
//
//   --seed N      the draws; the same seed makes the same cases. Default: 17
//   --minutes N   how long it may take; less than 20 is a share of it. Default: 20
//   --only A,B    areas by name
//   --case TEXT   cases whose names have this text
//   --patience N  factor on all limits of time, for a machine that is busy with other work. Default: 1

import { parseArgs } from "node:util";
import { Draws } from "../engine/grammar/fuzz/draws.ts";
import { areas } from "./areas/mod.ts";
import { writeModels } from "./models.ts";
import { Runner } from "./runner.ts";
import { Server } from "./server.ts";
import { printTable, say, totalOf } from "./table.ts";
import type { World } from "./trial.ts";

/** Minutes of the whole set. */
const WHOLE = 20;
/**
 * Fraction of the time that is reserved for starting, and for cases that continue after the end.
 */
const RESERVE = 0.12;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "17" },
    minutes: { type: "string", default: String(WHOLE) },
    only: { type: "string" },
    case: { type: "string" },
    patience: { type: "string", default: "1" },
  },
});
const seed = Number(values.seed);
const minutes = Number(values.minutes);
const patience = Number(values.patience);
if (![seed, minutes, patience].every((number) => Number.isFinite(number) && number >= 0)) {
  throw new RangeError("Cannot attack: --seed, --minutes and --patience are numbers");
}
const chosen = areas.filter(({ name }) => !values.only || values.only.split(",").includes(name));
if (chosen.length === 0) {
  throw new RangeError(`Cannot attack: areas are ${areas.map(({ name }) => name).join(", ")}`);
}

const scratch = await Deno.makeTempDir({ prefix: "quern-attack-" });
globalThis.addEventListener("unload", () => {
  Server.killAll();
  Deno.removeSync(scratch, { recursive: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => Deno.exit(1));
}
const begun = performance.now();
const share = Math.min(1, minutes / WHOLE);
const whole = chosen.reduce((sum, { weight }) => sum + weight, 0);
const folder = await writeModels();
const runner = await Runner.create(folder, patience);
try {
  await runner.warmUp();
  let left = minutes * 60_000 * (1 - RESERVE);
  let weights = whole;
  for (const { name, weight, cases } of chosen) {
    const start = performance.now();
    const deadline = start + left * weight / weights;
    const draws = new Draws(seed);
    const count = (all: number) => Math.max(1, Math.round(all * share));
    const world: World = { draws, seed, folder, scratch, share, count };
    // Each seed has an order of its own, so that a part is a sample of the whole.
    const order = shuffle(await cases(world), draws)
      .filter((one) => !values.case || one.name.includes(values.case));
    await runner.runArea(name, order, deadline);
    left -= performance.now() - start;
    weights -= weight;
  }
} finally {
  await runner.close();
}

say(`\nseed ${seed}, ${((performance.now() - begun) / 60_000).toFixed(1)} minutes\n`);
printTable(runner.results);
const { passed, failed } = totalOf(runner.results);
say(`${passed} passed, ${failed} failed`);
Deno.exit(failed === 0 ? 0 : 1);

function shuffle<T>(items: T[], draws: Draws): T[] {
  const order = [...items];
  for (let i = order.length - 1; i > 0; i--) {
    const other = draws.below(i + 1);
    [order[i], order[other]] = [order[other]!, order[i]!];
  }
  return order;
}
