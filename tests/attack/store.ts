// What attacks on stores share: a client that changes a store through a server at random, and a look at
// the store from outside, with no code of the project's own.

import { createHash } from "node:crypto";
import { FakeRegistry } from "../server/registry/fake_registry.ts";
import { digestOf, type SampleModel, sampleModel } from "../server/registry/fixtures.ts";
import type { Draws } from "../engine/grammar/fuzz/draws.ts";
import { writeSmallest } from "./models.ts";
import type { Server } from "./server.ts";
import type { Answer, Trial } from "./trial.ts";

/** Longest that one change of a store may take on a busy machine. In seconds. */
const CHANGE_SECONDS = 20;
const NAMES = ["one", "two:a", "two:b", "user/three"];

/** What is wrong with a store. */
export interface StoreState {
  /** Names of models. */
  models: string[];
  /** Models of which something is missing or wrong. */
  broken: string[];
  /** Blobs that belong to no model, but for parts of pulls, which go on from there. */
  orphans: string[];
}

/** Checks a store: every model must be complete, and every blob belong to a model. */
export async function examineStore(folder: string): Promise<StoreState> {
  const state: StoreState = { models: [], broken: [], orphans: [] };
  const used = new Set<string>();
  for (const path of filesIn(`${folder}/manifests`)) {
    const name = path.slice(`${folder}/manifests/`.length);
    state.models.push(name);
    try {
      const { config, layers } = JSON.parse(await Deno.readTextFile(path));
      for (const { digest, size } of [config, ...layers]) {
        const file = digest.replace(":", "-");
        used.add(file);
        const content = await Deno.readFile(`${folder}/blobs/${file}`);
        const isWhole = content.length === size &&
          `sha256:${createHash("sha256").update(content).digest("hex")}` === digest;
        if (!isWhole) state.broken.push(`${name}: ${digest} is not whole`);
      }
    } catch (error) {
      state.broken.push(`${name}: ${(error as Error).message}`);
    }
  }
  state.orphans = filesIn(`${folder}/blobs`).map((path) => path.slice(`${folder}/blobs/`.length))
    .filter((name) => !used.has(name) && !name.includes("-partial"));
  return state;
}

function filesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
      isDirectory ? filesIn(`${folder}/${name}`) : [`${folder}/${name}`]
    ).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Weights to make models of, and a registry to pull one from. */
export class Supplies implements AsyncDisposable {
  readonly registry: FakeRegistry;
  /** Checks that a model runs. */
  readonly weights: Uint8Array<ArrayBuffer>;
  readonly digest: string;

  private constructor(weights: Uint8Array<ArrayBuffer>, pulled: SampleModel) {
    this.weights = weights;
    this.digest = digestOf(weights);
    this.registry = new FakeRegistry(pulled);
    const pace = { bytes: 20_000, milliseconds: 10 };
    this.registry.misbehave((_, proper) => ({ ...proper, pace }));
  }

  /** @param scratch a folder for files */
  static async create(scratch: string, pulledBytes = 300_000): Promise<Supplies> {
    const path = `${scratch}/supply.gguf`;
    await writeSmallest(path);
    return new Supplies(await Deno.readFile(path), sampleModel(pulledBytes));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.registry[Symbol.asyncDispose]();
  }
}

/** Changes of a store, one at a time, each drawn. */
export class StoreClient {
  readonly #trial: Trial;
  readonly #server: Server;
  readonly #supplies: Supplies;
  readonly #draws: Draws;

  constructor(trial: Trial, server: Server, supplies: Supplies, draws: Draws) {
    this.#trial = trial;
    this.#server = server;
    this.#supplies = supplies;
    this.#draws = draws;
  }

  /** One change, or a look. */
  async change(): Promise<Answer> {
    const draws = this.#draws;
    const [model, other] = [draws.one(NAMES), draws.one(NAMES)];
    switch (draws.below(8)) {
      case 0:
      case 1:
      case 2:
        await this.upload();
        return await this.create(model, draws.oneIn(2) ? {} : { quantize: "Q8_0" });
      case 3:
        return await this.post("/api/create", { model, from: other, system: `${draws.below(9)}` });
      case 4:
        return await this.post("/api/copy", { source: model, destination: other });
      case 5:
        return await this.post("/api/delete", { model }, "DELETE");
      case 6:
        return await this.pull();
      default:
        return await this.talk(model);
    }
  }

  /** Uploads the weights. */
  upload(): Promise<Answer> {
    const { digest, weights } = this.#supplies;
    return this.post(`/api/blobs/${digest}`, weights);
  }

  /** Makes a model of them. */
  create(model: string, more: object = {}): Promise<Answer> {
    const files = { "a.gguf": this.#supplies.digest };
    return this.post("/api/create", { model, files, stream: false, ...more });
  }

  /** Pulls the registry's model. */
  pull(): Promise<Answer> {
    const { name } = this.#supplies.registry;
    return this.post("/api/pull", { model: name, insecure: true, stream: false });
  }

  /** Asks a model for a few tokens. */
  talk(model: string): Promise<Answer> {
    const options = { num_predict: 2, num_ctx: 64, temperature: 0 };
    return this.post("/api/generate", { model, prompt: "ab", raw: true, stream: false, options });
  }

  /** A request that may be cut off by the end of the server. */
  async post(path: string, body: unknown, method = "POST"): Promise<Answer> {
    return await this.#trial.ask({ path, body, method, seconds: CHANGE_SECONDS }, this.#server);
  }
}
