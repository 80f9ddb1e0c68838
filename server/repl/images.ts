// Paths of images in a prompt: those that exist are read and taken out of the text; all other words
// stay as they are. What is in the files is the server's business.

import { join } from "node:path";

/** An image that a prompt names. */
export interface PromptImage {
  readonly path: string;
  readonly base64: string;
}

const EXTENSION = "\\.(?:png|jpe?g|webp|gif|bmp)";
/** A path in quotes; or one that looks like a path, its spaces escaped by backslashes. */
const PATH = new RegExp(
  `"([^"\\n]+${EXTENSION})"|'([^'\\n]+${EXTENSION})'|` +
    `(?<!\\S)((?:~|\\.{1,2}|[A-Za-z]:)?[/\\\\](?:\\\\.|[^\\s\\\\])*?${EXTENSION})(?!\\w)`,
  "gi",
);

/** Reads the images that the text names. `home` is what `~` stands for. */
export async function extractImages(
  text: string,
  home: string,
): Promise<{ text: string; images: PromptImage[] }> {
  const images: PromptImage[] = [];
  let rest = text;
  for (const [whole, doubleQuoted, singleQuoted, bare] of text.matchAll(PATH)) {
    const written = doubleQuoted ?? singleQuoted ?? bare!.replace(/\\(.)/g, "$1");
    const path = written.startsWith("~/") ? join(home, written.slice(2)) : written;
    const bytes = await readIfFile(path);
    if (!bytes) continue;
    images.push({ path, base64: bytes.toBase64() });
    rest = rest.replace(whole, () => "");
  }
  return images.length > 0 ? { text: tidy(rest), images } : { text, images };
}

async function readIfFile(path: string): Promise<Uint8Array | undefined> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) throw error;
    return undefined;
  }
}

/** The gaps that the paths have left. */
function tidy(text: string): string {
  return text.replace(/(\S) {2,}(?=\S)/g, "$1 ").trim();
}
