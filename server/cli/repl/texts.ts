// Text files that a prompt names by their paths: `./notes.txt`, `../a b.md` in quotes, `~/report.csv`.
// What is in them goes before the prompt, which keeps their names. A bare path from the root stays a
// word, since questions and logs are full of those; in quotes, as terminals write what is dropped on
// them, it names a file.

import { expand, unquote } from "./paths.ts";

/** A text that a prompt names. */
export interface PromptText {
  readonly path: string;
  readonly content: string;
}

/** The texts that a prompt names. */
export interface FoundTexts {
  readonly texts: readonly PromptText[];
  /** Files that are there and were not read, and why. */
  readonly unread: readonly { path: string; reason: string }[];
}

/** Longest file, in bytes: what is longer fits no window. */
const MOST_BYTES = 2 ** 20;

/** A path in quotes; or one from this folder, the one above or the home folder, up to a space. */
const PATH =
  /"((?:~|\.{0,2})\/[^"\n]+)"|'((?:~|\.{0,2})\/(?:[^'\n]|'\\'')+)'|(?<!\S)((?:~|\.{1,2})\/(?:\\.|[^\s\\])+)/g;

/** Files that are attached in another way, or are models. */
const OTHER = /\.(?:png|jpe?g|webp|gif|bmp|gguf|safetensors)$/i;

/**
 * Reads the texts that a prompt names.
 *
 * @param home what `~` stands for
 * @param folder what other paths start from
 */
export async function readTexts(prompt: string, home: string, folder = "."): Promise<FoundTexts> {
  const texts: PromptText[] = [];
  const unread: { path: string; reason: string }[] = [];
  const known = new Set<string>();
  for (const [, ...ways] of prompt.matchAll(PATH)) {
    const found = await findFile(unquote(ways), home, folder);
    if (!found || known.has(found.path) || OTHER.test(found.path)) continue;
    known.add(found.path);
    const read = await readText(found.file, found.size);
    if ("content" in read) texts.push({ path: found.path, content: read.content });
    else unread.push({ path: found.path, reason: read.reason });
  }
  return { texts, unread };
}

/** The prompt after the texts, as the page in the browser sends attachments. */
export function withTexts(prompt: string, texts: readonly PromptText[]): string {
  const files = texts.map(({ path, content }) =>
    `--- ${path} ---\n${content}\n--- end of ${path} ---\n\n`
  );
  return files.join("") + prompt;
}

/** The file of a path, of which signs that end a sentence may be no part. */
async function findFile(written: string, home: string, folder: string) {
  for (const path of new Set([written, written.replace(/[.,:;?!)\]]+$/, "")])) {
    const file = expand(path, home, folder);
    try {
      const { isFile, size } = await Deno.stat(file);
      if (isFile) return { path, file, size };
    } catch (error) {
      if (error instanceof Deno.errors.PermissionDenied) throw error;
    }
  }
  return undefined;
}

async function readText(
  file: string,
  size: number,
): Promise<{ content: string } | { reason: string }> {
  if (size > MOST_BYTES) return { reason: "it is larger than 1 MiB" };
  try {
    const content = new TextDecoder("utf-8", { fatal: true }).decode(await Deno.readFile(file));
    return content.includes("\0") ? { reason: "it is no text" } : { content };
  } catch (error) {
    if (error instanceof TypeError) return { reason: "it is no text" };
    throw error;
  }
}
