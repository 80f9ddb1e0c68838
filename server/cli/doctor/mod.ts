// The doctor: looks at all that Quern needs of a machine, one section after the other. It changes
// nothing, except that it writes a file into the store's folder and removes it at once.

import type { CliDependencies } from "../dependencies.ts";
import { proofOptions, readSettings } from "../../settings/settings.ts";
import { examineCloud, examineEnvironment, examineProgram } from "./program.ts";
import { examineDevice } from "./device.ts";
import { examineMemory } from "./memory.ts";
import { examineServer } from "./running_server.ts";
import { examineStore } from "./store.ts";
import type { Machine, Section } from "./types.ts";

export { driverVersion } from "./driver.ts";
export { examineKernels, proveDevice } from "./kernels.ts";
export { formatSection, formatTodos, type Look } from "./format.ts";
export { localMachine, type Machine } from "./types.ts";
export { type Finding, type Mark, type Section, type Todo, worst } from "./types.ts";

/** The sections, each as soon as it is ready, because the first look at a GPU takes a while. */
export async function* examine(
  { environment, fetch, inspect, memory, device }: CliDependencies,
  machine: Machine,
): AsyncGenerator<Section> {
  const settings = readSettings(environment);
  const { models, gpuMemory: total, gpuOverhead: overhead } = settings;
  const { host, freeBytes } = machine;
  yield await examineProgram(host);
  if (device) {
    const examine = () => device.examine(proofOptions(settings));
    yield await examineDevice(examine, { host, environment });
  }
  const server = await examineServer(fetch, settings, machine);
  if (memory) {
    const budget = await memory.budget({ overhead, ...(total !== undefined && { total }) });
    yield examineMemory(budget, server.loaded);
  }
  yield await examineStore(models, { inspect, freeBytes });
  yield server.section;
  yield examineEnvironment(environment);
  yield await examineCloud(fetch, settings);
}
