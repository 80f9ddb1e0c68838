// What changes a store: writing, copying and removing models, and cleaning up after them.

import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { ModelNotFoundError } from "../../../engine/errors.ts";
import { type Manifest, MEDIA, ModelName, StoreError } from "../../../engine/store/mod.ts";
import { blobNames, sha256, withFiles, writeFile, writeModel } from "./world.ts";

const HERE = "manifests/registry.ollama.ai/library";
const BLOB = async (text: string) => `sha256-${await sha256(text)}`;
const CONFIG = '{"model_format":"gguf"}';

Deno.test("writeManifest() writes the bytes of Ollama, and those given as they are", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    const store = createStore();
    const digest = await writeModel(store, "a", "weights");
    const text = '{"schemaVersion":2,' +
      '"mediaType":"application/vnd.docker.distribution.manifest.v2+json",' +
      '"config":{"mediaType":"application/vnd.docker.container.image.v1+json",' +
      `"digest":"sha256:${await sha256(CONFIG)}","size":23},` +
      `"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"${digest}","size":7}]}`;
    assertEquals(await Deno.readTextFile(`${folder}/${HERE}/a/latest`), text);

    const pretty = JSON.stringify({ ...JSON.parse(text), runner: "x" }, undefined, 3) + "\n";
    await store.writeManifest(ModelName.parse("b:c"), new TextEncoder().encode(pretty));
    assertEquals(await Deno.readTextFile(`${folder}/${HERE}/b/c`), pretty);
    assertEquals(await store.digest(await store.find("b:c")), await sha256(pretty));
    assertEquals([...Deno.readDirSync(`${folder}/manifests`)].length, 1);
  });
});

Deno.test("writeManifest() refuses a manifest whose blobs are not there", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    const store = createStore();
    await writeModel(store, "a", "weights");
    const manifest = (await store.readManifest(ModelName.parse("a")))!;
    const digest = `sha256:${"0".repeat(64)}`;
    const wrong: Manifest = { ...manifest, config: { ...manifest.config, digest } };
    const write = () => store.writeManifest(ModelName.parse("b"), wrong);
    assertStringIncludes((await assertRejects(write, StoreError)).message, digest);
    assertEquals([...Deno.readDirSync(`${folder}/${HERE}`)].map(({ name }) => name), ["a"]);
  });
});

Deno.test("writeManifest() removes blobs that only the old manifest of the name used", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    const store = createStore();
    await writeModel(store, "a", "one", [[MEDIA.system, "shared"]]);
    await writeModel(store, "b", "two", [[MEDIA.system, "shared"]]);
    await writeModel(store, "A", "three");
    const expected = await Promise.all([CONFIG, "two", "shared", "three"].map(BLOB));
    assertEquals(blobNames(folder), expected.sort());
    assertEquals([...Deno.readDirSync(`${folder}/${HERE}`)].length, 2);
    await writeModel(createStore({ keepUnused: true }), "a", "four");
    assertEquals(blobNames(folder).length, 5);
  });
});

Deno.test("find() looks for a model once or twice, however many ask at once, and never too early", async () => {
  await withFiles({}, async ({ createStore }) => {
    const store = createStore();
    await writeModel(store, "a", "weights");
    await store.find("a"); // What does not change is read once.
    const { stat } = Deno;
    let asked = 0;
    Deno.stat = (path) => {
      asked++;
      return stat(path);
    };
    try {
      await store.find("a");
      const once = asked;
      asked = 0;
      await Promise.all(Array.from({ length: 100 }, () => store.find("a")));
      assertEquals(asked, 2 * once);
    } finally {
      Deno.stat = stat;
    }
    // A look under way may end before or after the removal; one that begins after it finds nothing.
    const [, removal] = await Promise.allSettled([store.find("a"), store.remove("a")]);
    assertEquals(removal.status, "fulfilled");
    await assertRejects(() => store.find("a"), ModelNotFoundError);
  });
});

Deno.test("copy() gives a model another name, with the same bytes", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    const store = createStore();
    await writeModel(store, "a:b", "one");
    await writeModel(store, "claude-3-5-sonnet", "other");
    await store.copy("A:b", "claude-3-5-sonnet");
    await store.copy("a:b", "hf.co/x/y:z");
    const [first, second, third] = await Promise.all(
      ["a:b", "claude-3-5-sonnet", "hf.co/x/y:z"].map((name) => store.find(name)),
    );
    assertEquals([second!.source, third!.source], [first!.source, first!.source]);
    assertEquals(await store.digest(second!), await store.digest(first!));
    assertEquals(blobNames(folder), (await Promise.all([CONFIG, "one"].map(BLOB))).sort());
    await assertRejects(() => store.copy("none", "x"), ModelNotFoundError);
    await assertRejects(() => store.copy("a:b", "../x"), StoreError, "invalid model name");
    await store.copy("a:b", "a:b");
    assertEquals((await store.list()).length, 3);
  });
});

Deno.test("copy() takes a file that lies about into the store", async () => {
  const files = { "a.gguf": "A", "sub/m.gguf": "M", "sub/mmproj-m.gguf": "P" };
  const split = { "s-00001-of-00002.gguf": "S", "s-00002-of-00002.gguf": "T" };
  await withFiles({ ...files, ...split }, async ({ folder, createStore }) => {
    const store = createStore({ allowPaths: true });
    await store.copy("a", "b");
    const { source, config, manifest } = await store.find("b");
    assertEquals(source, {
      kind: "files",
      path: `${folder}/blobs/${await BLOB("A")}`,
      adapters: [],
    });
    const [digest] = manifest!.layers.map((layer) => layer.digest);
    assertEquals(
      JSON.stringify(config),
      '{"model_format":"gguf","model_family":"llama","model_families":["llama"],' +
        '"model_type":"999.89M","file_type":"Q4_K_M","architecture":"amd64","os":"linux",' +
        `"rootfs":{"type":"layers","diff_ids":["${digest}"]}}`,
    );
    await Deno.writeTextFile(`${folder}/a.gguf`, "changed");
    assertEquals(await Deno.readTextFile(`${folder}/blobs/${await BLOB("A")}`), "A");
    await store.copy(`${folder}/sub`, "c");
    assertEquals((await store.find("c")).manifest!.layers[1]!.mediaType, MEDIA.projector);
    await assertRejects(() => store.copy("s", "d"), StoreError, "join them first");
  });
});

Deno.test("remove() takes the name, the blobs of nobody else and the empty folders", async () => {
  await withFiles({ "f.gguf": "F" }, async ({ folder, createStore }) => {
    const store = createStore();
    await writeModel(store, "hf.co/user/a:b", "one", [[MEDIA.system, "shared"]]);
    await writeModel(store, "c", "two", [[MEDIA.system, "shared"]]);
    await writeModel(store, "c:d", "two");
    await store.remove("HF.co/user/a:b");
    assertEquals(
      blobNames(folder),
      (await Promise.all([CONFIG, "two", "shared"].map(BLOB))).sort(),
    );
    assertEquals([...Deno.readDirSync(`${folder}/manifests`)].length, 1);
    await assertRejects(() => store.remove("hf.co/user/a:b"), ModelNotFoundError);
    await store.remove("c");
    assertEquals((await store.find("c:d")).info.fileSize, 3);
    await store.remove("c:d");
    assertEquals([blobNames(folder), [...Deno.readDirSync(`${folder}/manifests`)]], [[], []]);
    await assertRejects(() => store.remove("f"), StoreError, `remove the file itself`);
    await assertRejects(() => store.remove("../f"), ModelNotFoundError);
    assertEquals((await store.list()).map(({ name }) => name), ["f:latest"]);
  });
});

Deno.test("remove() takes models away that cannot be read", async () => {
  const broken = { [`${HERE}/a/latest`]: "{", [`${HERE}/b/latest`]: "" };
  await withFiles(broken, async ({ folder, createStore }) => {
    const store = createStore();
    for (const name of ["a", "b"]) await store.remove(name);
    assertEquals([...Deno.readDirSync(`${folder}/manifests`)], []);
  });
});

Deno.test("prune() removes what no manifest names once it is old enough", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    const store = createStore();
    await writeModel(store, "a", "one");
    const used = blobNames(folder);
    const [one, two] = ["1", "2"].map((digit) => `sha256-${digit.repeat(64)}`);
    const garbage = [one!, `${two}-partial`, `${two}-partial-0`];
    garbage.push("sha256-12345", "sha256-x-temporary");
    for (const name of garbage) await writeFile(`${folder}/blobs/${name}`, "12345");
    await writeFile(`${folder}/manifests/.quern-x-temporary`, "12345");
    await writeFile(`${folder}/blobs/notes.txt`, "mine");
    // Of temporary files it is known at once that nobody writes them any more.
    assertEquals(await store.prune(), { removed: 2, bytes: 10 });
    assertEquals(await store.prune({ graceMilliseconds: 60_000 }), { removed: 0, bytes: 0 });
    assertEquals(await store.prune({ graceMilliseconds: 0 }), { removed: 4, bytes: 20 });
    assertEquals(blobNames(folder), ["notes.txt", ...used].sort());
    assertEquals((await store.list()).length, 1);
  });
});

Deno.test("prune() removes at once what was added here and never named", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    await writeModel(createStore(), "a", "one");
    const used = blobNames(folder);
    await createStore().blobs.put(new TextEncoder().encode("12345"));
    assertEquals(await createStore().prune(), { removed: 1, bytes: 5 });
    assertEquals(blobNames(folder), used);
    assertEquals(await createStore().prune(), { removed: 0, bytes: 0 });
  });
});

Deno.test("prune() removes at once what a killed download left beside its whole blob", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    await writeModel(createStore(), "a", "one");
    const used = blobNames(folder);
    await writeFile(`${folder}/blobs/${used[0]}-partial-0`, "12345");
    assertEquals(await createStore().prune(), { removed: 1, bytes: 5 });
    assertEquals(blobNames(folder), used);
  });
});

Deno.test("prune() removes nothing while blobs are added, nor if a manifest cannot be read", async () => {
  await withFiles({}, async ({ folder, createStore }) => {
    const [store, other] = [createStore(), createStore()];
    await writeModel(store, "a", "one");
    await store.protect(async () => {
      await store.blobs.put(new TextEncoder().encode("new"));
      for (const each of [store, other]) {
        const { removed, skipped } = await each.prune({ graceMilliseconds: -1000 });
        assertEquals(removed, 0);
        assertMatch(skipped!, /another process is writing/);
      }
      // What a removed model leaves is taken away once the work is done.
      await store.remove("a");
      assertEquals(blobNames(folder).length, 3);
    });
    assertEquals(blobNames(folder), [await BLOB("new")]);
    await Deno.mkdir(`${folder}/${HERE}/x`, { recursive: true });
    await Deno.symlink("loop", `${folder}/${HERE}/x/loop`);
    const { removed, skipped } = await store.prune({ graceMilliseconds: -1000 });
    assertEquals(removed, 0);
    assertStringIncludes(skipped!, "The store was not cleaned up: ");
  });
});

Deno.test("prune() leaves alone what manifests of other programs may need", async () => {
  const text = async (name: string) => `sha256:${await sha256(name)}`;
  const list = JSON.stringify({
    mediaType: "application/vnd.ollama.manifest.list.v2+json",
    manifests: [{ digest: await text("child") }],
  });
  await withFiles({}, async ({ folder, createStore }) => {
    const store = createStore();
    const weights = await writeModel(store, "a", "weights");
    const child = await Deno.readTextFile(`${folder}/${HERE}/a/latest`);
    const childBlob = await store.blobs.put(new TextEncoder().encode(child));
    const named = list.replace(await text("child"), childBlob.digest);
    await writeFile(`${folder}/${HERE}/all/latest`, named);
    await writeFile(`${folder}/${HERE}/cut/latest`, `{"layers":[{"digest":"${await text("cut")}`);
    await store.blobs.put(new TextEncoder().encode("cut"));
    await store.remove("a");
    assertEquals((await store.prune({ graceMilliseconds: -1000 })).removed, 0);
    assertEquals(await store.blobs.sizeOf(weights), 7);
    assertEquals(blobNames(folder).length, 4);
  });
});
