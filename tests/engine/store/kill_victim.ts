// A program that changes a store without end, to be killed by crash_test.ts: it says on standard
// output what it is about to do and when it is done. With a number of changes it ends by itself, and
// cleans up in between, for processes_test.ts. Arguments: FOLDER SEED [CHANGES].

import { ModelNotFoundError } from "../../../engine/errors.ts";
import { type Layer, MEDIA, ModelName, ModelStore } from "../../../engine/store/mod.ts";
import { fakeInfo } from "../../server/fake_model.ts";

/** What a change makes of a name: the digest of its weights, or nothing. */
export interface Change {
  name: string;
  weights?: string;
}

const NAMES = ["a", "b:1", "b:2", "user/c", "hf.co/user/d:Q4", "localhost:5000/e"];
const WEIGHTS = 6;
const BLOCK = 1 << 16;

/** Numbers below 1 that look random and are the same for a seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Victim {
  readonly #random: () => number;
  readonly #store: ModelStore;

  constructor(folder: string, seed: number) {
    this.#random = createRandom(seed);
    this.#store = new ModelStore({ folder, inspect: () => Promise.resolve(fakeInfo) });
  }

  async change(cleanUp: boolean): Promise<void> {
    const kind = this.#random();
    try {
      if (kind < 0.4) await this.#write();
      else if (kind < 0.6) await this.#copy();
      else if (kind < 0.9 || !cleanUp) await this.#remove();
      else await this.#store.prune({ graceMilliseconds: 0 });
    } catch (error) {
      // Another process may have removed the model.
      if (!(error instanceof ModelNotFoundError)) throw error;
    }
  }

  async #write(): Promise<void> {
    const name = this.#name();
    const { digest: weights } = await this.#store.protect(async () => {
      const layers = [
        await this.#put(MEDIA.model, this.#weights()),
        await this.#put(
          MEDIA.system,
          new TextEncoder().encode(`Be ${this.#pick(["brief", "kind"])}.`),
        ),
      ];
      const config = await this.#put(MEDIA.config, new TextEncoder().encode("{}"));
      say({ name, weights: layers[0]!.digest });
      const { manifest: mediaType } = MEDIA;
      const manifest = { schemaVersion: 2, mediaType, config, layers } as const;
      await this.#store.writeManifest(ModelName.parse(name), { ...manifest, layers: [...layers] });
      return layers[0]!;
    });
    say({ name, weights }, true);
  }

  async #copy(): Promise<void> {
    const [from, name] = [this.#name(), this.#name()];
    const manifest = await this.#store.readManifest(ModelName.parse(from));
    const weights = manifest?.layers[0]?.digest;
    if (!weights) return;
    say({ name, weights });
    await this.#store.copy(from, name);
    say({ name, weights }, true);
  }

  async #remove(): Promise<void> {
    const name = this.#name();
    say({ name });
    await this.#store.remove(name);
    say({ name }, true);
  }

  async #put(mediaType: string, bytes: Uint8Array): Promise<Layer> {
    const half = bytes.length >> 1;
    const stream = ReadableStream.from([bytes.subarray(0, half), bytes.subarray(half)]);
    const { digest, size } = await this.#store.blobs.put(stream);
    return { mediaType, digest, size };
  }

  #weights(): Uint8Array {
    const number = Math.floor(this.#random() * WEIGHTS);
    return new Uint8Array(BLOCK * (1 + number)).fill(number);
  }

  #name(): string {
    return this.#pick(NAMES);
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }
}

/** Tells of a change that begins, or is done. */
function say(change: Change, done = false): void {
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ change, done }) + "\n"));
}

if (import.meta.main) {
  const [folder = "", seed, count = "Infinity"] = Deno.args;
  const victim = new Victim(folder, Number(seed));
  for (let i = 0; i < Number(count); i++) await victim.change(count !== "Infinity");
}
