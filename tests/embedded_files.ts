// The files that `deno compile` puts into an executable, read back out of it: a tree of names as JSON
// between two lengths, then the bytes of all files. Deno's cli/lib/standalone has the format.

import { Buffer } from "node:buffer";
import { join } from "node:path";

/** An entry of the tree; `o` says where the bytes of a file are, and how many. */
interface Entry {
  Dir?: { n: string; e: Entry[] };
  File?: { n: string; o: [offset: number, length: number] };
}

/** Where packages of npm are in the tree, and the name of their registry there. */
export const PACKAGES = ".deno_compile_node_modules";
export const REGISTRY = "http://localhost";

/** Writes all files within an executable to a folder. Gives their paths in it. */
export async function extractFiles(executable: string, folder: string): Promise<string[]> {
  const bytes = Buffer.from(await Deno.readFile(executable));
  const tree = bytes.indexOf(`[{"Dir":{"n":"${PACKAGES}"`);
  if (tree < 0) throw new Error(`Cannot read "${executable}": it has no files within`);
  const length = Number(bytes.readBigUInt64LE(tree - 8));
  const entries: Entry[] = JSON.parse(bytes.toString("utf8", tree, tree + length));
  const data = bytes.subarray(tree + length + 8);
  const paths: string[] = [];
  const write = async (entry: Entry, path: string) => {
    if (entry.Dir) {
      await Deno.mkdir(join(folder, path, entry.Dir.n), { recursive: true });
      for (const inner of entry.Dir.e) await write(inner, join(path, entry.Dir.n));
    } else if (entry.File) {
      const { n: name, o: [offset, count] } = entry.File;
      await Deno.writeFile(join(folder, path, name), data.subarray(offset, offset + count));
      paths.push(join(path, name));
    }
  };
  for (const entry of entries) await write(entry, "");
  return paths;
}
