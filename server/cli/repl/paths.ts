// Paths within what people type, in the ways that shells and terminals write them. Pure.

import { join, resolve } from "node:path";

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
