// What leaves KV caches is measured, on disk as well, and told in /metrics.

import { inspectModel } from "../../../engine/mod.ts";
import { assemble } from "../../../server/http/assemble.ts";
import { BlockCache } from "../../../server/http/block_cache.ts";
import { Metrics } from "../../../server/http/metrics/metrics.ts";
import { readSettings } from "../../../server/settings/settings.ts";
import { assert, assertEquals } from "@std/assert";

Deno.test("the files of blocks on disk are measured and told in /metrics", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/model`);
    for (const [name, bytes] of [["a.block", 1000], ["b.states", 500], ["c.part", 7]] as const) {
      await Deno.writeFile(`${folder}/model/${name}`, new Uint8Array(bytes));
    }
    const blocks = new BlockCache({ cacheDisk: { folder, bytes: 4096 } }, () => {});
    assertEquals(blocks.onDisk, { bytes: 0, limit: 4096 });
    await blocks.measureDisk();
    assertEquals(blocks.onDisk, { bytes: 1500, limit: 4096 });
    const metrics = new Metrics({
      manager: { running: () => [], busyWorkers: { current: [], total: 0 } },
      queue: { length: 0 },
      blocks,
      version: "0",
    });
    assert(metrics.text().includes('quern_cache_disk_bytes{kind="used"} 1500\n'), metrics.text());
    assert(metrics.text().includes('quern_cache_disk_bytes{kind="limit"} 4096\n'));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  const none = new BlockCache({ cacheDisk: { folder, bytes: 4096 } }, () => {});
  await none.measureDisk(); // A folder that is not there has no files.
  assertEquals(none.onDisk, { bytes: 0, limit: 4096 });
  assertEquals(new BlockCache({}, () => {}).onDisk, undefined);
});

Deno.test("a server that was just started tells of the files that an earlier one left", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.mkdir(`${folder}/model`);
  await Deno.writeFile(`${folder}/model/a.block`, new Uint8Array(1000));
  const { app, manager } = assemble({
    dependencies: {
      open: () => Promise.reject(new Error("Expected no file to be opened")),
      inspect: inspectModel,
      fetch,
    },
    settings: readSettings({ QUERN_MODELS: folder, QUERN_CACHE_DISK: `${folder}:1MB` }),
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const text = await (await app.request("/metrics")).text();
  assert(text.includes('quern_cache_disk_bytes{kind="used"} 1000\n'), text);
  await manager.closeAll();
  await Deno.remove(folder, { recursive: true });
});
