// Machines of which there is none here, for simulation.ts.

import { SMOLLM2_135M } from "../synthetic_model.ts";
import { type Machine, Simulation, type Step } from "./simulation.ts";
import { decodeOutput } from "./steps.ts";

/** A machine of equal cores, whose work takes 5 % longer or shorter by chance. */
export function equalCores(threads: number): Machine {
  return { speeds: Array(threads).fill(1), jitter: 0.05 };
}

/** Machines by the names of their cores. */
export const MACHINES: Readonly<Record<string, Machine>> = {
  ...Object.fromEntries([1, 2, 8, 16, 64].map((threads) => [String(threads), equalCores(threads)])),
  "8 and 16 slow": { speeds: [...Array(8).fill(1), ...Array(16).fill(0.5)], jitter: 0.05 },
  "2 sockets of 32": { ...equalCores(64), secondSocket: 32 },
};

/** Steps after which the threads of a simulation know their speeds. */
const LEARNING = 160;

/** A simulation whose threads have their shares by steps that they have done. */
export function learned(simulation: Simulation): Simulation {
  if (new Set(simulation.machine.speeds).size === 1) return simulation;
  const step = decodeOutput(SMOLLM2_135M);
  for (let turn = 0; turn < LEARNING; turn++) simulation.run(step);
  return simulation;
}

/** Nanoseconds of a phase without work. */
export function barrierOf(threads: number): number {
  const phases = 4;
  const step: Step = Array.from({ length: phases }, () => [{ items: 0, cost: 0 }]);
  return new Simulation(equalCores(threads)).run(step).time / phases;
}
