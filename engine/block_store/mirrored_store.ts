// A store of blocks in memory, as a model in another thread has it: the model's thread mirrors what the
// store has of the model, tells it what it adds and uses, and hears what was dropped. Blocks pass as
// shared memory, so that nothing is copied.

import type { BlockViewer, MemoryStore } from "./memory_store.ts";
import type { BlockMemory, BlockStore, StoredBlock } from "./types.ts";

/** From the model's thread to the store. */
export type ToStore =
  | { kind: "open"; model: string }
  | { kind: "put"; name: string; block: StoredBlock }
  | { kind: "touch"; names: readonly string[] };

/** From the store to the model's thread. */
export type FromStore =
  | { kind: "there"; blocks: readonly (readonly [name: string, block: StoredBlock])[] }
  | { kind: "dropped"; names: readonly string[] };

/** The store on the model's side. */
export class MirroredStore implements BlockStore {
  readonly #send: (message: ToStore) => void;
  readonly #blocks = new Map<string, StoredBlock>();

  /** @param send tells the store's side */
  constructor(send: (message: ToStore) => void) {
    this.#send = send;
  }

  /** Takes what the store's side says. */
  receive(message: FromStore): void {
    if (message.kind === "there") {
      for (const [name, block] of message.blocks) this.#blocks.set(name, block);
    } else {
      for (const name of message.names) this.#blocks.delete(name);
    }
  }

  open(model: string): BlockMemory {
    this.#send({ kind: "open", model });
    return {
      get: (name) => this.#blocks.get(name),
      put: (name, block) => {
        this.#blocks.set(name, block);
        this.#send({ kind: "put", name, block });
      },
      touch: (names) => this.#send({ kind: "touch", names }),
      close: () => this.#blocks.clear(),
    };
  }
}

/** The store's side of one mirror. Dispose of it when the model is closed. */
export class MirrorHost implements BlockViewer, Disposable {
  readonly #store: MemoryStore;
  readonly #send: (message: FromStore) => void;
  #model: string | undefined;
  #watch: Disposable | undefined;

  /** @param send tells the model's side */
  constructor(store: MemoryStore, send: (message: FromStore) => void) {
    this.#store = store;
    this.#send = send;
  }

  /** Takes what the model's side says. */
  receive(message: ToStore): void {
    if (message.kind === "open") {
      this.#model = message.model;
      this.#watch?.[Symbol.dispose]();
      this.#watch = this.#store.watch(message.model, this);
      this.#send({ kind: "there", blocks: this.#store.blocksOf(message.model) });
    } else if (message.kind === "put") {
      this.#store.put(this.#model!, message.name, message.block);
    } else {
      this.#store.touch(message.names);
    }
  }

  dropped(names: readonly string[]): void {
    this.#send({ kind: "dropped", names });
  }

  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]();
  }
}
