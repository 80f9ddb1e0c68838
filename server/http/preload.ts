// The models that a server loads when it starts, and keeps in memory. Until they are there it is not
// ready, so that whoever watches /health/ready sends no request that waits for a load. One that cannot
// be loaded leaves it so: the log says why.

import type { ModelManager } from "../../engine/mod.ts";
import { type Log, messageOf } from "../log.ts";

/** Loads models and tells which are missing. */
export class Preload {
  readonly #missing: Set<string>;

  /** @param names of models, as clients write them */
  constructor(names: readonly string[]) {
    this.#missing = new Set(names);
  }

  /** Those that are not in memory yet. */
  get missing(): readonly string[] {
    return [...this.#missing];
  }

  /** Loads them, one after the other, for ever. Does not fail. */
  async run(manager: Pick<ModelManager, "acquire">, log: Log): Promise<void> {
    for (const name of this.missing) {
      try {
        const lease = await manager.acquire(name, { keepAlive: Infinity });
        lease.release();
        this.#missing.delete(name);
      } catch (error) {
        log.error(`Cannot load "${name}" of QUERN_PRELOAD: ${messageOf(error)}`);
      }
    }
  }
}
