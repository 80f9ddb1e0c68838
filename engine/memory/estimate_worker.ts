// The thread of estimates: whatever a file says of itself, the thread that serves HTTP does not wait for
// it. One worker is for one model; its client is worker_estimate.ts.

import { type ErrorRecord, packError } from "../error_record.ts";
import type { LoadOptions } from "../types.ts";
import type { DeviceProfiles } from "./gpu_profile.ts";
import { createEstimate, type Estimate, type FileSource, type MemoryEstimate } from "./estimate.ts";

/** To the worker: of which files, on which devices, and how they would be loaded. */
export interface EstimateRequest {
  id: number;
  source: FileSource;
  profiles: DeviceProfiles;
  options: Omit<LoadOptions, "onProgress" | "signal">;
}

/** From the worker. */
export type EstimateAnswer =
  | { id: number; estimate: MemoryEstimate }
  | { id: number; error: ErrorRecord };

/** What is used of a DedicatedWorkerGlobalScope, which not every program that imports us has types of. */
const thread = globalThis as unknown as EventTarget & { postMessage(message: unknown): void };
let estimate: Promise<Estimate> | undefined;

thread.addEventListener("message", (event) => {
  void answer((event as MessageEvent<EstimateRequest>).data);
});

async function answer({ id, source, profiles, options }: EstimateRequest): Promise<void> {
  const send = (message: EstimateAnswer) => thread.postMessage(message);
  try {
    estimate ??= createEstimate(source, profiles);
    send({ id, estimate: await (await estimate)(options) });
  } catch (error) {
    send({ id, error: packError(error) });
  }
}
