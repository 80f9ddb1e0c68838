// Responses that are kept: ids that lead elsewhere or nowhere, references without number, files that
// were damaged on the disk.

import type { Draws } from "../../engine/grammar/fuzz/draws.ts";
import { cacheOf, Server } from "../server.ts";
import type { Area, Case, Trial, World } from "../trial.ts";
import { hostileText } from "./texts.ts";

const path = "/v1/responses";
const model = "quern:tiny";
const quick = { model, max_output_tokens: 1, temperature: 0 };

/** Keeps a response. Gives its id. */
async function keep(trial: Trial, input: string): Promise<string> {
  const { status, text } = await trial.ask({ path, body: { ...quick, input } });
  trial.check(status === 200, () => `a sound request: ${status} ${text}`);
  return status === 200 ? JSON.parse(text).id : "";
}

function hostileId(draws: Draws, known: string): string {
  const at = draws.below(known.length);
  return draws.one([
    () => known.slice(0, at) + draws.one([..."0fz/%."]) + known.slice(at + 1),
    () => known.slice(0, at),
    () => known.toUpperCase(),
    () => `resp_${"../".repeat(draws.between(1, 20))}etc/passwd`,
    () => `resp_${"0".repeat(48)}`,
    () => `resp_${"f".repeat(48)}`,
    () => `msg_${known.slice(5)}${draws.one(["", "i", "-1", "9".repeat(400)])}`,
    () => hostileText(draws, 3000),
  ])();
}

function idCases({ draws, count }: World): Case[] {
  return Array.from({ length: count(30) }, (_, index): Case => ({
    name: `ids of responses, ${index}`,
    async run(trial) {
      const known = await keep(trial, "Hi");
      if (!known) return;
      const id = hostileId(draws, known);
      // Clients resolve segments that are dots alone; half a surrogate pair cannot be sent.
      const part = encodeURIComponent(id.toWellFormed()).replaceAll(".", "%2E") || "%20";
      const asks = [
        { path: `${path}/${part}` },
        { path: `${path}/${part}/input_items?after=${part}` },
        { path: `${path}/${known}/input_items?after=${part}` },
        { path: `${path}/${known}/input_items?limit=${part}&order=${part}` },
        { path: `${path}/${part}`, method: "DELETE" },
        { path, body: { ...quick, input: [{ type: "item_reference", id }] } },
        { path, body: { ...quick, input: "x", previous_response_id: id || "x" } },
      ];
      for (const ask of asks) {
        const { status, text } = await trial.ask(ask);
        const isRight = id === known || [400, 404].includes(status);
        trial.check(isRight, () => `${ask.method ?? ""} ${ask.path} ${id}: ${status} ${text}`);
      }
      return asks.length;
    },
  }));
}

const references: Case[] = [
  {
    name: "a large item, referred to over and over",
    async run(trial) {
      const id = await keep(trial, "x ".repeat(500));
      const item = { type: "item_reference", id: `msg_${id.slice(5)}i0` };
      const body = { ...quick, input: Array(60_000).fill(item) };
      const { status, text } = await trial.ask({ path, body });
      trial.check(status === 413, () => `${status} ${text}`);
    },
  },
  {
    name: "60,000 items that are not there",
    async run(trial) {
      const input = Array.from({ length: 60_000 }, (_, index) => ({
        id: `msg_${index.toString(16).padStart(48, "0")}0`,
      }));
      const { status, text } = await trial.ask({ path, body: { ...quick, input } });
      trial.check(status === 404, () => `${status} ${text}`);
    },
  },
];

function damageCases({ draws, count, folder }: World): Case[] {
  return Array.from({ length: count(20) }, (_, index): Case => ({
    name: `a damaged file of a response, ${index}`,
    async run(trial) {
      const id = await keep(trial, "Hi");
      const file = `${cacheOf(folder)}/responses/${id.slice(5)}`;
      const bytes = await Deno.readFile(file);
      const at = draws.below(bytes.length);
      if (draws.oneIn(2)) await Deno.truncate(file, at);
      else {
        bytes[at]! ^= draws.between(1, 255);
        await Deno.writeFile(file, bytes);
      }
      const { status, text } = await trial.ask({ path: `${path}/${id}` });
      trial.check(status === 404, () => `byte ${at}: ${status} ${text}`);
    },
  }));
}

/** Files from a time when the clock ran ahead, more of them than are kept: what is new has to stay. */
const ahead: Case = {
  name: "responses of a clock that ran ahead",
  isUnwatched: true,
  async run(trial) {
    const folder = await Deno.makeTempDir();
    try {
      const environment = { QUERN_RESPONSES: "5" };
      await using server = await Server.start({ folder, environment });
      const files = `${cacheOf(folder)}/responses`;
      await Deno.mkdir(files, { recursive: true });
      const nextYear = (Date.now() + 365 * 86_400_000).toString(16).padStart(12, "0");
      for (let index = 0; index < 9; index++) {
        const id = nextYear + index.toString(16).padStart(36, "0");
        await Deno.writeTextFile(`${files}/${id}`, "x".repeat(200));
      }
      for (let count = 0; count < 4; count++) {
        const body = { ...quick, input: `${count}` };
        const kept = await trial.ask({ path, body, seconds: 30 }, server);
        const id = kept.status === 200 ? JSON.parse(kept.text).id : "";
        const { status, text } = await trial.ask({ path: `${path}/${id}` }, server);
        trial.check(status === 200, () => `response ${count}: ${status} ${text}`);
      }
      return 4;
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

/** The area. */
export const responses: Area = {
  name: "responses",
  weight: 1,
  cases: (world) => [...idCases(world), ...references, ...damageCases(world), ahead],
};
