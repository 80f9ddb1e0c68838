// Pulls from a registry that behaves: what is fetched, what is reported, what is kept.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ModelName, ModelNotFoundError } from "../../../engine/mod.ts";
import { DiskFullError, pullModel, RegistryError } from "../../../server/registry/mod.ts";
import { FakeRegistry } from "./fake_registry.ts";
import {
  blobFiles,
  collect,
  openStore,
  QUICK,
  type SampleModel,
  sampleModel,
  withFolder,
} from "./fixtures.ts";

const signal = new AbortController().signal;
const options = { insecure: true, signal, tuning: QUICK };

Deno.test("pullModel() stores what the registry has, and reports as Ollama does", async () => {
  await withFolder(async (folder) => {
    const model = sampleModel();
    await using registry = new FakeRegistry(model);
    const store = openStore(folder);
    registry.misbehave((_, proper) => ({ ...proper, pace: { bytes: 4096, milliseconds: 1 } }));

    const records = await collect(pullModel(store, registry.name, options));

    const path = `${folder}/manifests/${registry.name.replace(":latest", "/latest")}`;
    assertEquals(await Deno.readFile(path), model.bytes);
    for (const [digest, content] of model.blobs) {
      assertEquals(await Deno.readFile(store.blobs.pathOf(digest)), content);
    }
    assertEquals(await blobFiles(store), blobNames(model), "only blobs are left");
    const { digest, size } = model.weights;
    const status = `pulling ${digest.slice(7, 19)}`;
    const ofWeights = records.filter((record) => record.digest === digest);
    assertEquals(ofWeights[0], { status, digest, total: size });
    assertEquals(ofWeights.at(-1), { status, digest, total: size, completed: size });
    assert(ofWeights.length > 4, "progress is reported in between");
    const completed = ofWeights.map((record) => record.completed ?? 0);
    assertEquals(completed, completed.toSorted((a, b) => a - b));
    assertEquals(records.filter((record) => !record.digest).map((record) => record.status), [
      "pulling manifest",
      "verifying sha256 digest",
      "writing manifest",
      "success",
    ]);
  });
});

Deno.test("pullModel() downloads the parts of a blob side by side", async () => {
  await withFolder(async (folder) => {
    await using registry = new FakeRegistry(sampleModel());
    await collect(pullModel(openStore(folder), registry.name, options));
    const ranges = registry.requestsFor(registry.model.weights.digest).map(({ range }) => range!);
    assertEquals(ranges.length, Math.ceil(300_000 / 2 ** 14));
    let next = 0;
    for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
      assertEquals(first, next);
      next = last + 1;
    }
    assertEquals(next, 300_000);
  });
});

Deno.test("pullModel() fetches no blob that is there, and removes unused layers", async () => {
  await withFolder(async (folder) => {
    const first = sampleModel();
    await using registry = new FakeRegistry(first);
    const store = openStore(folder);
    await collect(pullModel(store, registry.name, options));

    const second = sampleModel(1000);
    const kept = first.manifest.layers[0]!;
    const manifest = { ...second.manifest, layers: [kept, second.manifest.layers[1]!] };
    const bytes = new TextEncoder().encode(JSON.stringify(manifest, null, 2));
    const blobs = new Map([...second.blobs, [kept.digest, first.blobs.get(kept.digest)!]]);
    blobs.delete(second.weights.digest);
    const changed = { ...second, manifest, bytes, blobs };
    await using successor = new FakeRegistry(changed);
    // The name now leads to the other registry.
    const forward: typeof fetch = (input, init) =>
      fetch(String(input).replace(registry.host, successor.host), init);
    const records = await collect(
      pullModel(store, registry.name, { ...options, fetch: forward }),
    );

    assertEquals(successor.requestsFor(kept.digest), []);
    assertEquals(records.filter(({ digest }) => digest === kept.digest), [{
      status: `pulling ${kept.digest.slice(7, 19)}`,
      digest: kept.digest,
      total: kept.size,
      completed: kept.size,
    }]);
    assertEquals(records.slice(-2).map(({ status }) => status), [
      "removing unused layers",
      "success",
    ]);
    assertEquals(await blobFiles(store), blobNames(changed));
    const path = `${folder}/manifests/${registry.name.replace(":latest", "/latest")}`;
    assertEquals(await Deno.readFile(path), bytes, "also in an unusual layout");
  });
});

Deno.test("pullModel() says that the registry has no such model", async () => {
  await withFolder(async (folder) => {
    await using registry = new FakeRegistry(sampleModel());
    registry.misbehave(() => ({ status: 404 }));
    const records: string[] = [];
    const error = await assertRejects(async () => {
      for await (const { status } of pullModel(openStore(folder), registry.name, options)) {
        records.push(status);
      }
    }, RegistryError);
    assertEquals(error.message, "pull model manifest: file does not exist");
    assertEquals(error.status, 404);
    assertEquals(records, ["pulling manifest"]);
  });
});

Deno.test("pullModel() refuses http unless it is allowed", async () => {
  await withFolder(async (folder) => {
    await using registry = new FakeRegistry(sampleModel());
    const strict = { ...options, insecure: false };
    const pull = (name: string) => collect(pullModel(openStore(folder), name, strict));
    const error = await assertRejects(() => pull(`http://${registry.name}`), RegistryError);
    assertStringIncludes(error.message, "insecure protocol http");
    assertEquals(registry.requests.length, 0);
    await collect(pullModel(openStore(folder), `http://${registry.name}`, options));
  });
});

Deno.test("pullModel() says before the first byte that the disk has no room", async () => {
  await withFolder(async (folder) => {
    await using registry = new FakeRegistry(sampleModel());
    const store = openStore(folder);
    const small = { ...options, freeBytes: () => Promise.resolve(250_000) };
    const error = await assertRejects(
      () => collect(pullModel(store, registry.name, small)),
      DiskFullError,
    );
    assert(error.needed > 300_000 && error.needed < 301_000);
    assertEquals(error.free, 250_000);
    assertStringIncludes(error.message, "300 kB are needed");
    assertStringIncludes(error.message, "250 kB are free");
    assertEquals(registry.requests.map(({ kind }) => kind), ["manifest"]);
    await assertRejects(() => store.find(registry.name), ModelNotFoundError);
  });
});

Deno.test("pullModel() stops when it is cancelled, and goes on from there", async () => {
  await withFolder(async (folder) => {
    const model = sampleModel();
    await using registry = new FakeRegistry(model);
    const store = openStore(folder);
    registry.misbehave(({ range }, proper) =>
      range && range[0] > 150_000 ? { ...proper, isSilent: true } : proper
    );
    const controller = new AbortController();
    const cancelled = new Error("The client has gone");
    const error = await assertRejects(async () => {
      const pull = pullModel(store, registry.name, { ...options, signal: controller.signal });
      for await (const { digest, completed } of pull) {
        if (digest === model.weights.digest && completed! > 100_000) controller.abort(cancelled);
      }
    });
    assertEquals(error, cancelled);
    assertEquals(await store.readManifest(ModelName.parse(registry.name)), undefined);

    registry.recover();
    const before = registry.requests.length;
    await collect(pullModel(store, registry.name, options));
    const asked = registry.requests.slice(before)
      .flatMap(({ digest, range }) => digest === model.weights.digest && range ? [range] : []);
    const bytes = asked.reduce((sum, [first, last]) => sum + last + 1 - first, 0);
    assert(bytes > 0 && bytes < 200_000, `${bytes} of 300000 bytes came again`);
    assertEquals(await blobFiles(store), blobNames(model));
  });
});

Deno.test("pullModel() ends when its reader leaves the loop", async () => {
  await withFolder(async (folder) => {
    await using registry = new FakeRegistry(sampleModel());
    registry.misbehave(({ kind }, proper) =>
      kind === "blob" ? { ...proper, hangs: true, cutAfter: 10 } : proper
    );
    const store = openStore(folder);
    for await (const { digest } of pullModel(store, registry.name, options)) if (digest) break;
    registry.recover();
    await collect(pullModel(store, registry.name, options));
  });
});

Deno.test("pullModel() downloads once what two pulls want, and survives one of them", async () => {
  await withFolder(async (folder) => {
    const model = sampleModel();
    await using registry = new FakeRegistry(model);
    const cancelled = Promise.withResolvers<void>();
    registry.misbehave(({ range }, proper) =>
      range && range[0] > 150_000 ? { ...proper, after: cancelled.promise } : proper
    );
    const store = openStore(folder);
    const controller = new AbortController();
    const first = collect(
      pullModel(store, registry.name, { ...options, signal: controller.signal }),
    ).catch((error) => error).finally(cancelled.resolve);
    const second = pullModel(store, registry.name.replace(":latest", ":other"), options);
    for await (const { digest, completed } of second) {
      if (digest === model.weights.digest && completed! > 50_000) controller.abort();
    }
    assertEquals((await first as Error).name, "AbortError");
    const { digest } = model.weights;
    const bytes = registry.requestsFor(digest).reduce(
      (sum, { range: [first, last] = [0, 0] }) => sum + last + 1 - first,
      0,
    );
    assertEquals(bytes, 300_000);
    assert(await store.find(registry.name.replace(":latest", ":other")));
  });
});

Deno.test("pullModel() pulls blobs of no bytes, and of one", async () => {
  for (const size of [0, 1, 2 ** 14, 2 ** 14 + 1]) {
    await withFolder(async (folder) => {
      const model = sampleModel(size);
      await using registry = new FakeRegistry(model);
      const store = openStore(folder);
      await collect(pullModel(store, registry.name, options));
      const content = await Deno.readFile(store.blobs.pathOf(model.weights.digest));
      assertEquals(content, model.blobs.get(model.weights.digest));
    });
  }
});

function blobNames({ blobs }: SampleModel): string[] {
  return [...blobs.keys()].map((digest) => digest.replace(":", "-")).sort();
}
