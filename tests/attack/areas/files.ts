// GGUF files with single faults, cut off, and with wrong bytes: each is refused by name, or runs as
// before, or gives numbers; none ends the process that loads it or exhausts its memory.

import { SMALL_MODELS, writeSmallModel } from "../../engine/create/small_models.ts";
import { Draws } from "../../engine/grammar/fuzz/draws.ts";
import {
  type FaultyFile,
  metadataFaults,
  mutation,
  readSound,
  type SoundFile,
  tensorFaults,
  truncation,
} from "../files/faults.ts";
import { FileLoader, type Loaded } from "../files/loader.ts";
import { writeSmallest } from "../models.ts";
import { type Area, type Case, INSIDE, recordsOf, type Trial, type World } from "../trial.ts";

const MUTATIONS = 1000;
const TRUNCATIONS = 120;
/** Number of faults of tensors, and as many of metadata. */
const SINGLE_FAULTS = 160;
/** Files that one case loads. */
const BATCH = 20;
/** Faulty files that a server finds in its folder. */
const SERVED = 60;
/** Difference of logits between files that differ only in padding, names or order. */
const TOLERANCE = 1e-4;

async function soundFiles({ scratch }: World): Promise<SoundFile[]> {
  const path = `${scratch}/sound.gguf`;
  await writeSmallest(path);
  const others = SMALL_MODELS.filter(({ hasBiases }) => !hasBiases);
  return [
    await readSound(path),
    ...await Promise.all(others.map(async (model) => readSound(await writeSmallModel(model)))),
  ];
}

function areEqual(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length &&
    one.every((value, i) => Math.abs(value - other[i]!) <= TOLERANCE * (1 + Math.abs(other[i]!)));
}

function judge(trial: Trial, { name, due }: FaultyFile, loaded: Loaded, sound: readonly number[]) {
  const { end, error, logits, isFinite } = loaded;
  if (end) return trial.fault(end.kind, `${name}: ${end.text}`);
  if (error) {
    const { seconds } = error;
    if (trial.isLate(seconds)) {
      trial.fault("hang", `${name}: refused after ${seconds.toFixed(1)} s`);
    }
    const isClear = error.isKnown && !INSIDE.test(error.message.replace(/"[^"]*"/g, ""));
    return trial.check(isClear, () => `${name}: ${error.name}: ${error.message}`);
  }
  if (due === "refused") return trial.fault("wrong", `${name}: it loads and answers`);
  if (due === "refused or equal") {
    return trial.check(areEqual(logits!, sound), () => `${name}: it loads, with other logits`);
  }
  trial.check(isFinite!, () => `${name}: it answers, though its logits are no numbers`);
}

/** Loads files in two processes at a time; most of a load is the work of one core. */
class Judge {
  readonly #folder: string;
  readonly #lanes = [new FileLoader(), new FileLoader()];
  /** Logits of the files without faults. */
  readonly #expected = new Map<SoundFile, readonly number[]>();

  constructor(folder: string) {
    this.#folder = folder;
    globalThis.addEventListener("unload", () => {
      for (const lane of this.#lanes) void lane[Symbol.asyncDispose]();
    });
  }

  /** Loads and judges all. */
  async judgeAll(trial: Trial, files: readonly [FaultyFile, SoundFile][]): Promise<void> {
    for (const [, sound] of files) await this.#expect(sound);
    const rest = files.values();
    await Promise.all(this.#lanes.map(async (lane, number) => {
      const path = `${this.#folder}/faulty-${number}.gguf`;
      for (const [file, sound] of rest) {
        await file.write(path);
        judge(trial, file, await lane.load(path), this.#expected.get(sound)!);
      }
    }));
  }

  async #expect(sound: SoundFile): Promise<void> {
    if (this.#expected.has(sound)) return;
    const { architecture, bytes } = sound;
    const path = `${this.#folder}/sound-${architecture}.gguf`;
    await Deno.writeFile(path, bytes);
    const { logits, error, end } = await this.#lanes[0]!.load(path);
    if (!logits) throw new Error(`the sound ${architecture} fails: ${error?.message ?? end?.text}`);
    this.#expected.set(sound, logits);
  }
}

function batches(name: string, files: readonly [FaultyFile, SoundFile][], by: Judge): Case[] {
  const count = Math.ceil(files.length / BATCH);
  return Array.from({ length: count }, (_, index): Case => ({
    name: `${name}, files ${index * BATCH} and following`,
    isUnwatched: true,
    async run(trial) {
      const batch = files.slice(index * BATCH, (index + 1) * BATCH);
      await by.judgeAll(trial, batch);
      return batch.length;
    },
  }));
}

/** A faulty file that a server has among its models. */
function served(file: FaultyFile, { folder }: World): Case {
  return {
    name: `served: ${file.name}`,
    async run(trial) {
      const path = `${folder}/faulty.gguf`;
      await file.write(path);
      try {
        const tags = await trial.ask({ path: "/api/tags" });
        trial.check(tags.text.includes("quern:tiny"), () => `/api/tags: ${tags.text}`);
        await trial.ask({ path: "/api/show", body: { model: "faulty" } });
        const options = { num_predict: 2, num_ctx: 64 };
        const body = { model: "faulty", prompt: "ab", stream: false, options, keep_alive: 0 };
        // An almost valid file may need new kernels, which have to be compiled.
        const answer = await trial.ask({ path: "/api/generate", body, seconds: 60 });
        const { status, text, seconds } = answer;
        const isRefused = status === 0 || (status >= 400 && status <= 500);
        if (isRefused && trial.isLate(seconds)) trial.fault("hang", `refused after ${seconds} s`);
        if (file.due === "refused") trial.check(isRefused, () => `${status} ${text}`);
        else trial.check(isRefused || recordsOf(text).at(-1)?.done === true, () => text);
      } finally {
        await Deno.remove(path);
      }
    },
  };
}

/** Entries of the models' folder that are not files. */
function oddEntries({ folder }: World): Case[] {
  const odd = (name: string, make: (path: string) => Promise<unknown>): Case => ({
    name: `${name} among the models`,
    async run(trial) {
      const path = `${folder}/odd.gguf`;
      await make(path);
      try {
        const { status } = await trial.ask({ path: "/api/tags" });
        trial.check(status === 200, () => `/api/tags: ${status}`);
        await trial.ask({ path: "/api/show", body: { model: "odd" } });
        await trial.ask({ path: "/api/generate", body: { model: "odd", prompt: "x" } });
      } finally {
        await Deno.remove(path, { recursive: true });
      }
    },
  });
  const fifo = async (path: string) => {
    await new Deno.Command("mkfifo", { args: [path] }).output();
  };
  return [
    odd("a folder", (path) => Deno.mkdir(path)),
    odd("a FIFO", fifo),
    odd("a link to a FIFO", async (path) => {
      await fifo(`${folder}/fifo`).catch(() => {});
      await Deno.symlink(`${folder}/fifo`, path);
    }),
    odd("a link to itself", (path) => Deno.symlink(path, path)),
    odd("a link to nothing", (path) => Deno.symlink(`${folder}/nothing`, path)),
    odd("a link to a device", (path) => Deno.symlink("/dev/zero", path)),
    odd("an empty file", (path) => Deno.writeFile(path, new Uint8Array())),
    odd("a file of zeros that is large", async (path) => {
      using file = await Deno.create(path);
      await file.truncate(2 ** 36);
    }),
  ];
}

/** Files. */
export const files: Area = {
  name: "files",
  weight: 8,
  async cases(world) {
    const { draws, seed, count } = world;
    const sounds = await soundFiles(world);
    const some = <T>(items: T[], number: number) =>
      Array.from({ length: Math.min(number, items.length) }, () => {
        return items.splice(draws.below(items.length), 1)[0]!;
      });
    const with_ = (make: (sound: SoundFile) => FaultyFile[]) =>
      sounds.flatMap((sound) => make(sound).map((file): [FaultyFile, SoundFile] => [file, sound]));
    const tensors = some(with_(tensorFaults), count(SINGLE_FAULTS));
    const metadata = some(with_(metadataFaults), count(SINGLE_FAULTS));
    const drawn = (number: number, make: (sound: SoundFile, index: number) => FaultyFile) =>
      Array.from({ length: count(number) }, (_, index): [FaultyFile, SoundFile] => {
        const sound = sounds[index % 3 === 0 ? (index / 3) % sounds.length : 0]!;
        return [make(sound, index), sound];
      });
    const cut = drawn(TRUNCATIONS, (sound) => truncation(sound, draws));
    const mutated = drawn(MUTATIONS, (sound, index) => {
      const own = seed * 10_000 + index;
      return mutation(sound, new Draws(own), `${sound.architecture}: mutation ${own}`);
    });
    const by = new Judge(world.scratch);
    const make = (name: string, list: [FaultyFile, SoundFile][]) => batches(name, list, by);
    const few = [tensors, metadata, cut, mutated].flatMap((list) =>
      list.slice(0, count(SERVED) / 4)
    );
    return [
      ...make("faults of tensors", tensors),
      ...make("faults of metadata", metadata),
      ...make("files cut off", cut),
      ...make("mutations", mutated),
      ...few.map(([file]) => served(file, world)),
      ...oddEntries(world),
    ];
  },
};
