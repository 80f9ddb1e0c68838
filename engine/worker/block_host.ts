// The client's side of the blocks that leave a model's KV cache. The blocks of a thread go into the
// client's store, which outlives the thread; a process keeps them itself, and the client's store counts
// them. What goes wrong is passed on as a warning.

import { type BlockStoreOptions, MemoryStore, MirrorHost } from "../block_store/mod.ts";
import type { BlockKeeping, ModelHost, ToClient } from "./protocol.ts";

/** The client's side of a model's blocks. Dispose of it when the model is closed. */
export class BlockHost implements Disposable {
  readonly #options: BlockStoreOptions;
  readonly #mirror: MirrorHost | undefined;

  constructor(host: ModelHost, options: BlockStoreOptions = {}) {
    this.#options = options;
    const { memory } = options;
    this.#mirror = memory instanceof MemoryStore
      ? new MirrorHost(memory, (message) => host.send({ kind: "blocks", message }))
      : undefined;
  }

  /** Where the worker keeps blocks. */
  get keeping(): BlockKeeping {
    const { disk, digests } = this.#options;
    return {
      ...(this.#mirror && { memory: "client" }),
      ...(disk && { disk }),
      ...(digests !== undefined && { digests }),
    };
  }

  /** Handles the messages about blocks, and ignores all others. */
  receive(message: ToClient): void {
    if (message.kind === "blocks") this.#mirror?.receive(message.message);
    if (message.kind === "warning") this.#options.warn?.(message.text);
  }

  [Symbol.dispose](): void {
    this.#mirror?.[Symbol.dispose]();
  }
}
