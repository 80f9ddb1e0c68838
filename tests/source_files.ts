// Lists the project's own files for the tests that read the source itself.

/** The folder of deno.json. */
export const PROJECT_ROOT = new URL("../", import.meta.url);

/** Made by tools, not written by us. */
const FOREIGN_FOLDERS = ["node_modules", "dist"];

/** The paths below the project's root, with forward slashes, of all files with such an ending. */
export function listSourceFiles(endings: string[]): string[] {
  const found: string[] = [];
  const visit = (folder: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, PROJECT_ROOT))) {
      if (name.startsWith(".") || FOREIGN_FOLDERS.includes(name)) continue;
      if (isDirectory) visit(`${folder}${name}/`);
      else if (endings.some((ending) => name.endsWith(ending))) found.push(`${folder}${name}`);
    }
  };
  visit("./");
  return found.map((path) => path.slice("./".length)).sort();
}

/** The text of a file, by its path below the project's root. */
export function readSource(path: string): string {
  return Deno.readTextFileSync(new URL(path, PROJECT_ROOT));
}
