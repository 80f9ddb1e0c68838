// Models that lie about as files: in the folder of the models, and at paths.

import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { GgufError, ModelNotFoundError } from "../../../engine/errors.ts";
import { type ModelSource, type StoreEntry, StoreError } from "../../../engine/store/mod.ts";
import { withFiles } from "./world.ts";

/** Where the weights of an entry are. */
function pathOf({ source }: StoreEntry): string {
  return (source as ModelSource & { kind: "files" }).path;
}

Deno.test("list() names files and one level of folders, the latest first", async () => {
  const files = {
    "a.gguf": "A",
    "My model.GGUF": "B",
    "sub/c.gguf": "C",
    "sub/deep/d.gguf": "D",
    "blobs/f.gguf": "F",
    "e.txt": "E",
  };
  await withFiles(files, async ({ folder, createStore }) => {
    await Deno.utime(`${folder}/a.gguf`, 1000, 1000);
    await Deno.utime(`${folder}/sub/c.gguf`, 3000, 3000);
    await Deno.utime(`${folder}/My model.GGUF`, 2000, 2000);
    const entries = await createStore().list();
    assertEquals(entries.map(({ name }) => name), ["sub/c:latest", "My-model:latest", "a:latest"]);
    const { source, size, modified, info, defaults, manifest } = entries[2]!;
    assertEquals(source, { kind: "files", path: `${folder}/a.gguf`, adapters: [] });
    assertEquals([size, modified.getTime(), info.architecture], [1, 1_000_000, "llama"]);
    assertEquals(defaults, { parameters: {}, messages: [], license: [] });
    assertEquals(manifest, undefined);
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
    assertEquals([pathOf(await store.find("BIG")), (await store.find(path)).size], [path, 7]);
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
    assertEquals([entry.name, pathOf(entry)], [path, path]);
    for (const other of [`${folder}/out/b.txt`, `${folder}/out/none.gguf`, `${folder}/none`]) {
      await assertRejects(() => open.find(other), ModelNotFoundError);
    }
    const closed = createStore({ folder: `${folder}/models` });
    for (const name of [path, `${folder}/out`]) {
      await assertRejects(() => closed.find(name), ModelNotFoundError);
    }
  });
});

Deno.test("find() takes a folder for the one model in it, with its projector", async () => {
  const files = {
    "one/model.gguf": "A",
    "one/mmproj-model-f16.gguf": "BB",
    "split/a-00001-of-00002.gguf": "A",
    "split/a-00002-of-00002.gguf": "BBB",
    "two/a.gguf": "A",
    "two/b.gguf": "B",
    "tensors/model.safetensors": "C",
    "empty/readme.md": "D",
  };
  await withFiles(files, async ({ folder, createStore }) => {
    const store = createStore({ folder: `${folder}/models`, allowPaths: true });
    const { name, source, size } = await store.find(`${folder}/one`);
    const path = `${folder}/one/model.gguf`;
    const projector = `${folder}/one/mmproj-model-f16.gguf`;
    assertEquals([name, size], [`${folder}/one`, 3]);
    assertEquals(source, { kind: "files", path, projector, adapters: [] });
    assertEquals((await store.find(`${folder}/split/`)).size, 4);
    await assertRejects(() => store.find(`${folder}/two`), StoreError, "a.gguf, b.gguf");
    await assertRejects(() => store.find(`${folder}/tensors`), StoreError, "`create`");
    await assertRejects(() => store.find(`${folder}/empty`), ModelNotFoundError);
  });
});

Deno.test("list() takes the projector in a subfolder for a part of its model", async () => {
  const files = { "see/m.gguf": "A", "see/mmproj-m.gguf": "BB", "mmproj-x.gguf": "C" };
  await withFiles(files, async ({ folder, createStore }) => {
    const [entry, ...others] = await createStore().list();
    assertEquals([entry!.name, entry!.size, others.length], ["see/m:latest", 3, 0]);
    const path = `${folder}/see/m.gguf`;
    const projector = `${folder}/see/mmproj-m.gguf`;
    assertEquals(entry!.source, { kind: "files", path, projector, adapters: [] });
  });
});

Deno.test("models of the program are listed last, unless the store has one of that name", async () => {
  const files = { "program/mini.gguf": "A", "models/other.gguf": "B" };
  await withFiles(files, async ({ folder, createStore }) => {
    const builtin = [{ name: "quern/mini", path: `${folder}/program/mini.gguf` }];
    const empty = createStore({ folder: `${folder}/none`, builtin });
    assertEquals((await empty.list()).map(({ name }) => name), ["quern/mini:latest"]);
    const store = createStore({ folder: `${folder}/models`, builtin });
    const names = ["other:latest", "quern/mini:latest"];
    assertEquals((await store.list()).map(({ name }) => name), names);
    assertEquals(pathOf(await store.find("Quern/Mini")), `${folder}/program/mini.gguf`);
    await store.copy("other", "quern/mini");
    assertMatch(pathOf(await store.find("quern/mini")), /blobs\/sha256-/);
    assertEquals((await store.list()).length, 2);
  });
});

Deno.test("a model of the program that is removed stays away until it is restored", async () => {
  await withFiles({ "program/mini.gguf": "A" }, async ({ folder, createStore }) => {
    const builtin = [{ name: "quern/mini", path: `${folder}/program/mini.gguf` }];
    const open = () => createStore({ folder: `${folder}/models`, builtin });
    await open().remove("Quern/Mini");
    assertEquals(await open().list(), []);
    await assertRejects(() => open().find("quern/mini"), ModelNotFoundError);
    await assertRejects(() => open().remove("quern/mini"), ModelNotFoundError);
    assertEquals(await open().restore("other"), false);
    assertEquals(await open().restore("quern/MINI"), true);
    assertEquals((await open().list()).map(({ name }) => name), ["quern/mini:latest"]);
    assertEquals(await open().restore("quern/mini"), true);
    assert((await Deno.lstat(`${folder}/program/mini.gguf`)).isFile);
  });
});

Deno.test("digest() of a file is that of its copies, and follows a change of the file", async () => {
  await withFiles({ "a.gguf": "abc" }, async ({ folder, createStore }) => {
    const store = createStore();
    const before = await store.digest(await store.find("a"));
    await store.copy("a", "b");
    await store.copy("b", "c");
    const copies = [await store.find("b"), await createStore().find("c")];
    for (const copy of copies) assertEquals(await store.digest(copy), before);
    await Deno.writeTextFile(`${folder}/a.gguf`, "abcd");
    assertNotEquals(await store.digest(await store.find("a")), before);
  });
});

Deno.test("digest() of a file with a projector is that of its copies, and follows a change of either", async () => {
  const files = { "see/m.gguf": "A", "see/mmproj-m.gguf": "BB" };
  await withFiles(files, async ({ folder, createStore }) => {
    const store = createStore();
    const [entry] = await store.list();
    const before = await store.digest(entry!);
    await store.copy(entry!.name, "copy");
    assertEquals(await store.digest(await store.find("copy")), before);
    await Deno.writeTextFile(`${folder}/see/mmproj-m.gguf`, "BBB");
    assertNotEquals(await store.digest(await store.find(entry!.name)), before);
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
