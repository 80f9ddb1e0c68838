// Leases for routes that give one answer and stream nothing: a model is kept loaded during one call, or
// loaded or unloaded because a request asks for that; and the second attempt after a crash, which streams
// have too (generation.ts). Knows no wire format.

import {
  type AcquireOptions,
  type ChatModel,
  ModelLostError,
  type ModelManager,
} from "../../../engine/mod.ts";
import type { WaitingQueue } from "./queue.ts";

/** The resources of a server that a lease needs. */
export interface LeaseResources {
  manager: Pick<ModelManager, "acquire" | "unload">;
  queue: WaitingQueue;
}

/**
 * Makes an attempt to use a model, and another one, on the model loaded anew, if it has ended by itself
 * before anything came of the first: its worker may have ended long before, and nobody noticed, or its
 * device failed.
 */
export async function withoutCrash<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof ModelLostError)) throw error;
    return await attempt();
  }
}

/** Waits for a lease on the model, runs `use` on it, and releases the lease however that ends. */
export async function withModel<T>(
  resources: LeaseResources,
  model: string,
  options: AcquireOptions,
  use: (model: ChatModel, loadMilliseconds: number) => Promise<T>,
): Promise<T> {
  using _place = resources.queue.enter();
  return await withoutCrash(() => useModel(resources, model, options, use));
}

async function useModel<T>(
  { manager }: LeaseResources,
  model: string,
  options: AcquireOptions,
  use: (model: ChatModel, loadMilliseconds: number) => Promise<T>,
): Promise<T> {
  const lease = await manager.acquire(model, options);
  try {
    return await use(lease.model, lease.loadMilliseconds);
  } catch (error) {
    lease.release(error);
    throw error;
  } finally {
    lease.release();
  }
}

/** A request without anything to answer: loads the model, or with keep-alive 0 unloads it. */
export async function loadOrUnload(
  resources: LeaseResources,
  model: string,
  options: AcquireOptions,
): Promise<"load" | "unload"> {
  if (options.keepAlive !== 0) {
    return await withModel(resources, model, options, () => Promise.resolve("load" as const));
  }
  await resources.manager.unload(model);
  return "unload";
}
