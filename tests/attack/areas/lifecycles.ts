// Servers that are killed, stopped, and started beside each other on one store, during changes: a
// model is complete or missing, and the next start removes what a crash has left.

import { Draws } from "../../engine/grammar/fuzz/draws.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { Server } from "../server.ts";
import { examineStore, StoreClient, Supplies } from "../store.ts";
import { type Area, type Case, Trial, type World } from "../trial.ts";

const KILLS = 60;
/** Kills in one case, whose servers share a store. */
const KILLS_PER_CASE = 5;
/** Longest that a server lives until it is killed. In milliseconds. */
const LIFE = 1500;
/** How long a server may take to look after its store when it has started. In milliseconds. */
const CLEAN_MILLISECONDS = 5000;
const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

/** Changes a store in several ways at once until the server has gone. */
async function changeUntilEnd(clients: StoreClient[], server: Server): Promise<void> {
  await Promise.all(clients.map(async (client) => {
    while (!server.ended) await client.change().catch(() => {});
  }));
}

/**
 * Checks that the store has no broken model and, some time after a start, no blob without a model.
 */
async function assertWhole(trial: Trial, folder: string, when: string): Promise<string[]> {
  const end = performance.now() + CLEAN_MILLISECONDS;
  let state = await examineStore(folder);
  while (state.orphans.length > 0 && performance.now() < end) {
    await wait(100);
    state = await examineStore(folder);
  }
  trial.check(state.broken.length === 0, () => `${when}: broken: ${state.broken.join("; ")}`);
  trial.check(state.orphans.length === 0, () => `${when}: nobody's: ${state.orphans.join(", ")}`);
  return state.models;
}

/** Checks that every model of the store runs. */
async function assertRunning(trial: Trial, client: StoreClient, server: Server): Promise<void> {
  const { text } = await trial.ask({ path: "/api/tags", seconds: 10 }, server);
  for (const { name, size } of JSON.parse(text).models as { name: string; size: number }[]) {
    // The pulled model has random bytes, and the one in the box is not in the store.
    if (name.includes("/library/") || name.includes("127.0.0.1") || size > 2e6) continue;
    const answer = await client.talk(name);
    trial.check(answer.status === 200, () => `${name}: ${answer.status} ${answer.text}`);
  }
}

/** An answer of a server that is about to die is neither right nor wrong. */
const unjudged = (server: Server) => new Trial(server, 1);

function kills({ scratch, seed, count }: World): Case[] {
  const cases = Math.max(1, Math.round(count(KILLS) / KILLS_PER_CASE));
  return Array.from({ length: cases }, (_, index): Case => ({
    name: `${KILLS_PER_CASE} kills, ${index}`,
    isUnwatched: true,
    async run(trial) {
      const draws = new Draws(seed * 1000 + index);
      const folder = await Deno.makeTempDir({ dir: scratch, prefix: "killed-" });
      await using supplies = await Supplies.create(scratch);
      for (let kill = 0; kill < KILLS_PER_CASE; kill++) {
        await using server = await Server.start({ folder });
        await assertWhole(trial, folder, `after kill ${kill}, index ${index}`);
        const clients = [0, 1, 2].map(() =>
          new StoreClient(unjudged(server), server, supplies, draws)
        );
        const changing = changeUntilEnd(clients, server);
        await wait(draws.below(LIFE));
        server.kill();
        await changing;
        const { broken } = await examineStore(folder);
        trial.check(broken.length === 0, () => `kill ${kill}: ${broken.join("; ")}`);
      }
      await using server = await Server.start({ folder });
      await assertWhole(trial, folder, "after the last kill");
      const client = new StoreClient(trial, server, supplies, draws);
      await assertRunning(trial, client, server);
      trial.check(await server.stop(), () => `it did not stop in good order: ${server.tail()}`);
      return KILLS_PER_CASE;
    },
  }));
}

function stops({ scratch, seed, count }: World): Case[] {
  return Array.from({ length: count(8) }, (_, index): Case => ({
    name: `a stop in the midst of changes, ${index}`,
    isUnwatched: true,
    async run(trial) {
      const draws = new Draws(seed * 1000 + index + 500);
      const folder = await Deno.makeTempDir({ dir: scratch, prefix: "stopped-" });
      await using supplies = await Supplies.create(scratch);
      await using server = await Server.start({ folder });
      const clients = [0, 1].map(() => new StoreClient(unjudged(server), server, supplies, draws));
      const changing = changeUntilEnd(clients, server);
      await wait(draws.below(LIFE));
      trial.check(await server.stop(), () => `it did not stop in good order: ${server.tail()}`);
      await changing;
      await using next = await Server.start({ folder });
      await assertWhole(trial, folder, "at the next start");
      await assertRunning(trial, new StoreClient(trial, next, supplies, draws), next);
    },
  }));
}

/** Two servers that change one store at the same time, one of which is killed. */
function pairs({ scratch, seed, count }: World): Case[] {
  return Array.from({ length: count(6) }, (_, index): Case => ({
    name: `two servers on one store, ${index}`,
    isUnwatched: true,
    async run(trial) {
      const draws = new Draws(seed * 1000 + index + 900);
      const folder = await Deno.makeTempDir({ dir: scratch, prefix: "shared-" });
      await using supplies = await Supplies.create(scratch);
      await using one = await Server.start({ folder });
      await using other = await Server.start({ folder });
      const changing = [one, other].map((server) =>
        changeUntilEnd([new StoreClient(trial, server, supplies, draws)], server)
      );
      const isKilled = index % 2 === 0;
      // Answers can only be judged of a server that lives on.
      await wait(isKilled ? draws.below(LIFE) : 2 * LIFE);
      const before = trial.faults.length;
      one.kill();
      await changing[0];
      trial.faults.splice(before);
      await wait(300);
      const last = trial.faults.length;
      other.kill();
      await changing[1];
      trial.faults.splice(last);
      await using next = await Server.start({ folder });
      await assertWhole(trial, folder, "at the next start");
      await assertRunning(trial, new StoreClient(trial, next, supplies, draws), next);
    },
  }));
}

/**
 * Ways to take all manifests out of sight, whose place others take, and whether the start has to say
 * so: where there are none to be seen, blobs as young as these need no manifest yet.
 */
const HIDING: [how: string, isTold: boolean, hide: (manifests: string) => Promise<void>][] = [
  ["missing", false, () => Promise.resolve()],
  ["an empty folder", false, (manifests) => Deno.mkdir(manifests)],
  ["a link to a disk that is not mounted", true, (path) => Deno.symlink("/no/such/disk", path)],
  ["a file", true, (path) => Deno.writeTextFile(path, "")],
];

/** Starts of a server whose manifests cannot be seen: no blob may go. */
function sights({ scratch, draws }: World): Case[] {
  return HIDING.map(([how, isTold, hide], index): Case => ({
    name: `a start with manifests that are ${how}`,
    isUnwatched: true,
    async run(trial) {
      const folder = await Deno.makeTempDir({ dir: scratch, prefix: "hidden-" });
      await using supplies = await Supplies.create(scratch);
      {
        await using server = await Server.start({ folder });
        const client = new StoreClient(trial, server, supplies, draws);
        await client.upload();
        await client.create("mine");
        await client.create("other", { system: `${index}` });
        // What lost a manifest is noted, and the hidden ones still need it.
        await client.post("/api/delete", { model: "other" }, "DELETE");
        await server.stop();
      }
      const before = await examineStore(folder);
      await Deno.rename(`${folder}/manifests`, `${folder}/away`);
      await hide(`${folder}/manifests`);
      {
        await using server = await Server.start({ folder });
        await wait(1000);
        const says = server.lines.some((line) => line.includes("was not cleaned up"));
        trial.check(says === isTold, () => `the log should say so, or not: ${server.tail()}`);
      }
      await Deno.remove(`${folder}/manifests`).catch(() => {});
      await Deno.rename(`${folder}/away`, `${folder}/manifests`);
      const after = await examineStore(folder);
      trial.check(after.broken.length === 0, () => `broken: ${after.broken.join("; ")}`);
      trial.check(after.models.length === before.models.length, () => "a model is gone");
      return 3;
    },
  }));
}

/** A model's file that is replaced while the model is loaded, by another of the same size and time. */
function replacements({ scratch }: World): Case {
  return {
    name: "a file that is replaced while its model is loaded",
    isUnwatched: true,
    async run(trial) {
      const folder = await Deno.makeTempDir({ dir: scratch, prefix: "replaced-" });
      const pathOf = (name: string) => `${folder}/${name}.gguf`;
      const time = new Date("2026-01-01");
      for (const seed of [1, 2]) await writeTinyLlama(pathOf(`known${seed}`), { seed });
      await using server = await Server.start({ folder });
      const ask = async (model: string) => {
        const options = { temperature: 0, num_predict: 8 };
        const body = { model, prompt: "abc ".repeat(20), raw: true, stream: false, options };
        const { status, text } = await trial.ask(
          { path: "/api/generate", body, seconds: 20 },
          server,
        );
        trial.check(status === 200, () => `${model}: ${status} ${text}`);
        return status === 200 ? JSON.parse(text).response : "";
      };
      const wanted = [await ask("known1"), await ask("known2")];
      for (const turn of [0, 1, 0, 1]) {
        const part = `${folder}/part`;
        await Deno.copyFile(pathOf(`known${turn + 1}`), part);
        await Deno.utime(part, time, time);
        await Deno.rename(part, pathOf("changing"));
        const said = await ask("changing");
        trial.check(said === wanted[turn], () => `turn ${turn}: ${said}, not ${wanted[turn]}`);
      }
      return 4;
    },
  };
}

/** Lives of servers. */
export const lifecycles: Area = {
  name: "lifecycles",
  weight: 6,
  cases: (world) => [
    ...kills(world),
    ...stops(world),
    ...pairs(world),
    ...sights(world),
    replacements(world),
  ],
};
