// Dawn, which `QUERN_DEVICE=dawn` takes: on the main thread, in workers, a device that is lost, and
// what is said where its package is not there. The kernel tests run on it as well (tests/gpu.ts);
// `deno task test:dawn` runs those and whole models.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { checkProduct, DeviceLostError, openDevice } from "../../kernels/mod.ts";
import type { WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { DEVICES, readWords, upload } from "../gpu.ts";

const hasDawn = DEVICES.some(({ name }) => name === "Dawn");

function dawnTest(name: string, fn: () => Promise<void>): void {
  const note = hasDawn
    ? ""
    : " (skipped: `deno task test:dawn` runs it, where the npm package `webgpu` finds a driver)";
  Deno.test({ name: name + note, ignore: !hasDawn, fn });
}

dawnTest("Dawn computes, is read back many times, and tells when its device is lost", async () => {
  using device = await openDevice({ kind: "dawn" }) as WebGpuDevice;
  assertEquals(device.profile.platform.name, "dawn");
  assertEquals((await checkProduct(device)).wrong, 0);
  const words = Uint32Array.from({ length: 64 }, (_, i) => i * i);
  const buffer = upload(device, words);
  for (let i = 0; i < 20; i++) assertEquals(await readWords(device, buffer, 64), words);
  device.gpu.destroy();
  assert(await device.lost instanceof DeviceLostError);
});

dawnTest("Dawn computes in workers, one after the other and beside the main thread", async () => {
  using device = await openDevice({ kind: "dawn" });
  for (let i = 0; i < 2; i++) {
    const worker = new Worker(new URL("dawn_worker.ts", import.meta.url), { type: "module" });
    const said = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message));
    });
    assertEquals(said, { platform: "dawn", values: (await checkProduct(device)).values, wrong: 0 });
    worker.terminate();
  }
});

dawnTest(
  "a load and an answer on Dawn write nothing but the answer to the standard output",
  async () => {
    const program = new URL("../../mod.ts", import.meta.url).pathname;
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--no-lock", program, "run", "quern:tiny", "Hello"],
      env: { QUERN_DEVICE: "dawn", OLLAMA_HOST: "127.0.0.1:9" },
      stdin: "null",
    }).output();
    const said = new TextDecoder().decode(stdout);
    assert(said.trim().length > 0);
    assert(!/warning/i.test(said), said);
  },
);

Deno.test("where Dawn's package cannot be loaded, the error names it and what to do", async () => {
  const empty = await Deno.makeTempDir();
  try {
    const kernels = new URL("../../kernels/mod.ts", import.meta.url);
    const code = `import { openDevice } from "${kernels}";
      await openDevice({ kind: "dawn" }).catch(({ name, message }) => console.log(name, message));`;
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", "--no-lock", "--no-check", "--cached-only", code],
      env: { DENO_DIR: empty, NO_COLOR: "1" },
    }).output();
    const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assertStringIncludes(said, "GpuError Cannot load Dawn, the package npm:webgpu@0.6.2");
    assertStringIncludes(said, 'set QUERN_DEVICE to "auto", "webgpu" or "cpu"');
  } finally {
    await Deno.remove(empty, { recursive: true });
  }
});
