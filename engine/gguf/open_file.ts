// Opens the files that models are in. What is no file (a pipe, a device, a folder) is refused before it
// is opened: opening a pipe waits for somebody to write to it.

import { GgufError } from "../errors.ts";

/**
 * Opens a file to read.
 *
 * @throws {GgufError} if what lies there is no file
 * @throws Deno.errors.NotFound and its like, if it cannot be opened
 */
export async function openFile(path: string): Promise<Deno.FsFile> {
  if ((await Deno.stat(path)).isFile) return await Deno.open(path);
  throw new GgufError(path, "file", "it is a folder, a pipe or a device");
}
