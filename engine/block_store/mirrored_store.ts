// A store of blocks in memory, for models in other threads. The model's thread mirrors which of its
// blocks the store has, sends what it adds and uses, and is told what was dropped. Blocks are sent
// as shared memory, so nothing is copied.

import type { BlockViewer, MemoryStore } from "./memory_store.ts";
import type { BlockMemory, BlockStore, StoredBlock } from "./types.ts";

/** Messages from the model's thread to the store. */
export type ToStore =
  | { kind: "open"; model: string }
  | { kind: "put"; name: string; block: StoredBlock }
  | { kind: "touch"; names: readonly string[] };

/** Messages from the store to the model's thread. */
export type FromStore =
  | { kind: "there"; blocks: readonly (readonly [name: string, block: StoredBlock])[] }
  | { kind: "dropped"; names: readonly string[] };

/** The model's side of the store. */
export class MirroredStore implements BlockStore {
  readonly #send: (message: ToStore) => void;
  readonly #blocks = new Map<string, StoredBlock>();

  /** @param send sends a message to the store's side */
  constructor(send: (message: ToStore) => void) {
    this.#send = send;
  }

  /** Handles a message from the store's side. */
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

/** The store's side of one mirror. To be disposed of when the model is closed. */
export class MirrorHost implements BlockViewer, Disposable {
  readonly #store: MemoryStore;
  readonly #send: (message: FromStore) => void;
  #model: string | undefined;
  #watch: Disposable | undefined;

  /** @param send sends a message to the model's side */
  constructor(store: MemoryStore, send: (message: FromStore) => void) {
    this.#store = store;
    this.#send = send;
  }

  /** Handles a message from the model's side. */
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
