// The place of a model on its way into memory, in it, or out of it.

import { type LoadPlan, totalOf } from "../memory/mod.ts";
import type { ModelSource, StoreEntry } from "../store/types.ts";
import type { ChatModel, LoadProgress } from "../types.ts";
import type { AskedLoad } from "./types.ts";

/** What a manager knows of a model. */
export class Slot {
  /** Set by whoever starts the load, right after the slot is made. */
  ready!: Promise<ChatModel>;
  model?: ChatModel;
  /** Of the load; undefined until it is made, and where estimates are not to be had. */
  plan?: LoadPlan;
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
    const { model, plan } = this;
    return model ? totalOf(model.memory) - this.systemBytes : plan?.bytes ?? 0;
  }

  /** Bytes that it takes of the system beside a GPU, or will. */
  get systemBytes(): number {
    const { model, plan } = this;
    return model && plan?.estimate.layout ? model.memory.onCpu ?? 0 : plan?.systemBytes ?? 0;
  }

  /** Whether it is in memory and nobody uses it. */
  get isIdle(): boolean {
    return this.model !== undefined && this.users === 0 && !this.closing;
  }
}

/** What tells sources apart: all names of the same files share a load. */
export function keyOf(source: ModelSource): string {
  return source.kind === "files"
    ? JSON.stringify([source.path, source.projector, ...source.adapters])
    : JSON.stringify([source.host, source.model]);
}
