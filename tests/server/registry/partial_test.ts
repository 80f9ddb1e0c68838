// Partial files and their records: those that Ollama left are gone on with, those that cannot be
// true are not.

import { assertEquals } from "@std/assert";
import { pullModel } from "../../../server/registry/mod.ts";
import { PartialFile } from "../../../server/registry/partial_file.ts";
import { planParts, readRecords, writeRecord } from "../../../server/registry/parts.ts";
import { FakeRegistry } from "./fake_registry.ts";
import { collect, digestOf, openStore, QUICK, sampleModel, withFolder } from "./fixtures.ts";

const options = { insecure: true, signal: new AbortController().signal, tuning: QUICK };

Deno.test("pullModel() goes on with a partial download of Ollama", () =>
  withFolder(async (folder) => {
    const model = sampleModel();
    await using registry = new FakeRegistry(model);
    const store = openStore(folder);
    const { digest } = model.weights;
    const content = model.blobs.get(digest)!;
    const partial = store.blobs.partialPath(digest);
    // Three parts of 100000 bytes, of which 60000, all and none are there.
    const file = new Uint8Array(300_000);
    file.set(content.subarray(0, 60_000), 0);
    file.set(content.subarray(100_000, 200_000), 100_000);
    await Deno.mkdir(store.blobs.folder, { recursive: true });
    await Deno.writeFile(partial, file);
    for (const [N, Completed] of [60_000, 100_000, 0].entries()) {
      const record = { N, Offset: N * 100_000, Size: 100_000, Completed };
      await Deno.writeTextFile(`${partial}-${N}`, JSON.stringify(record) + "\n");
    }
    await collect(pullModel(store, registry.name, options));
    const ranges = registry.requestsFor(digest).map(({ range }) => range!);
    assertEquals(ranges.toSorted(([a], [b]) => a - b), [[60_000, 99_999], [200_000, 299_999]]);
    assertEquals(await Deno.readFile(store.blobs.pathOf(digest)), content);
    assertEquals(await readRecords(partial), []);
  }));

Deno.test("planParts() cuts a blob and fills the gaps between known parts", () => {
  const part = (N: number, Offset: number, Size: number, Completed = 0) => ({
    N,
    Offset,
    Size,
    Completed,
  });
  assertEquals(planParts(0, 10), []);
  assertEquals(planParts(25, 10), [part(0, 0, 10), part(1, 10, 10), part(2, 20, 5)]);
  const known = [part(3, 12, 6, 6), part(1, 0, 5, 2)];
  assertEquals(planParts(25, 10, known), [
    part(1, 0, 5, 2),
    part(4, 5, 7),
    part(3, 12, 6, 6),
    part(5, 18, 7),
  ]);
});

Deno.test("planParts() takes no records that cannot be true", () => {
  const fresh = planParts(20, 10);
  const good = { N: 0, Offset: 0, Size: 10, Completed: 5 };
  for (
    const bad of [
      { Offset: 15 },
      { Offset: -1 },
      { Completed: 11 },
      { Completed: 0.5 },
      { Size: 0 },
      { Size: "10" },
      { N: undefined },
    ]
  ) {
    const record = { ...good, ...bad } as unknown as typeof good;
    assertEquals(planParts(20, 10, [record]), fresh, JSON.stringify(bad));
  }
  assertEquals(planParts(20, 10, [good, { ...good, N: 1, Offset: 9 }]), fresh, "overlapping");
  assertEquals(planParts(20, 10, [good, { ...good, Offset: 10 }]), fresh, "the same number");
});

Deno.test("writeRecord() leaves nothing of a longer record behind", () =>
  withFolder(async (folder) => {
    const path = `${folder}/sha256-x-partial`;
    const long = { N: 0, Offset: 0, Size: 2 ** 50, Completed: 2 ** 49 };
    await writeRecord(path, long);
    const short = { ...long, Completed: 0 };
    await writeRecord(path, short);
    await Deno.writeTextFile(`${path}-1`, "{cut");
    await Deno.writeTextFile(`${path}-x`, JSON.stringify(long));
    assertEquals(await readRecords(path), [short]);
  }));

Deno.test("PartialFile hashes right whatever the order, and after a part is taken back", () =>
  withPartial(async (open, content) => {
    using partial = (await open())!;
    for (const start of [30_000, 0, 20_000]) await writeFrom(partial, content, start, 10_000);
    await partial.write(10_000, new Uint8Array(5000));
    await partial.rewind(partial.parts[1]!, 0);
    assertEquals(partial.completed, 30_000);
    await partial.write(10_500, content.subarray(10_500, 11_000));
    assertEquals(partial.completed, 30_000, "no gap within a part");
    await writeFrom(partial, content, 10_000, 10_000);
    assertEquals(await partial.digest(), digestOf(content));
    await partial.discard();
    assertEquals(partial.completed, 0);
    await partial.write(0, content);
    assertEquals(await partial.digest(), digestOf(content));
  }));

Deno.test("PartialFile goes on with what is recorded, and is open once at a time", () =>
  withPartial(async (open, content, path) => {
    {
      using partial = (await open())!;
      assertEquals(await open(), undefined, "it is locked");
      for (const start of [30_000, 0]) await writeFrom(partial, content, start, 10_000);
      await partial.settle();
    }
    using partial = (await open())!;
    assertEquals(partial.completed, 20_000);
    // One stream over all parts leaves alone what is there.
    await writeFrom(partial, new Uint8Array(10_000), 0, 10_000);
    await writeFrom(partial, content, 0, 40_000);
    assertEquals(partial.completed, 40_000);
    assertEquals(await partial.digest(), digestOf(content));
    assertEquals(await Deno.readFile(path), content);
  }));

/** Runs a test with a way to open a partial file of 40000 bytes in four parts. */
async function withPartial(
  test: (
    open: () => Promise<PartialFile | undefined>,
    content: Uint8Array,
    path: string,
  ) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const content = crypto.getRandomValues(new Uint8Array(40_000));
    const path = `${folder}/sha256-x-partial`;
    const partialOptions = { total: content.length, partBytes: 10_000, recordInterval: 0 };
    await test(() => PartialFile.tryOpen(path, partialOptions), content, path);
  });
}

async function writeFrom(
  partial: PartialFile,
  content: Uint8Array,
  start: number,
  length: number,
): Promise<void> {
  for (let at = start; at < start + length; at += 700) {
    await partial.write(at, content.subarray(at, Math.min(at + 700, start + length)));
  }
}
