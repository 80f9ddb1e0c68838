// Push and pull with a real registry program at the other end: what arrives is what was sent.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { pullModel, pushModel, RegistryError } from "../../../server/registry/mod.ts";
import { DockerRegistry, HAS_DOCKER_REGISTRY, IGNORED_WITHOUT } from "./docker_registry.ts";
import {
  addModel,
  blobFiles,
  collect,
  openStore,
  QUICK,
  type SampleModel,
  sampleModel,
  withFolder,
} from "./fixtures.ts";

const options = { insecure: true, signal: new AbortController().signal, tuning: QUICK };

/** A test with a registry, the model that was pushed to it, and a folder for another store. */
function testWithRegistry(
  name: string,
  test: (
    context: { name: string; host: string; model: SampleModel; folder: string },
  ) => Promise<void>,
): void {
  const run = () =>
    withFolder(async (folder) => {
      await using registry = await DockerRegistry.start(folder);
      const model = sampleModel();
      const source = openStore(`${folder}/source`);
      const name = `${registry.host}/team/sample:7b`;
      await addModel(source, name, model);
      const records = await collect(pushModel(source, name, options));
      assertEquals(records.at(-1), { status: "success" });
      await test({ name, host: registry.host, model, folder: `${folder}/store` });
    });
  Deno.test({ name: name + IGNORED_WITHOUT, ignore: !HAS_DOCKER_REGISTRY, fn: run });
}

testWithRegistry(
  "pullModel() gets from docker-registry what pushModel() put there",
  async (context) => {
    const { name, model, folder } = context;
    const store = openStore(folder);
    const records = await collect(pullModel(store, name, options));
    assertEquals(records.at(-1), { status: "success" });
    assertEquals(
      await Deno.readFile(`${folder}/manifests/${name.replace(":7b", "/7b")}`),
      model.bytes,
    );
    for (const [digest, content] of model.blobs) {
      assertEquals(await Deno.readFile(store.blobs.pathOf(digest)), content);
    }
    assertEquals((await blobFiles(store)).length, model.blobs.size);
  },
);

testWithRegistry("pullModel() resumes from docker-registry after it was cut", async (context) => {
  const { name, model, folder } = context;
  const store = openStore(folder);
  const { digest } = model.weights;
  const controller = new AbortController();
  const asked: [start: number, end: number][] = [];
  const watched: typeof fetch = (input, init) => {
    const range = new Headers(init?.headers).get("range")?.match(/(\d+)-(\d+)/);
    if (range) asked.push([Number(range[1]), Number(range[2]) + 1]);
    return fetch(input, init);
  };
  // The first pull ends in the middle: after the fifth of its parts.
  const cut: typeof fetch = (input, init) => {
    if (asked.length === 5) controller.abort(new Error("The cable was pulled"));
    return watched(input, init);
  };
  await assertRejects(
    () => collect(pullModel(store, name, { ...options, signal: controller.signal, fetch: cut })),
    Error,
    "cable",
  );
  assert((await blobFiles(store)).includes(`${digest.replace(":", "-")}-partial`));

  asked.length = 0;
  await collect(pullModel(store, name, { ...options, fetch: watched }));
  const bytes = asked.reduce((sum, [start, end]) => sum + end - start, 0);
  assert(bytes < 300_000, `${bytes} bytes came again`);
  assertEquals(await Deno.readFile(store.blobs.pathOf(digest)), model.blobs.get(digest));
  assertEquals((await blobFiles(store)).length, model.blobs.size);
});

testWithRegistry("pushModel() sends no blob that docker-registry has", async (context) => {
  const { name, host, model, folder } = context;
  const store = openStore(folder);
  await collect(pullModel(store, name, options));
  const methods: string[] = [];
  const watched: typeof fetch = (input, init) => {
    methods.push(init!.method!);
    return fetch(input, init);
  };
  const records = await collect(pushModel(store, name, { ...options, fetch: watched }));
  assertEquals(methods, ["HEAD", "HEAD", "HEAD", "PUT"]);
  const { digest, size } = model.weights;
  assertEquals(records.find((record) => record.digest === digest), {
    status: `pushing ${digest.slice(7, 19)}`,
    digest,
    total: size,
    completed: size,
  });

  // Of another repository, the weights are mounted where the layer says where it came from.
  const other = `${host}/team/other:7b`;
  const layers = model.manifest.layers.map((layer) => ({ ...layer, from: name }));
  const bytes = new TextEncoder().encode(JSON.stringify({ ...model.manifest, layers }));
  await addModel(store, other, { ...model, bytes });
  methods.length = 0;
  await collect(pushModel(store, other, { ...options, fetch: watched }));
  // Only the config, which says nothing of the kind, is sent.
  assertEquals(methods.filter((method) => method === "PATCH").length, 1);
  await collect(pullModel(openStore(`${folder}-2`), other, options));
});

testWithRegistry("pushModel() goes on with an upload that broke", async (context) => {
  const { host, folder } = context;
  const store = openStore(folder);
  const model = sampleModel();
  const name = `${host}/team/broken`;
  await addModel(store, name, model);
  const chunks: string[] = [];
  let broken = 0;
  const breaking: typeof fetch = async (input, init) => {
    const range = new Headers(init?.headers).get("content-range");
    if (range?.startsWith("100000-") && broken < 2) {
      broken++;
      // Once before the registry has the chunk, once when its answer is on the way.
      if (broken === 2) await (await fetch(input, init)).body?.cancel();
      throw new TypeError("The cable was pulled");
    }
    if (range && init?.method === "PATCH") chunks.push(range);
    return await fetch(input, init);
  };
  await collect(pushModel(store, name, { ...options, fetch: breaking }));
  assertEquals(broken, 2);
  const begun = chunks.filter((range) => range === "0-49999");
  assertEquals(begun.length <= 2, true, `sent ${chunks}`);
  await collect(pullModel(openStore(`${folder}-2`), name, options));
});

testWithRegistry("pullModel() says what docker-registry does not have", async (context) => {
  const { host, folder } = context;
  const error = await assertRejects(
    () => collect(pullModel(openStore(folder), `${host}/team/none`, options)),
    RegistryError,
  );
  assertEquals(error.message, "pull model manifest: file does not exist");
});

testWithRegistry("pushModel() says which blob the store lacks", async (context) => {
  const { host, folder } = context;
  const store = openStore(folder);
  const model = sampleModel();
  await addModel(store, `${host}/team/lacking`, model);
  await Deno.remove(store.blobs.pathOf(model.weights.digest));
  const error = await assertRejects(
    () => collect(pushModel(store, `${host}/team/lacking`, options)),
    RegistryError,
  );
  assertStringIncludes(error.message, `Cannot push blob ${model.weights.digest}: it is not in the`);
});
