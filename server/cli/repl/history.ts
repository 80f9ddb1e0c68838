// The history of inputs, across runs: a file with a text per line, the oldest first. Line feeds and
// backslashes within a text are escaped by a backslash. Only its owner can read the file.
// Concurrent runs append to it, so that none loses what another has written.

import { dirname } from "node:path";

/** Texts that are kept. */
const LIMIT = 1000;

/** The history of a person's prompts. */
export class History {
  /** The oldest first. */
  readonly entries: string[];
  /** Whether new texts are kept. */
  enabled: boolean;
  readonly #path: string | undefined;

  /** @param path of the file; without one, texts live as long as the history */
  constructor(path?: string, entries: readonly string[] = [], enabled = true) {
    this.#path = path;
    this.entries = [...entries];
    this.enabled = enabled;
  }

  /** Reads the file, which may be missing, and cuts it to the newest entries if it is too long. */
  static async load(path: string): Promise<History> {
    const lines = await readLines(path);
    const kept = lines.slice(-LIMIT);
    if (kept.length < lines.length) await rewrite(path, kept);
    return new History(path, kept.map(unescape));
  }

  /** Adds a text, unless it is empty or the last one again. */
  async add(text: string): Promise<void> {
    if (!this.enabled || text.trim() === "" || text === this.entries.at(-1)) return;
    this.entries.push(text);
    if (this.entries.length > LIMIT) this.entries.shift();
    if (this.#path === undefined) return;
    await Deno.mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await Deno.writeTextFile(this.#path, `${escape(text)}\n`, { append: true, mode: 0o600 });
  }
}

async function readLines(path: string): Promise<string[]> {
  try {
    return (await Deno.readTextFile(path)).split("\n").filter((line) => line !== "");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

async function rewrite(path: string, lines: readonly string[]): Promise<void> {
  const temporary = `${path}.${Deno.pid}`;
  await Deno.writeTextFile(temporary, lines.map((line) => `${line}\n`).join(""), { mode: 0o600 });
  await Deno.rename(temporary, path);
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function unescape(line: string): string {
  return line.replace(/\\([\\n])/g, (_, character) => character === "n" ? "\n" : character);
}
