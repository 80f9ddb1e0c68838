// The memory for models on this machine and this process's GPU.

import { type BudgetOptions, findBudget, type MemoryBudget } from "./budget.ts";
import { gpuProfile } from "./gpu_profile.ts";
import { thisMachine } from "./machine.ts";

/** How much memory models may take. Reads what drivers say; call it once, before loading anything. */
export async function readMemoryBudget(options: BudgetOptions = {}): Promise<MemoryBudget> {
  const gpu = await gpuProfile().catch(() => undefined);
  return await findBudget(thisMachine, gpu, options);
}
