// Files that a prompt names by their paths, texts, images and sounds. What is in texts (`./notes.txt`,
// `../a b.md` in quotes, `~/report.csv`) goes before the prompt, which keeps their names. A bare
// path from the root stays a word, since questions and logs are full of those; in quotes, as
// terminals write what is dropped on them, it names a file.

import { join, resolve } from "node:path";

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
const OTHER = /\.(?:png|jpe?g|webp|gif|bmp|wav|flac|mp3|ogg|oga|opus|webm|gguf|safetensors)$/i;

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

// Paths within what people type, in the ways that shells and terminals write them. Pure.

/** How a shell writes an apostrophe between apostrophes. */
const APOSTROPHE = "'\\''";

/** The path that was written in one of three ways: in quotes, in apostrophes, or bare. */
export function unquote(
  [quoted, apostrophized, bare]: readonly (string | undefined)[],
): string {
  if (quoted !== undefined) return quoted;
  if (apostrophized !== undefined) return apostrophized.replaceAll(APOSTROPHE, "'");
  // A backslash before a letter or a dot is Windows's and no escape.
  return bare!.replace(/\\([^\w.])/g, "$1");
}

/** A path as the shell has it: `~` is the home folder, others start from a folder. */
export function expand(path: string, home: string, folder: string): string {
  return resolve(folder, path.startsWith("~/") ? join(home, path.slice(2)) : path);
}

// Paths of images and sounds in a prompt, as people type them, and as terminals insert files that are dropped
// on them. Files that exist are read and their paths removed from the text; missing ones are reported. The
// server checks what is in the files.

/** An image or a sound that a prompt names. */
interface PromptFile {
  readonly path: string;
  readonly base64: string;
}

/** A prompt and the images or sounds that it names. */
interface FoundFiles {
  /** Without the paths of the files. */
  readonly text: string;
  readonly files: readonly PromptFile[];
  /** Paths that stayed in the text, since there is no such file. */
  readonly missing: readonly string[];
}

/** How the names of files of a kind end. */
const EXTENSIONS = {
  image: "png|jpe?g|webp|gif|bmp",
  sound: "wav|flac|mp3|ogg|oga|opus|webm",
} as const;

/** A path in quotes; or one that looks like a path, its spaces escaped by backslashes. */
function pathOf(kind: keyof typeof EXTENSIONS): RegExp {
  const end = `\\.(?:${EXTENSIONS[kind]})`;
  return new RegExp(
    `"([^"\\n]+${end})"|'((?:[^'\\n]|'\\\\'')+${end})'|` +
      `(?<!\\S)((?:~|\\.{1,2}|[A-Za-z]:)?[/\\\\](?:\\\\.|[^\\s\\\\])*?${end})(?!\\w)`,
    "gi",
  );
}

/**
 * Reads the images or the sounds that the text names.
 *
 * @param home what `~` stands for
 * @param folder what other paths start from
 */
export async function extractFiles(
  kind: keyof typeof EXTENSIONS,
  text: string,
  home: string,
  folder = ".",
): Promise<FoundFiles> {
  const files: PromptFile[] = [];
  const missing: string[] = [];
  let rest = text;
  for (const [whole, ...ways] of text.matchAll(pathOf(kind))) {
    const written = unquote(ways as (string | undefined)[]);
    const path = written.startsWith("~/") ? expand(written, home, folder) : written;
    const bytes = await readIfFile(expand(path, home, folder));
    if (!bytes) {
      missing.push(path);
      continue;
    }
    files.push({ path, base64: bytes.toBase64() });
    rest = rest.replace(whole, () => "");
  }
  return { text: files.length > 0 ? tidy(rest) : text, files, missing };
}

async function readIfFile(path: string): Promise<Uint8Array | undefined> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) throw error;
    return undefined;
  }
}

/** The text without the gaps that the paths have left. */
function tidy(text: string): string {
  return text.replace(/(\S) {2,}(?=\S)/g, "$1 ").trim();
}
