// The thread that makes estimates, so that no file, whatever it contains, blocks the thread that
// serves HTTP. It is at one model at a time; its client is worker_estimate.ts. A model's thread, which
// imports this, makes them until it gets its load.

import { threadScope } from "../../host/mod.ts";
import { type ErrorRecord, packError } from "../error_record.ts";
import type { LoadOptions } from "../types/mod.ts";
import type { DeviceProfiles } from "./devices.ts";
import { createEstimate, type Estimate, type FileSource, type MemoryEstimate } from "./estimate.ts";

/** The message to the worker: the files, the devices, and the load options. */
export interface EstimateRequest {
  id: number;
  /** Counts the models that the worker was at: for each one its files are read. */
  turn: number;
  source: FileSource;
  profiles: DeviceProfiles;
  options: Omit<LoadOptions, "onProgress" | "signal">;
}

/** The message from the worker. */
export type EstimateAnswer =
  | { id: number; estimate: MemoryEstimate }
  | { id: number; error: ErrorRecord };

const thread = threadScope();
let current: { turn: number; estimate: Promise<Estimate> } | undefined;

thread.addEventListener("message", (event) => {
  const { data }: MessageEvent<EstimateRequest | { kind: string }> = event;
  if ("turn" in data) void answer(data);
  else current = undefined; // The load, beside which a header would take memory for nothing.
});

async function answer({ id, turn, source, profiles, options }: EstimateRequest): Promise<void> {
  const send = (message: EstimateAnswer) => thread.postMessage(message);
  try {
    if (current?.turn !== turn) current = { turn, estimate: createEstimate(source, profiles) };
    const estimate = await current.estimate;
    send({ id, estimate: await estimate(options) });
  } catch (error) {
    send({ id, error: packError(error) });
  }
}
