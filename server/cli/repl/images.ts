// Paths of images in a prompt, as people type them, and as terminals insert files that are dropped on
// them. Files that exist are read and their paths removed from the text; missing ones are reported. The
// server checks what is in the files.

import { expand, unquote } from "./paths.ts";

/** An image that a prompt names. */
export interface PromptImage {
  readonly path: string;
  readonly base64: string;
}

/** A prompt and the images that it names. */
export interface FoundImages {
  /** Without the paths of the images. */
  readonly text: string;
  readonly images: readonly PromptImage[];
  /** Paths that stayed in the text, since there is no such file. */
  readonly missing: readonly string[];
}

const EXTENSION = "\\.(?:png|jpe?g|webp|gif|bmp)";
/** A path in quotes; or one that looks like a path, its spaces escaped by backslashes. */
const PATH = new RegExp(
  `"([^"\\n]+${EXTENSION})"|'((?:[^'\\n]|'\\\\'')+${EXTENSION})'|` +
    `(?<!\\S)((?:~|\\.{1,2}|[A-Za-z]:)?[/\\\\](?:\\\\.|[^\\s\\\\])*?${EXTENSION})(?!\\w)`,
  "gi",
);

/**
 * Reads the images that the text names.
 *
 * @param home what `~` stands for
 * @param folder what other paths start from
 */
export async function extractImages(
  text: string,
  home: string,
  folder = ".",
): Promise<FoundImages> {
  const images: PromptImage[] = [];
  const missing: string[] = [];
  let rest = text;
  for (const [whole, ...ways] of text.matchAll(PATH)) {
    const written = unquote(ways as (string | undefined)[]);
    const path = written.startsWith("~/") ? expand(written, home, folder) : written;
    const bytes = await readIfFile(expand(path, home, folder));
    if (!bytes) {
      missing.push(path);
      continue;
    }
    images.push({ path, base64: bytes.toBase64() });
    rest = rest.replace(whole, () => "");
  }
  return { text: images.length > 0 ? tidy(rest) : text, images, missing };
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
