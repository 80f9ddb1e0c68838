// A model that a manager loads, keeps and closes: its state between the first request and its end.

import { type FittedLoad, totalOf } from "../memory/mod.ts";
import type { ModelSource, StoreEntry } from "../store/types.ts";
import type { ChatModel, LoadProgress } from "../types.ts";
import type { AskedLoad } from "./types.ts";

/** A model that is loading, loaded or closing. */
export class ManagedModel {
  /** Set by whoever starts the load, right after this is made. */
  ready!: Promise<ChatModel>;
  model?: ChatModel;
  /** Options and memory of the load; undefined before they are known, and where memory is not estimated. */
  fitted?: FittedLoad;
  /** Of a load under way. */
  progress?: LoadProgress;
  users = 0;
  cancelTimer?: () => void;
  closing?: Promise<void>;

  constructor(
    /** What was last asked for. */
    public entry: StoreEntry,
    readonly key: string,
    readonly asked: AskedLoad,
    public keepAlive: number,
    public lastUsed: number,
  ) {}

  /** Bytes that it takes of the device that models are on, or will. */
  get bytes(): number {
    const { model, fitted } = this;
    return model ? totalOf(model.memory) - this.systemBytes : fitted?.bytes ?? 0;
  }

  /** Bytes that it takes of the system beside a GPU, or will. */
  get systemBytes(): number {
    const { model, fitted } = this;
    return model && fitted?.estimate.layout ? model.memory.onCpu ?? 0 : fitted?.systemBytes ?? 0;
  }

  /** Whether it is in memory and nobody uses it. */
  get isIdle(): boolean {
    return this.model !== undefined && this.users === 0 && !this.closing;
  }
}

/** A key for each source: all names of the same files are one load. */
export function keyOf(source: ModelSource): string {
  return source.kind === "files"
    ? JSON.stringify([source.path, source.projector, ...source.adapters])
    : JSON.stringify([source.host, source.model]);
}
