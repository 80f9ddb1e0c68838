// The everyday tests in few isolates. `deno test` gives every file an isolate, which loads the engine
// again and runs its code cold, half a second of CPU for each of 380 files: here the tests of a folder
// share one. The file tests/groups/engine_grammar_test.ts has those of tests/engine/grammar, less
// those of folders with a group of their own; other_test.ts has those that are in no group's folder.
// Every file can also be run alone: deno test tests/tokenizer/bpe_test.ts. Packages of npm have to come
// from tests/deno.lock, as in the task: without it, isolates that resolve them at once get other copies.

const TESTS = new URL("../", import.meta.url);
const SUFFIX = "_test.ts";

/** Paths of all files of tests below tests/, in order. */
function testFiles(folder = ""): string[] {
  return [...Deno.readDirSync(new URL(folder, TESTS))]
    .filter(({ name }) => folder !== "" || name !== "groups")
    .flatMap(({ name, isDirectory }) => {
      if (isDirectory) return testFiles(`${folder}${name}/`);
      return name.endsWith(SUFFIX) ? [folder + name] : [];
    }).sort();
}

/** The folders that have a group. */
function groups(): string[] {
  return [...Deno.readDirSync(new URL("groups/", TESTS))]
    .filter(({ name }) => name.endsWith(SUFFIX))
    .map(({ name }) => name.slice(0, -SUFFIX.length).replaceAll("_", "/"));
}

/** The group of a file: the longest folder that has one. */
function groupOf(path: string, folders: readonly string[]): string {
  const around = folders.filter((folder) => path.startsWith(`${folder}/`));
  return around.sort((a, b) => b.length - a.length)[0] ?? "other";
}

/** Registers the tests of the group that the file with this URL is named for. */
export async function importTests(url: string): Promise<void> {
  const group = url.slice(url.lastIndexOf("/") + 1, -SUFFIX.length).replaceAll("_", "/");
  const folders = groups();
  for (const path of testFiles().filter((path) => groupOf(path, folders) === group)) {
    try {
      await import(new URL(path, TESTS).href);
    } catch (error) {
      // One file that cannot be loaded fails alone, as it would outside of a group.
      Deno.test(`tests/${path} loads`, () => {
        throw error;
      });
    }
  }
}
