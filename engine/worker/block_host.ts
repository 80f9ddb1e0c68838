// What a model's client does for the blocks that leave the model's KV cache: it keeps those of a thread
// in the store that outlives the thread, and passes on what went wrong.

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

  /** What the worker is told. */
  get keeping(): BlockKeeping {
    const { memory, disk } = this.#options;
    return {
      ...(memory instanceof MemoryStore && { memoryBytes: memory.limit }),
      isMirrored: this.#mirror !== undefined,
      ...(disk && { disk }),
    };
  }

  /** Takes what concerns it of what the worker says. */
  receive(message: ToClient): void {
    if (message.kind === "blocks") this.#mirror?.receive(message.message);
    if (message.kind === "warning") this.#options.warn?.(message.text);
  }

  [Symbol.dispose](): void {
    this.#mirror?.[Symbol.dispose]();
  }
}
