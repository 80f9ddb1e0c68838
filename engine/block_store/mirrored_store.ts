// A store of blocks in memory, for models in other threads or processes. The model's side mirrors which
// of its blocks the store has, sends what it adds and uses, and is told what was dropped. To and from a
// thread, blocks are sent as shared memory, so nothing is copied. A process keeps the bytes and sends
// their number, so that the limit of the store is that of all its models together.

import { type BlockViewer, MemoryStore, type RemoteShare } from "./memory_store.ts";
import { type BlockMemory, type BlockStore, bytesOf, type StoredBlock } from "./types.ts";

/** Messages from the model's side to the store. "keep": a process has put a block into its memory. */
export type ToStore =
  | { kind: "open"; model: string }
  | { kind: "put"; name: string; block: StoredBlock }
  | { kind: "keep"; name: string; bytes: number }
  | { kind: "touch"; names: readonly string[] };

/** Messages from the store to the model's side. */
export type FromStore =
  | { kind: "there"; blocks: readonly (readonly [name: string, block: StoredBlock])[] }
  | { kind: "dropped"; names: readonly string[] };

/** The side of a model in a thread. */
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

/** A store in a process of its own: how much it keeps is decided by the store on the other side. */
export class RemoteStore extends MemoryStore {
  readonly #send: (message: ToStore) => void;

  /** @param send sends a message to the store's side */
  constructor(send: (message: ToStore) => void) {
    super(Infinity);
    this.#send = send;
  }

  /** Handles a message from the store's side. */
  receive(message: FromStore): void {
    if (message.kind === "dropped") this.drop(message.names);
  }

  override put(model: string, name: string, block: StoredBlock): void {
    super.put(model, name, block);
    this.#send({ kind: "keep", name, bytes: bytesOf(block) });
  }

  override touch(names: readonly string[]): void {
    super.touch(names);
    this.#send({ kind: "touch", names });
  }
}

/** The store's side of one mirror, or of a process's own store. To be disposed of when the model is closed. */
export class MirrorHost implements BlockViewer, Disposable {
  readonly #store: MemoryStore;
  readonly #send: (message: FromStore) => void;
  #model: string | undefined;
  #watch: Disposable | undefined;
  #share: RemoteShare | undefined;
  #isClosed = false;

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
    } else if (message.kind === "keep") {
      if (this.#isClosed) return; // The memory of the process is freed.
      this.#share ??= this.#store.share(this);
      this.#share.put(message.name, message.bytes);
    } else {
      (this.#share ?? this.#store).touch(message.names);
    }
  }

  dropped(names: readonly string[]): void {
    this.#send({ kind: "dropped", names });
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#watch?.[Symbol.dispose]();
    this.#share?.[Symbol.dispose]();
  }
}
