// What a pull and a push have in common: a model's name becomes a client of its registry, and the work
// runs under the store's lock while somebody reads its reports.

import type { ModelStore } from "../../engine/mod.ts";
import { type ClientOptions, RegistryClient } from "./client.ts";
import { type FreeBytes, systemFreeBytes } from "./disk_space.ts";
import { RegistryReference } from "./reference.ts";
import { type Outlet, relay, type TransferProgress } from "./transfers.ts";
import { DEFAULT_TUNING, type TransferTuning } from "./tuning.ts";

/** How to pull or push. */
export interface TransferOptions extends ClientOptions {
  /** Allows http, which is then the default, for the registry and all it redirects to. */
  insecure?: boolean;
  /** Ends the transfer; what a pull has downloaded stays for the next one. */
  signal: AbortSignal;
  /** Sizes and times that differ from the defaults. */
  tuning?: Partial<TransferTuning>;
  /** Bytes that can still be written to a folder's disk. Default: what the system says. */
  freeBytes?: FreeBytes;
}

/** The parts that the work is given. */
export interface Transfer {
  store: ModelStore;
  /** Talks to the registry of the model, `client.reference`. */
  client: RegistryClient;
  tuning: TransferTuning;
  freeBytes: FreeBytes;
  outlet: Outlet<TransferProgress>;
  signal: AbortSignal;
}

/**
 * Runs the work, and gives its reports.
 *
 * @param name `[scheme://][host/][namespace/]model[:tag]`
 * @throws {StoreError} if the name is none
 */
export function transfer(
  store: ModelStore,
  name: string,
  options: TransferOptions,
  work: (transfer: Transfer) => Promise<void>,
): AsyncGenerator<TransferProgress> {
  const { insecure = false, freeBytes = systemFreeBytes } = options;
  return relay(async (outlet, signal) => {
    const client = new RegistryClient(new RegistryReference(name, insecure), options);
    const tuning = { ...DEFAULT_TUNING, ...options.tuning };
    await store.protect(() => work({ store, client, tuning, freeBytes, outlet, signal }));
  }, options.signal);
}
