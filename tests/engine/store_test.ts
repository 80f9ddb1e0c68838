// The store on a temporary folder, with an `inspect` that reads the first byte.

import { assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { GgufError, ModelNotFoundError } from "../../engine/errors.ts";
import { ModelStore, type StoreOptions } from "../../engine/store.ts";
import type { ModelInfo } from "../../engine/types.ts";
import { fakeInfo } from "../server/fake_model.ts";

interface World {
  folder: string;
  inspected: string[];
  broken: string[];
  createStore(options?: Partial<StoreOptions>): ModelStore;
}

/** Runs with a folder that holds these files and their texts; one that begins with "!" is broken. */
async function withFiles(files: Record<string, string>, test: (world: World) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  const inspected: string[] = [];
  const broken: string[] = [];
  const inspect = async (path: string): Promise<ModelInfo> => {
    inspected.push(path.slice(folder.length + 1));
    const text = await Deno.readTextFile(path);
    if (text.startsWith("!")) throw new GgufError(path, "magic", "not GGUF");
    return { ...fakeInfo, fileSize: text.length };
  };
  const onBroken = (path: string) => void broken.push(path.slice(folder.length + 1));
  try {
    for (const [name, text] of Object.entries(files)) {
      const parent = `${folder}/${name}`.replace(/\/[^/]*$/, "");
      await Deno.mkdir(parent, { recursive: true });
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    const createStore = (options = {}) => new ModelStore({ folder, inspect, onBroken, ...options });
    await test({ folder, inspected, broken, createStore });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("list() names files and one level of folders, the latest first", async () => {
  const files = {
    "a.gguf": "A",
    "My model.GGUF": "B",
    "sub/c.gguf": "C",
    "sub/deep/d.gguf": "D",
    "e.txt": "E",
  };
  await withFiles(files, async ({ folder, createStore }) => {
    await Deno.utime(`${folder}/a.gguf`, 1000, 1000);
    await Deno.utime(`${folder}/sub/c.gguf`, 3000, 3000);
    await Deno.utime(`${folder}/My model.GGUF`, 2000, 2000);
    const entries = await createStore().list();
    assertEquals(entries.map(({ name }) => name), ["sub/c:latest", "My-model:latest", "a:latest"]);
    const { path, size, modified, info } = entries[2]!;
    assertEquals([path, size, modified.getTime()], [`${folder}/a.gguf`, 1, 1_000_000]);
    assertEquals(info.architecture, "llama");
  });
});

Deno.test("list() of a missing folder is empty", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    assertEquals(await createStore({ folder: `${folder}/none` }).list(), []);
  });
});

Deno.test("list() and find() take the files of a split model for one", async () => {
  const files = {
    "big-00001-of-00003.gguf": "A",
    "big-00002-of-00003.gguf": "BB",
    "big-00003-of-00003.gguf": "CCCC",
    "sub/b-00001-of-00001.GGUF": "D",
    "part-00002-of-00002.gguf": "!",
  };
  await withFiles(files, async ({ folder, inspected, broken, createStore }) => {
    const store = createStore({ allowPaths: true });
    await Deno.utime(`${folder}/sub/b-00001-of-00001.GGUF`, 1000, 1000);
    const entries = await store.list();
    assertEquals(entries.map(({ name, size }) => [name, size]), [
      ["big:latest", 7],
      ["sub/b:latest", 1],
    ]);
    assertEquals(broken, ["part-00002-of-00002.gguf"]);
    const path = `${folder}/big-00001-of-00003.gguf`;
    assertEquals([(await store.find("BIG")).path, (await store.find(path)).size], [path, 7]);
    assertEquals(inspected.filter((file) => file.startsWith("big")).length, 1);
    await assertRejects(() => store.find("big-00001-of-00003"), ModelNotFoundError);

    const before = await store.digest(await store.find("big"));
    await Deno.writeTextFile(`${folder}/big-00003-of-00003.gguf`, "changed");
    const changed = await store.find("big");
    assertEquals(changed.size, 10);
    assertNotEquals(await store.digest(changed), before);
    await Deno.remove(`${folder}/big-00002-of-00003.gguf`);
    assertEquals((await store.find("big")).size, 8);
  });
});

Deno.test("list() leaves broken files out and reports each once; find() says what is wrong", async () => {
  await withFiles({ "a.gguf": "A", "b.gguf": "!" }, async ({ folder, broken, createStore }) => {
    const store = createStore();
    for (let i = 0; i < 2; i++) {
      assertEquals((await store.list()).map(({ name }) => name), ["a:latest"]);
    }
    assertEquals(broken, ["b.gguf"]);
    await assertRejects(() => store.find("b"), GgufError, "magic: not GGUF");
    await Deno.writeTextFile(`${folder}/b.gguf`, "mended");
    assertEquals((await store.find("b")).size, 6);
  });
});

Deno.test("find() takes names with and without tag, in any case, and inspects one file only", async () => {
  await withFiles(
    { "Tiny-Q4.gguf": "A", "sub/b.gguf": "B" },
    async ({ inspected, createStore }) => {
      const store = createStore();
      for (const name of ["Tiny-Q4", "tiny-q4", "TINY-Q4:latest", "tiny-q4:LATEST"]) {
        assertEquals((await store.find(name)).name, "Tiny-Q4:latest");
      }
      assertEquals((await store.find("sub/b")).name, "sub/b:latest");
      assertEquals(inspected, ["Tiny-Q4.gguf", "sub/b.gguf"]);
      for (const name of ["tiny", "tiny-q4:8b", "b", "tiny-q4.gguf", ""]) {
        await assertRejects(
          () => store.find(name),
          ModelNotFoundError,
          `model '${name}' not found`,
        );
      }
    },
  );
});

Deno.test("find() takes paths of .gguf files only where they are allowed", async () => {
  await withFiles({ "out/a.gguf": "A", "out/b.txt": "B" }, async ({ folder, createStore }) => {
    const path = `${folder}/out/a.gguf`;
    const open = createStore({ folder: `${folder}/models`, allowPaths: true });
    const entry = await open.find(path);
    assertEquals([entry.name, entry.path], [path, path]);
    for (const other of [`${folder}/out/b.txt`, `${folder}/out/none.gguf`, `${folder}/out`]) {
      await assertRejects(() => open.find(other), ModelNotFoundError);
    }
    const closed = createStore({ folder: `${folder}/models` });
    await assertRejects(() => closed.find(path), ModelNotFoundError);
  });
});

Deno.test("digest() is the file's SHA-256, and follows a change of the file", async () => {
  await withFiles({ "a.gguf": "abc" }, async ({ folder, createStore }) => {
    const store = createStore();
    const before = await store.digest(await store.find("a"));
    assertEquals(before, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    await Deno.writeTextFile(`${folder}/a.gguf`, "abcd");
    assertNotEquals(await store.digest(await store.find("a")), before);
  });
});

Deno.test("digest() of a large file covers its beginning, size and time of change only", async () => {
  await withFiles({ "a.gguf": "A" }, async ({ folder, createStore }) => {
    const path = `${folder}/a.gguf`;
    await Deno.truncate(path, 65 * 2 ** 20);
    await Deno.utime(path, 1000, 1000);
    const store = createStore();
    const first = await store.digest(await store.find("a"));
    assertMatch(first, /^[0-9a-f]{64}$/);
    await Deno.utime(path, 2000, 2000);
    assertNotEquals(await store.digest(await store.find("a")), first);
    await Deno.utime(path, 1000, 1000);
    assertEquals(await store.digest(await store.find("a")), first);
  });
});
