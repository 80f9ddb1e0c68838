// Blocks on disk: what is damaged or another's is never taken for a block, files of dead processes go,
// and the folder stays within its bytes.

import { measureBlocks, nameAfter, rootName } from "../../../engine/block_store/mod.ts";
import { DiskStore } from "../../../engine/block_store/disk_store.ts";
import type { StoredBlock } from "../../../engine/block_store/mod.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";

const block = (seed: number, bytes = 1000): StoredBlock => ({
  cached: Uint8Array.from({ length: bytes }, (_, i) => i * seed + seed),
});

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function openIn(folder: string, bytes = 2 ** 20, model = "one", retryAfter?: number) {
  const warnings: string[] = [];
  const options = { folder, bytes, ...(retryAfter !== undefined && { retryAfter }) };
  const store = await DiskStore.open(model, options, (text) => warnings.push(text));
  return { store, warnings };
}

const names = Array.from({ length: 40 }, (_, i) => nameAfter(rootName("one"), [i]));

Deno.test("a block that comes when the last one has just been written is written too", () =>
  withFolder(async (folder) => {
    const { store } = await openIn(folder);
    const { cached } = block(2);
    // The bytes of a block are asked for when it is queued, and once more right after it was written.
    let asked = 0;
    store.put(names[0]!, {
      get cached() {
        if (asked++ === 2) queueMicrotask(() => store.put(names[1]!, block(4)));
        return cached;
      },
    });
    for (let i = 0; i < 100 && !store.has(names[1]!); i++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await store.flush();
    const { store: next } = await openIn(folder);
    assertEquals([next.has(names[0]!), next.has(names[1]!)], [true, true]);
  }));

Deno.test("blocks are there as they were, before they are written and after a restart", () =>
  withFolder(async (folder) => {
    const { store } = await openIn(folder);
    const withStates = { ...block(3), states: block(5, 64).cached };
    store.put(names[0]!, block(2));
    store.put(names[1]!, block(4));
    store.put(names[1]!, withStates);
    assertEquals(await store.read(names[0]!), block(2));
    await store.flush();
    const { store: next, warnings } = await openIn(folder);
    assertEquals([next.has(names[0]!), next.has(names[2]!)], [true, false]);
    assertEquals([next.hasStates(names[0]!), next.hasStates(names[1]!)], [false, true]);
    for (const [i, stored] of [block(2), withStates].entries()) {
      const { cached, states } = (await next.read(names[i]!))!;
      assertEquals([[...cached], states && [...states]], [
        [...stored.cached],
        "states" in stored ? [...stored.states!] : undefined,
      ]);
    }
    assertEquals(warnings, []);
  }));

Deno.test("a damaged file is noticed, dropped, and told once", () =>
  withFolder(async (folder) => {
    const { store } = await openIn(folder);
    names.slice(0, 5).forEach((name, i) => store.put(name, block(i + 1)));
    await store.flush();
    const own = `${folder}/${rootName("one")}`;
    const pathOf = (i: number) => `${own}/${names[i]}.block`;
    const bytes = await Deno.readFile(pathOf(0));
    bytes[500]! ^= 1;
    await Deno.writeFile(pathOf(0), bytes);
    await Deno.writeFile(pathOf(1), (await Deno.readFile(pathOf(1))).subarray(0, 700));
    await Deno.writeFile(pathOf(2), new Uint8Array(0));
    await Deno.copyFile(pathOf(4), pathOf(3)); // whole, and another block's

    const { store: next, warnings } = await openIn(folder);
    for (const i of [0, 1, 2, 3]) assertEquals(await next.read(names[i]!), undefined);
    assertEquals([...(await next.read(names[4]!))!.cached], [...block(5).cached]);
    assertEquals(warnings.length, 1);
    assert(/dropped a file.*its checksum is wrong; its tokens are read again/.test(warnings[0]!));
    const left = await Array.fromAsync(Deno.readDir(own));
    assertEquals(left.map(({ name }) => name), [`${names[4]}.block`]);
    next.put(names[0]!, block(9));
    await next.flush();
    assertEquals([...(await next.read(names[0]!))!.cached], [...block(9).cached]);
  }));

Deno.test("files of another model are none of a model's, whatever they are called", () =>
  withFolder(async (folder) => {
    const { store } = await openIn(folder, 2 ** 20, "two");
    store.put(names[0]!, block(1));
    await store.flush();
    await Deno.mkdir(`${folder}/${rootName("one")}`);
    const file = `${names[0]}.block`;
    await Deno.copyFile(
      `${folder}/${rootName("two")}/${file}`,
      `${folder}/${rootName("one")}/${file}`,
    );
    const { store: one, warnings } = await openIn(folder);
    assertEquals(await one.read(names[0]!), undefined);
    assert(warnings[0]!.includes("it is another block's"));
  }));

Deno.test("the folder stays within its bytes: what was used longest ago goes first", () =>
  withFolder(async (folder) => {
    const { store, warnings } = await openIn(folder, 20_000);
    for (const [i, name] of names.entries()) {
      store.put(name, block(i + 1));
      await store.flush();
    }
    const files = await Array.fromAsync(Deno.readDir(`${folder}/${rootName("one")}`));
    assert(files.length <= 18 && files.length > 10, `${files.length} files`);
    assertEquals([store.has(names[0]!), store.has(names.at(-1)!)], [false, true]);
    const other = await openIn(folder, 20_000, "two");
    for (const [i, name] of names.entries()) other.store.put(name, block(i + 1));
    await other.store.flush();
    const left = await Array.fromAsync(Deno.readDir(`${folder}/${rootName("one")}`));
    assertEquals(left.length, 0, "those of another model were older");
    assertEquals(await store.read(names.at(-1)!), undefined);
    assertEquals([...warnings, ...other.warnings], []);
  }));

Deno.test("models that write at the same time keep to the folder's bytes together", () =>
  withFolder(async (folder) => {
    const bytes = 30_000;
    const models = ["one", "two", "three", "four"];
    const stores = await Promise.all(models.map((model) => openIn(folder, bytes, model)));
    let most = 0;
    for (const [i, name] of names.entries()) {
      for (const { store } of stores) store.put(name, block(i + 1));
      await Promise.all(stores.map(({ store }) => store.flush()));
      most = Math.max(most, await measureBlocks(folder));
    }
    assert(most <= bytes && most > 0.8 * bytes, `${most} bytes`);
    for (const { store, warnings } of stores) {
      assertEquals(warnings, []);
      assert(await store.read(names.at(-1)!), "each has its last block");
    }
  }));

Deno.test("a block that replaces another, or is damaged, is not counted twice", () =>
  withFolder(async (folder) => {
    const { store } = await openIn(folder, 5000);
    for (let i = 0; i < 20; i++) {
      store.put(names[0]!, { ...block(i + 1), ...(i % 2 && { states: block(2, 100).cached }) });
      await store.flush();
    }
    for (const name of names.slice(1, 3)) store.put(name, block(2));
    await store.flush();
    assertEquals(names.slice(0, 3).map((name) => store.has(name)), [true, true, true]);
  }));

Deno.test("files that were used by a clock that ran ahead go first, not what comes new", () =>
  withFolder(async (folder) => {
    const { store } = await openIn(folder, 20_000);
    for (const [i, name] of names.slice(0, 15).entries()) store.put(name, block(i + 1));
    await store.flush();
    const nextYear = Date.now() / 1000 + 365 * 86_400;
    for (const name of names.slice(0, 15)) {
      await Deno.utime(`${folder}/${rootName("one")}/${name}.block`, nextYear, nextYear);
    }
    const { store: next } = await openIn(folder, 20_000);
    for (const name of names.slice(15, 30)) {
      next.put(name, block(3));
      await next.flush();
      assert(next.has(name));
    }
    assertEquals(names.slice(15, 30).filter((name) => !next.has(name)), []);
  }));

Deno.test("parts of processes that ended are removed at the next start", () =>
  withFolder(async (folder) => {
    await openIn(folder);
    const path = `${folder}/${rootName("one")}/old.part`;
    await Deno.writeTextFile(path, "half");
    const { store, warnings } = await openIn(folder);
    const left = await Array.fromAsync(Deno.readDir(`${folder}/${rootName("one")}`));
    assertEquals([left, store.has("old"), warnings], [[], false, []]);
  }));

Deno.test("after a full disk blocks are kept again, and both is told once", () =>
  withFolder(async (folder) => {
    const { store, warnings } = await openIn(folder, 2 ** 20, "one", 20);
    store.put(names[0]!, block(1));
    await store.flush();
    // As with a full disk, no file can be written.
    const own = `${folder}/${rootName("one")}`;
    await Deno.rename(own, `${folder}/away`);
    await Deno.writeTextFile(own, "");
    for (const name of names.slice(1, 4)) {
      store.put(name, block(2));
      await store.flush();
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    assertEquals([store.has(names[1]!), warnings.length], [false, 1]);
    assertStringIncludes(warnings[0]!, "nothing is kept on disk for now in ");
    await Deno.remove(own);
    await Deno.rename(`${folder}/away`, own);
    store.put(names[4]!, block(5));
    await store.flush();
    assertEquals([...(await store.read(names[4]!))!.cached], [...block(5).cached]);
    assert(await store.read(names[0]!), "what there was is there still");
    assertEquals(warnings.slice(1), [`blocks are kept on disk again in ${folder}`]);
  }));

Deno.test("where nothing can be written, that is told once and nothing is kept", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/file`, "");
    const { store, warnings } = await openIn(`${folder}/file`);
    store.put(names[0]!, block(1));
    await store.flush();
    assertEquals([store.has(names[0]!), warnings.length], [false, 1]);
    assert(warnings[0]!.startsWith("nothing is kept on disk for now in "));
  }));
