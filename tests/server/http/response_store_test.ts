// The files of kept responses: that they are whole or not there, whose they are, and how few stay.

import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { dirname } from "node:path";
import { ResponseStore, type ResponseStoreOptions } from "../../../server/http/response_store.ts";
import { later } from "../../clock.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

interface Opened {
  folder: string;
  store: ResponseStore;
  warnings: string[];
  /** Another server's view of the folder. */
  open(bounds?: Partial<ResponseStoreOptions>): ResponseStore;
  read(id: string, owner?: string): Promise<string | undefined>;
}

async function withStore(test: (opened: Opened) => Promise<void>): Promise<void> {
  const parent = await Deno.makeTempDir();
  const folder = `${parent}/cache/responses`;
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const open: Opened["open"] = (bounds) =>
    new ResponseStore({ folder, warn, count: 100, bytes: 1e6, age: 3_600_000, ...bounds });
  const store = open();
  const read: Opened["read"] = async (id, owner = "") => {
    const bytes = await store.get(id, owner);
    return bytes && decode(bytes);
  };
  try {
    await test({ folder, store, warnings, open, read });
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}

/** An id as if made so many milliseconds ago. */
function idOf(ago: number): string {
  const time = (Date.now() - ago).toString(16).padStart(12, "0");
  return time + ResponseStore.newId().slice(12);
}

const filesOf = async (folder: string) =>
  (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();

Deno.test("what is put is got back, by its owner alone, also by another process's store", () =>
  withStore(async ({ folder, store, open, read }) => {
    const [mine, theirs] = [ResponseStore.newId(), ResponseStore.newId()];
    assertEquals(await store.put(mine, "", encode("one é")), true);
    assertEquals(await store.put(theirs, "key", encode("two")), true);
    assertEquals(await read(mine), "one é");
    assertEquals(await read(theirs, "key"), "two");
    for (const [id, owner] of [[mine, "key"], [theirs, ""], [theirs, "other"]] as const) {
      assertEquals(await read(id, owner), undefined);
      assertEquals(await store.delete(id, owner), false);
    }
    assert(await open().get(mine, ""));
    assertEquals(await open().delete(mine, ""), true);
    assertEquals([await read(mine), await store.delete(mine, "")], [undefined, false]);
    assertEquals(await filesOf(folder), [theirs]);
  }));

Deno.test("changes of one content happen one after the other, and its new size counts", () =>
  withStore(async ({ folder, store, open, read }) => {
    const id = ResponseStore.newId();
    await store.put(id, "", encode("0"));
    const add = (text: string) =>
      store.change(id, "", (content) => Promise.resolve(encode(decode(content) + text)));
    assertEquals(await Promise.all([..."123456789"].map(add)), Array(9).fill(true));
    assertEquals(await read(id), "0123456789");
    const fails = store.change(id, "", () => Promise.reject(new Error("no")));
    await assertRejects(() => fails, Error, "no");
    assertEquals(await store.change(id, "other", () => Promise.reject(new Error())), undefined);
    assertEquals(await read(id), "0123456789");
    assertEquals(await filesOf(folder), [id]);
    const small = open({ bytes: 2500 });
    const [old, grown] = [idOf(2000), idOf(1000)];
    for (const each of [old, grown]) await small.put(each, "", encode("x".repeat(500)));
    await small.change(grown, "", () => Promise.resolve(encode("x".repeat(2000))));
    assertEquals((await filesOf(folder)).includes(old), false);
  }));

Deno.test("ids are unguessable, tell when they were made, and lead to no other file", () =>
  withStore(async ({ folder, store, read }) => {
    const [one, two] = [ResponseStore.newId(), ResponseStore.newId()];
    assertMatch(one, /^[0-9a-f]{48}$/);
    assertNotEquals(one.slice(12), two.slice(12));
    assert(Math.abs(ResponseStore.madeAt(one)!.getTime() - Date.now()) < 60_000);
    await store.put(one, "", encode("one"));
    await Deno.writeTextFile(`${folder}/../secret`, "secret");
    for (const id of ["../secret", "", "..", one.toUpperCase(), `${one}/`, `${one}\0`]) {
      assertEquals([id, await read(id)], [id, undefined]);
      assertEquals(await store.delete(id, ""), false);
    }
    assertEquals(await Deno.readTextFile(`${folder}/../secret`), "secret");
  }));

Deno.test("files and their folder are readable for their user alone", {
  ignore: Deno.build.os === "windows",
}, () =>
  withStore(async ({ folder, store }) => {
    const id = ResponseStore.newId();
    await store.put(id, "", encode("one"));
    const modes = [folder, `${folder}/${id}`].map((path) => Deno.statSync(path).mode! & 0o777);
    assertEquals(modes, [0o700, 0o600]);
  }));

Deno.test("the oldest go where there are too many, or they are too large together", () =>
  withStore(async ({ folder, open }) => {
    const ids = [50, 40, 30, 20, 10].map((seconds) => idOf(seconds * 1000));
    for (const id of ids.toReversed()) await open().put(id, "", encode("x".repeat(1000)));
    const few = open({ count: 3 });
    await few.put(idOf(5000), "", encode("x"));
    assertEquals((await filesOf(folder)).slice(0, 2), ids.slice(3));
    const small = open({ bytes: 2500 });
    const newest = idOf(0);
    await small.put(newest, "", encode("x".repeat(1000)));
    const files = await filesOf(folder);
    assertEquals([files.length, files[0], files.at(-1)], [3, ids[4], newest]);
    let bytes = 0;
    for (const name of files) bytes += (await Deno.stat(`${folder}/${name}`)).size;
    assert(bytes <= 2500, `${bytes}`);
  }));

for (const ahead of [90_000, 3_600_000, 365 * 86_400_000]) {
  Deno.test(`what was kept while the clock ran ${ahead / 1000} s ahead goes first, not what comes new`, () =>
    withStore(async ({ folder, open }) => {
      const store = open({ count: 5 });
      const before = idOf(1000);
      await store.put(before, "", encode("before"));
      for (let i = 0; i < 9; i++) await store.put(idOf(-ahead - i), "", encode("ahead"));
      const ids = [6, 5, 4, 3, 2, 1, 0].map(idOf);
      for (const [i, id] of ids.entries()) {
        await store.put(id, "", encode("new"));
        for (const kept of ids.slice(Math.max(0, i - 4), i + 1)) assert(await store.get(kept, ""));
        assertEquals((await filesOf(folder)).length, 5);
      }
      // Another server finds the same.
      const other = open({ count: 5 });
      await other.put(idOf(-ahead), "", encode("ahead"));
      const id = idOf(0);
      await other.put(id, "", encode("new"));
      assert(await other.get(id, ""));
    }));
}

Deno.test("what was kept while the clock ran ahead gets too old as well", () =>
  withStore(async ({ open }) => {
    const id = idOf(-1e9);
    await open().put(id, "", encode("ahead"));
    const store = open({ age: 50_000 });
    assert(await store.get(id, ""));
    using _clock = later(60_000);
    assertEquals(await store.get(id, ""), undefined);
  }));

Deno.test("a response that is larger than all may be is not kept, and pushes none out", () =>
  withStore(async ({ folder, warnings, open }) => {
    const store = open({ bytes: 2000 });
    const id = ResponseStore.newId();
    await store.put(id, "", encode("small"));
    assertEquals(await store.put(ResponseStore.newId(), "", encode("x".repeat(2000))), false);
    assertEquals(await filesOf(folder), [id]);
    assertMatch(warnings.join(), /2000 bytes, more than all may have/);
  }));

Deno.test("what is too old is not given out, and goes with the next trim", () =>
  withStore(async ({ folder, open }) => {
    const [old, young] = [idOf(120_000), idOf(1000)];
    await open().put(old, "", encode("old"));
    await open().put(young, "", encode("young"));
    const store = open({ age: 60_000 });
    assertEquals([await store.get(old, ""), store.isExpired(old)], [undefined, true]);
    assert(await store.get(young, ""));
    await store.trim();
    assertEquals(await filesOf(folder), [young]);
    assertEquals(open({ age: Infinity }).isExpired(idOf(1e12)), false);
  }));

Deno.test("a damaged file is found out at any byte, told of and removed", () =>
  withStore(async ({ folder, warnings, store }) => {
    const content = encode('{"response":{}}');
    const size = 130 + content.length;
    for (const at of [0, 63, 64, 65, 128, 129, 130, size - 1]) {
      const id = ResponseStore.newId();
      await store.put(id, "", content);
      const bytes = await Deno.readFile(`${folder}/${id}`);
      assertEquals(bytes.length, size);
      bytes[at]! ^= 1;
      await Deno.writeFile(`${folder}/${id}`, bytes);
      assertEquals([at, await store.get(id, "")], [at, undefined]);
    }
    for (const length of [0, 1, 64, 65, 129, 130, size - 1]) {
      const id = ResponseStore.newId();
      await store.put(id, "", content);
      await Deno.truncate(`${folder}/${id}`, length);
      assertEquals([length, await store.get(id, "")], [length, undefined]);
    }
    assertEquals([await filesOf(folder), warnings.length], [[], 15]);
  }));

Deno.test("what a killed server left half written goes after a while, and is no response before", () =>
  withStore(async ({ folder, store }) => {
    const ids = [ResponseStore.newId(), ResponseStore.newId()];
    await Deno.mkdir(folder, { recursive: true });
    for (const id of ids) await Deno.writeTextFile(`${folder}/${id}.part`, "half");
    await Deno.utime(`${folder}/${ids[0]}.part`, new Date(0), new Date(0));
    assertEquals(await store.get(ids[1]!, ""), undefined);
    await store.trim();
    assertEquals(await filesOf(folder), [`${ids[1]}.part`]);
  }));

Deno.test("where nothing can be written, nothing is kept, and the log says why", () =>
  withStore(async ({ folder, warnings, store }) => {
    await Deno.mkdir(dirname(folder));
    await Deno.writeTextFile(folder, "a file in its place");
    const id = ResponseStore.newId();
    assertEquals(await store.put(id, "", encode("x")), false);
    assertEquals([await store.get(id, ""), warnings.length], [undefined, 1]);
    assertMatch(warnings[0]!, /^a response is not kept: /);
  }));

Deno.test("two servers on one folder keep to the bounds together", () =>
  withStore(async ({ folder, open }) => {
    const stores = [open({ count: 5 }), open({ count: 5 })];
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        return stores[index % 2]!.put(idOf(30_000 - index * 1000), "", encode(`${index}`));
      }),
    );
    await stores[0]!.trim();
    assertEquals((await filesOf(folder)).length, 5);
  }));

const CHILD = import.meta.resolve("./response_writer_child.ts");

Deno.test("a store survives kills of the process that writes to it", () =>
  withStore(async ({ folder, store }) => {
    for (let kill = 0; kill < 3; kill++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", "--no-lock", CHILD, folder],
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
      let told = "";
      while (told.length < 49 * 5) told += (await reader.read()).value;
      child.kill("SIGKILL");
      for (let piece; !(piece = await reader.read()).done;) told += piece.value;
      await child.status;
      const last = told.trimEnd().split("\n").at(-1)!;
      assertEquals((await store.get(last, ""))?.length, 300_000);
      const whole = (await filesOf(folder)).filter((name) => !name.endsWith(".part"));
      for (const id of whole) assertEquals((await store.get(id, ""))?.length, 300_000);
      assert(whole.length <= 21, `${whole.length}`);
    }
  }));
