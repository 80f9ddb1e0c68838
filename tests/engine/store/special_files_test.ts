// Pipes, devices, folders and circles of links where models should be: nobody waits for what they say.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { GgufError } from "../../../engine/errors.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { ModelStore } from "../../../engine/store/mod.ts";
import { fakeInfo } from "../../server/fake_model.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;

async function makePipe(path: string): Promise<void> {
  assert((await new Deno.Command("mkfifo", { args: [path] }).output()).success);
}

/** The result, which has to come soon: a pipe would be waited for without end. */
async function soon<T>(promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("it waits")), 10_000);
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

Deno.test({
  name: "a store with pipes, devices and links in circles lists its models and finds no others",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const store = new ModelStore({
        folder,
        allowPaths: true,
        inspect: async (path) => {
          await readGguf(path);
          return fakeInfo;
        },
      });
      await Deno.mkdir(`${folder}/sub`);
      await Deno.mkdir(`${folder}/blobs`);
      const names = `${folder}/manifests/registry.ollama.ai/library`;
      await Deno.mkdir(`${names}/circle`, { recursive: true });
      await Deno.mkdir(`${names}/piped`);
      await Deno.mkdir(`${folder}/folder.gguf`);
      await makePipe(`${folder}/pipe`);
      await makePipe(`${folder}/real.gguf`);
      await makePipe(`${names}/piped/latest`);
      await makePipe(`${folder}/blobs/${DIGEST.replace(":", "-")}`);
      await Deno.symlink(`${folder}/pipe`, `${folder}/linked.gguf`);
      await Deno.symlink(`${folder}/pipe`, `${folder}/sub/linked.gguf`);
      await Deno.symlink(`${folder}/pipe`, `${folder}/sub/mmproj.gguf`);
      await Deno.symlink("/dev/zero", `${folder}/zero.gguf`);
      await Deno.symlink("loop.gguf", `${folder}/loop.gguf`);
      await Deno.symlink(".", `${names}/circle/one`);
      await Deno.symlink(".", `${names}/circle/two`);

      assertEquals(await soon(store.list()), []);
      for (
        const name of [
          "linked",
          "sub/linked",
          "zero",
          "loop",
          "real",
          "piped",
          `${folder}/linked.gguf`,
        ]
      ) {
        await assertRejects(() => soon(store.find(name)), Error, "not found");
      }
      assertEquals(await soon(store.blobs.sizeOf(DIGEST)), undefined);
      await assertRejects(() => soon(store.blobs.read(DIGEST)), Error, "not in the store");
      // What the pipe would say may need any blob.
      assertStringIncludes((await soon(store.prune())).skipped!, `piped/latest" is no file`);
      for (const name of ["linked", "zero", "folder"]) {
        const reading = () => soon(readGguf(`${folder}/${name}.gguf`));
        await assertRejects(reading, GgufError, "a pipe or a device");
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
