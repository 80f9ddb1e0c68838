// A disk that fills up during a pull: a small file system of its own, where the user may mount one.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ModelNotFoundError } from "../../../engine/mod.ts";
import { DiskFullError, pullModel } from "../../../server/registry/mod.ts";
import { FakeRegistry } from "./fake_registry.ts";
import { blobFiles, collect, openStore, QUICK, sampleModel, withFolder } from "./fixtures.ts";

const CAN_MOUNT = await canMount();
const REASON = CAN_MOUNT ? "" : " (ignored: this user may not mount a file system)";

async function run(...command: string[]): Promise<boolean> {
  const [program = "", ...args] = command;
  try {
    const options = { args, stdout: "null", stderr: "null" } as const;
    return (await new Deno.Command(program, options).output()).success;
  } catch {
    return false;
  }
}

/** Mounts a file system of so many bytes while `work` runs; whether that was possible. */
async function withDisk(
  folder: string,
  bytes: number,
  work: () => Promise<void>,
): Promise<boolean> {
  if (!await run("mount", "-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", folder)) return false;
  try {
    await work();
  } finally {
    await run("umount", folder);
  }
  return true;
}

async function canMount(): Promise<boolean> {
  const folder = await Deno.makeTempDir();
  const could = await withDisk(folder, 2 ** 16, () => Promise.resolve());
  await Deno.remove(folder);
  return could;
}

Deno.test({
  name: `pullModel() says in the middle that the disk is full, and goes on later${REASON}`,
  ignore: !CAN_MOUNT,
  fn: () =>
    withFolder(async (folder) => {
      const mounted = await withDisk(folder, 700_000, async () => {
        await using registry = new FakeRegistry(sampleModel(400_000));
        const store = openStore(folder);
        // Another program takes the room after the pull has looked.
        const other = `${folder}/other`;
        await Deno.writeFile(other, new Uint8Array(450_000));
        const signal = new AbortController().signal;
        const options = { insecure: true, signal, tuning: QUICK };
        const deceived = () => Promise.resolve(700_000);
        const error = await assertRejects(
          () => collect(pullModel(store, registry.name, { ...options, freeBytes: deceived })),
          DiskFullError,
        );
        assertMatch(error.message, /no space left .* are needed .* are free .* is kept/);
        assert(error.needed > 0 && error.needed < 400_000, `${error.needed} bytes`);
        await assertRejects(() => store.find(registry.name), ModelNotFoundError);

        await Deno.remove(other);
        const before = registry.requests.length;
        await collect(pullModel(store, registry.name, options));
        const again = registry.requests.slice(before)
          .reduce((sum, { range: [first, last] = [0, -1] }) => sum + last + 1 - first, 0);
        assert(again < 400_000, `${again} bytes came again`);
        assertEquals((await blobFiles(store)).length, 3);
      });
      assert(mounted);
    }),
});
