// The everyday tests in few isolates. `deno test` gives every file an isolate, which loads the engine
// again and runs its code cold, half a second of CPU for each of 380 files: here the tests of a folder
// share one. The file tests/groups/engine_grammar_test.ts has those of tests/engine/grammar, less
// those of folders with a group of their own; other_test.ts has those that are in no group's folder.
// The tests of a folder that take long are in several: kernels_1_test.ts, kernels_2_test.ts.
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

/** The folder of a group, by the name of its file, and which of its parts it is, from 1 on. */
function groupNamed(file: string): { folder: string; part: number } {
  const [, name, part = "1"] = /^(.+?)(?:_(\d+))?_test\.ts$/.exec(file)!;
  return { folder: name!.replaceAll("_", "/"), part: Number(part) };
}

/** The folders that have a group, each as often as it has parts. */
function groups(): string[] {
  return [...Deno.readDirSync(new URL("groups/", TESTS))]
    .filter(({ name }) => name.endsWith(SUFFIX))
    .map(({ name }) => groupNamed(name).folder);
}

/** The group of a file: the longest folder that has one. */
function groupOf(path: string, folders: readonly string[]): string {
  const around = folders.filter((folder) => path.startsWith(`${folder}/`));
  return around.sort((a, b) => b.length - a.length)[0] ?? "other";
}

/** Registers the tests of the group that the file with this URL is named for. */
export async function importTests(url: string): Promise<void> {
  const { folder, part } = groupNamed(url.slice(url.lastIndexOf("/") + 1));
  const folders = groups();
  const parts = folders.filter((other) => other === folder).length;
  const own = testFiles().filter((path) => groupOf(path, folders) === folder);
  for (const path of own.filter((_, i) => i % parts === part - 1)) {
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
