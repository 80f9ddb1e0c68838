// Disks that are full, that fill up, and that are read-only: each change is refused with a sentence
// about the disk, everything else continues, and all is well once the disk has space again.

import { Server } from "../server.ts";
import { examineStore, StoreClient, Supplies } from "../store.ts";
import {
  type Answer,
  type Area,
  type Case,
  type Trial,
  Unavailable,
  type World,
} from "../trial.ts";

/** Bytes of the disk: some models of 110 kB fit, and nothing else. */
const DISK_BYTES = 1_200_000;
/** Bytes to upload and to pull: more than the disk has. */
const TOO_LARGE = 3_000_000;

async function run(...command: string[]): Promise<boolean> {
  const [program = "", ...args] = command;
  try {
    const options = { args, stdout: "null", stderr: "null" } as const;
    return (await new Deno.Command(program, options).output()).success;
  } catch {
    return false;
  }
}

interface Disk {
  folder: string;
  server: Server;
  client: StoreClient;
  supplies: Supplies;
  /** Makes it read-only, or writable again. */
  remount(mode: "ro" | "rw"): Promise<void>;
}

/** Runs a case with a server on a disk of its own. */
async function withDisk(
  { scratch, draws }: World,
  trial: Trial,
  attack: (disk: Disk) => Promise<number>,
): Promise<number> {
  const folder = await Deno.makeTempDir({ dir: scratch, prefix: "disk-" });
  const size = `size=${DISK_BYTES}`;
  if (!await run("mount", "-t", "tmpfs", "-o", size, "tmpfs", folder)) {
    throw new Unavailable("this user may not mount a file system");
  }
  try {
    await using supplies = await Supplies.create(scratch, TOO_LARGE);
    await using server = await Server.start({ folder });
    const client = new StoreClient(trial, server, supplies, draws);
    const remount = async (mode: "ro" | "rw") => {
      await run("mount", "-o", `remount,${mode},${size}`, folder);
    };
    return await attack({ folder, server, client, supplies, remount });
  } finally {
    await run("umount", "-l", folder);
  }
}

/** A change that the disk does not allow. */
function refused(trial: Trial, what: string, { status, text }: Answer): void {
  const isTold = /space|full|room|read-only|disk|writ|needed/i.test(text);
  const isRefused = status >= 400 && status !== 500 || /"error"/.test(text);
  trial.check(isRefused && isTold, () => `${what}: ${status} ${text}`);
}

async function goesOn(trial: Trial, { server, client, folder }: Disk): Promise<void> {
  const talk = await client.talk("quern:tiny");
  trial.check(talk.status === 200, () => `quern:tiny: ${talk.status} ${talk.text}`);
  const mine = await client.talk("mine");
  trial.check(mine.status === 200, () => `a model that is there: ${mine.status} ${mine.text}`);
  const tags = await trial.ask({ path: "/api/tags", seconds: 10 }, server);
  trial.check(tags.text.includes("mine"), () => `/api/tags: ${tags.text}`);
  const { broken } = await examineStore(folder);
  trial.check(broken.length === 0, () => `broken: ${broken.join("; ")}`);
}

/** Writes a file until the disk is full. */
function fill(path: string): void {
  using file = Deno.createSync(path);
  try {
    for (;;) file.writeSync(new Uint8Array(4096));
  } catch {
    // The disk is full.
  }
}

async function full(trial: Trial, disk: Disk): Promise<number> {
  const { folder, client, supplies, server } = disk;
  await client.upload();
  const made = await client.create("mine");
  trial.check(made.status === 200, () => `create: ${made.status} ${made.text}`);
  // Files larger than the disk.
  refused(trial, "a pull", await client.pull());
  const large = new Uint8Array(TOO_LARGE);
  refused(trial, "an upload", await client.post(`/api/blobs/sha256:${"1".repeat(64)}`, large));
  // A disk without any free bytes.
  const other = `${folder}/other`;
  fill(other);
  refused(trial, "a model by name", await client.create("another", { system: "New words." }));
  refused(trial, "a quantization", await client.create("small", { quantize: "Q8_0" }));
  refused(trial, "a pull to a full disk", await client.pull());
  refused(
    trial,
    "an upload to a full disk",
    await client.post(`/api/blobs/sha256:${"2".repeat(64)}`, new Uint8Array(50_000)),
  );
  await goesOn(trial, disk);
  // The disk has space again.
  const copied = await client.post("/api/copy", { source: "mine", destination: "yours" });
  trial.check(copied.status !== 200, () => `a copy: ${copied.status}, on a full disk`);
  await Deno.remove(other);
  const again = await client.create("another", { quantize: "Q8_0" });
  trial.check(again.status === 200, () => `with room again: ${again.status} ${again.text}`);
  trial.check(!server.ended, () => `the server ended: ${server.tail()}`);
  supplies.registry.recover();
  return 10;
}

async function readOnly(trial: Trial, disk: Disk): Promise<number> {
  const { folder, client, remount, supplies } = disk;
  await client.upload();
  await client.create("mine");
  await remount("ro");
  try {
    refused(trial, "create", await client.create("another"));
    refused(trial, "copy", await client.post("/api/copy", { source: "mine", destination: "b" }));
    refused(trial, "delete", await client.post("/api/delete", { model: "mine" }, "DELETE"));
    refused(trial, "pull", await client.pull());
    const bytes = new Uint8Array(1000);
    refused(trial, "upload", await client.post(`/api/blobs/sha256:${"3".repeat(64)}`, bytes));
    await goesOn(trial, disk);
    await using next = await Server.start({ folder });
    const other = new StoreClient(trial, next, supplies, undefined as never);
    const talk = await other.talk("mine");
    trial.check(talk.status === 200, () => `a server that starts there: ${talk.status}`);
  } finally {
    await remount("rw");
  }
  const again = await client.create("another");
  trial.check(again.status === 200, () => `writable again: ${again.status} ${again.text}`);
  return 9;
}

/** Requests whose addresses fill a pipe, of 64 KiB, many times. */
const LOGGED = 400;

/** A log that goes to a full disk, or into a pipe that nobody reads: no request may notice. */
function logCases({ folder }: World): Case[] {
  return (["full", "unread"] as const).map((log): Case => ({
    name: `a log that is ${log}`,
    isUnwatched: true,
    async run(trial) {
      await using server = await Server.start({ folder, log });
      for (let asked = 0; asked < LOGGED; asked++) {
        const { status } = await trial.ask({ path: `/${"x".repeat(60_000)}` }, server);
        if (status === 404) continue;
        return trial.check(false, () => `request ${asked}: ${status}`);
      }
      const body = { model: "quern:tiny", prompt: "x", stream: false, options: { num_predict: 2 } };
      const { status } = await trial.ask({ path: "/api/generate", body, seconds: 20 }, server);
      trial.check(status === 200, () => `then /api/generate: ${status}`);
      const { text } = await trial.ask({ path: "/metrics" }, server);
      const lost = Number(/^quern_log_lines_lost_total (\d+)$/m.exec(text)?.[1]);
      trial.check(log !== "full" || lost >= LOGGED, () => `${lost} lines are said to be lost`);
      trial.check(await server.stop(), () => "it does not stop in good order");
    },
  }));
}

/** A folder of models that is a file. */
function noFolder({ scratch }: World): Case {
  return {
    name: "a folder of models that is a file",
    isUnwatched: true,
    async run(trial) {
      const folder = await Deno.makeTempFile({ dir: scratch });
      await using server = await Server.start({ folder });
      const ask = async (method: string, path: string, body: object, statuses: number[]) => {
        const { status, text } = await trial.ask({ method, path, body, seconds: 20 }, server);
        const isRight = statuses.includes(status) && !text.includes(folder);
        trial.check(isRight, () => `${method} ${path}: ${status} ${text}`);
      };
      const from = { model: "new", from: "quern:tiny", system: "x", stream: false };
      await ask("POST", "/api/show", { model: "none" }, [404]);
      await ask("POST", "/api/create", from, [507]);
      await ask("POST", "/api/copy", { source: "quern:tiny", destination: "b" }, [507]);
      await ask("DELETE", "/api/delete", { model: "quern:tiny" }, [507]);
      const prompt = { model: "quern:tiny", prompt: "x", stream: false };
      await ask("POST", "/api/generate", { ...prompt, options: { num_predict: 2 } }, [200]);
      return 5;
    },
  };
}

/** Disks. */
export const disks: Area = {
  name: "disks",
  weight: 1,
  cases(world) {
    const caseOf = (name: string, attack: typeof full): Case => ({
      name,
      isUnwatched: true,
      run: (trial) => withDisk(world, trial, (disk) => attack(trial, disk)),
    });
    return [
      caseOf("a full disk", full),
      caseOf("a disk that may not be written", readOnly),
      ...logCases(world),
      noFolder(world),
    ];
  },
};
