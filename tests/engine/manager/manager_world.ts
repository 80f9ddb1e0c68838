// What the tests of the manager share: a clock that only moves when told to, and a manager over models
// that are fake.

import { ModelNotFoundError } from "../../../engine/errors.ts";
import {
  type Clock,
  type ManagerOptions,
  ModelManager,
  type OpenOptions,
} from "../../../engine/manager/mod.ts";
import type { ModelSource, StoreEntry } from "../../../engine/store/mod.ts";
import type { ChatModel } from "../../../engine/types/mod.ts";
import { fakeInfo, FakeModel } from "../../server/fake_model.ts";

/** Time that passes by advance() only. */
export class FakeClock implements Clock {
  #now = 1_000_000;
  #timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }

  schedule(callback: () => void, milliseconds: number): () => void {
    const timer = { at: this.#now + milliseconds, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Lets time pass, and what it sets off happen. */
  async advance(milliseconds: number): Promise<void> {
    this.#now += milliseconds;
    for (const timer of this.#timers) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.callback();
    }
    await settle();
  }
}

/** Lets everything run that waits for nothing but promises. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** A manager under test and what can be watched of it. */
export interface World {
  manager: ModelManager;
  clock: FakeClock;
  opened: { path: string; options: OpenOptions; model: FakeModel }[];
  names(): string[];
  /** The stamps of files, by path; those that are not set have none. */
  stamps: Map<string, string>;
}

/** Builds a manager with models of one letter; `z` is remote. */
export function createWorld(
  options: Partial<ManagerOptions> = {},
  open: (model: FakeModel, path: string) => Promise<ChatModel> = (model) => Promise.resolve(model),
): World {
  const clock = new FakeClock();
  const opened: World["opened"] = [];
  const stamps: World["stamps"] = new Map();
  const find = (name: string): Promise<StoreEntry> => {
    if (!/^[a-zA-Z]$/.test(name)) return Promise.reject(new ModelNotFoundError(name));
    const source: ModelSource = name === "z"
      ? { kind: "remote", host: "http://far", model: "z" }
      : { kind: "files", path: pathOf(name), adapters: [] };
    const defaults = { parameters: {}, messages: [], license: [] };
    const modified = new Date(0);
    const stamp = stamps.get(pathOf(name));
    const facts = { name, size: 1, modified, info: fakeInfo, source, defaults };
    return Promise.resolve({ ...facts, ...(stamp !== undefined && { stamp }) });
  };
  const manager = new ModelManager({
    store: { find },
    open(source, loadOptions) {
      const { contextLength } = loadOptions;
      const path = source.kind === "files" ? source.path : source.host;
      const model = new FakeModel(contextLength === undefined ? {} : { contextLength });
      opened.push({ path, options: loadOptions, model });
      return open(model, path);
    },
    clock,
    ...options,
  });
  const names = () => manager.running().map(({ entry }) => entry.name).sort();
  return { manager, clock, opened, names, stamps };
}

/** Borrows a model for a moment. */
export async function use(manager: ModelManager, name: string, options = {}): Promise<void> {
  const lease = await manager.acquire(name, options);
  lease.release();
}

/** Copies share a file: A is one of a. */
function pathOf(name: string): string {
  return `/models/${name.toLowerCase()}.gguf`;
}
