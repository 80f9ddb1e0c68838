// A model borrowed for the length of one call, and loaded or unloaded on request: what routes need
// that give one answer and stream nothing. Knows no wire format.

import type { AcquireOptions, ChatModel, ModelManager } from "../../../engine/mod.ts";
import type { WaitingQueue } from "./queue.ts";

/** What is needed to borrow a model. */
export interface LendingResources {
  manager: Pick<ModelManager, "acquire" | "unload">;
  queue: WaitingQueue;
}

/** Waits for the model, runs `use` on it, and gives it back whichever way that ends. */
export async function withModel<T>(
  { manager, queue }: LendingResources,
  model: string,
  options: AcquireOptions,
  use: (model: ChatModel, loadMilliseconds: number) => Promise<T>,
): Promise<T> {
  using _place = queue.enter();
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
  resources: LendingResources,
  model: string,
  options: AcquireOptions,
): Promise<"load" | "unload"> {
  if (options.keepAlive !== 0) {
    return await withModel(resources, model, options, () => Promise.resolve("load" as const));
  }
  await resources.manager.unload(model);
  return "unload";
}
