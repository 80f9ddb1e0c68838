// `quern keys`: adds, lists and removes the API keys of a file that a running server reads again by
// itself. A key is shown once, when it is made; the file knows it by its SHA-256.

import { Argument, Option } from "../../dependencies.ts";
import { createKey, encodeKeys, type KeyEntry, parseKeys } from "../../keys/mod.ts";
import { readSettings } from "../../settings/settings.ts";
import type { CliDependencies } from "../dependencies.ts";
import { formatTable } from "../terminal/mod.ts";
import { type Definition, examples, toInteger, toNumber } from "./definition.ts";

const ACTIONS = ["add", "list", "remove"] as const;

/** Options of the command line. */
interface KeysOptions {
  file?: string;
  weight?: number;
  background?: boolean;
  requests?: number;
  tokens?: number;
}

/** Adds `quern keys`. */
export function defineKeys({ program, dependencies, finish }: Definition): void {
  program.command("keys")
    .summary("add, list and remove API keys")
    .description(
      "Changes the file of API keys that QUERN_API_KEYS names, whether or not a server runs, which " +
        "reads it again by itself. A new key is shown once: the file has its SHA-256 alone.",
    )
    .addArgument(new Argument("[action]", "what to do").choices(ACTIONS).default("list"))
    .argument("[name]", "name of a key, in metrics, the log and GET /api/usage")
    .option("--file <path>", "the file, instead of the one of QUERN_API_KEYS")
    .option("--weight <number>", "share of a model beside other keys; 1 if left out", toNumber)
    .addOption(new Option("--background", "have its requests wait for those of others"))
    .option("--requests <count>", "most requests in a minute", toInteger)
    .option("--tokens <count>", "most tokens in a minute, read and written", toInteger)
    .addHelpText(
      "after",
      examples([
        ["quern keys add alice --tokens 100000", "a key with a limit"],
        ["quern keys add nightly --background", "for jobs that may wait"],
        ["quern keys remove alice", "from now on, also at a running server"],
      ]),
    )
    .action(async (action: typeof ACTIONS[number], name: string | undefined, options) => {
      finish(await keys(dependencies, action, name, options));
    });
}

async function keys(
  { terminal, environment }: CliDependencies,
  action: typeof ACTIONS[number],
  name: string | undefined,
  { file: named, weight, background, requests, tokens }: KeysOptions,
): Promise<number> {
  const file = named ?? readSettings(environment).keyFile;
  if (file === undefined) {
    throw new Error(
      `Cannot ${action} keys: no file is named; set QUERN_API_KEYS to its path, or use --file`,
    );
  }
  const entries = await readEntries(file);
  if (action === "list") {
    terminal.write(
      formatTable([["NAME", "WEIGHT", "PRIORITY", "REQUESTS", "TOKENS"], ...rowsOf(entries)]),
    );
    return 0;
  }
  if (name === undefined) throw new Error(`Cannot ${action} a key: its name is missing`);
  const others = entries.filter((entry) => entry.name !== name);
  if (action === "remove") {
    if (others.length === entries.length) {
      throw new Error(`Cannot remove key "${name}": "${file}" has no such key`);
    }
    await writeEntries(file, others);
    terminal.write(`removed "${name}" from ${file}\n`);
    return 0;
  }
  if (others.length < entries.length) {
    throw new Error(`Cannot add key "${name}": "${file}" has one of that name; remove it first`);
  }
  const { key, entry } = createKey({
    name,
    ...(weight !== undefined && { weight }),
    ...(background && { priority: "background" as const }),
    ...(requests !== undefined && { requests_per_minute: requests }),
    ...(tokens !== undefined && { tokens_per_minute: tokens }),
  });
  await writeEntries(file, [...entries, entry]);
  terminal.writeError(`added "${name}" to ${file}; its key, which is not shown again:\n`);
  terminal.write(`${key}\n`);
  return 0;
}

function rowsOf(entries: readonly KeyEntry[]): string[][] {
  return entries.map((entry) => [
    entry.name,
    String(entry.weight ?? 1),
    entry.priority ?? "normal",
    String(entry.requests_per_minute ?? "any"),
    String(entry.tokens_per_minute ?? "any"),
  ]);
}

/** The entries of a file, or none if it is not there yet. */
async function readEntries(file: string): Promise<KeyEntry[]> {
  const text = await Deno.readTextFile(file).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return encodeKeys([]);
    throw error;
  });
  return parseKeys(text, file);
}

/** Writes the file in one step, so that a server never reads half of it, for its owner alone. */
async function writeEntries(file: string, entries: readonly KeyEntry[]): Promise<void> {
  const text = encodeKeys(entries);
  parseKeys(text, file); // What was given as options may be wrong.
  const next = `${file}.new`;
  await Deno.remove(next).catch(() => {});
  await Deno.writeTextFile(next, text, { createNew: true, mode: 0o600 });
  await Deno.rename(next, file);
}
