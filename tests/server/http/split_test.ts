// Models larger than the GPU's memory, over HTTP: a software driver plays the GPU, with as little memory
// as is said.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { estimateMemory, totalOf } from "../../../engine/memory/mod.ts";
import { readDeviceProfile } from "../../../kernels/mod.ts";
import { webGpuTest } from "../../adapter.ts";
import { tinyPath } from "../../engine/harness.ts";
import { withServeProcess } from "../serve_process.ts";

interface Api {
  /** Bytes of the GPU. */
  limit: number;
  post(path: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Bytes of the model that is loaded. */
  sizes(): Promise<{ size: number; size_vram: number }>;
}

/** Runs a server whose GPU has little more than half of what the model takes while the test does. */
async function withServer(test: (api: Api) => Promise<void>): Promise<void> {
  const [gpu, cpu] = [
    await readDeviceProfile({ kind: "webgpu" }),
    await readDeviceProfile({ kind: "cpu" }),
  ];
  const load = { contextLength: 128, maxSequences: 4, cacheWindows: 1 };
  const { memory } = await estimateMemory(tinyPath, load, { gpu, cpu });
  const limit = Math.round(0.6 * totalOf(memory));
  // Its device is for all of a process, and other tests share this one.
  const environment = {
    QUERN_DEVICE: "webgpu",
    QUERN_NO_PROOF: "1",
    QUERN_GPU_MEMORY: String(limit),
    OLLAMA_NUM_PARALLEL: "4",
    OLLAMA_CONTEXT_LENGTH: "128",
  };
  await withServeProcess({ model: tinyPath, environment }, async (url) => {
    const read = async (response: Response) => ({
      status: response.status,
      body: await response.json(),
    });
    await test({
      limit,
      post: async (path, body) =>
        await read(await fetch(url + path, { method: "POST", body: JSON.stringify(body) })),
      async sizes() {
        const [{ size, size_vram }] = (await (await fetch(`${url}/api/ps`)).json()).models;
        return { size, size_vram };
      },
    });
  });
}

const ask = (options: Record<string, unknown>, model = "tiny") => ({
  model,
  prompt: "hello",
  raw: true,
  stream: false,
  options: { temperature: 0, num_predict: 12, ...options },
});

webGpuTest(
  "a model that the GPU has no room for runs split, as /api/ps and num_gpu say",
  async () => {
    await withServer(async ({ limit, post, sizes }) => {
      const { status, body: { response } } = await post("/api/generate", ask({}));
      assertEquals(status, 200);
      const split = await sizes();
      assert(split.size_vram > 0 && split.size_vram <= limit, `${split.size_vram} of ${limit}`);
      assert(split.size > limit);

      const refused = await post("/api/generate", ask({ num_gpu: 99 }));
      assertEquals(refused.status, 400);
      assertStringIncludes(String(refused.body.error), "of it on the GPU with 3 of 3 layers there");
      assertEquals(await sizes(), split);

      assertEquals((await post("/api/generate", ask({ num_gpu: 0 }))).body.response, response);
      assertEquals((await sizes()).size_vram, 0);
      // What one request named is not for the next, which names nothing.
      await post("/api/generate", ask({ num_gpu: -1 }));
      assertEquals(await sizes(), split);

      const parameters = { num_gpu: 1, num_ctx: 128 };
      await post("/api/create", { model: "part", from: "tiny", parameters, stream: false });
      assertEquals((await post("/api/generate", ask({}, "part"))).body.response, response);
      const { size, size_vram } = await sizes();
      assert(size_vram > 0 && size_vram < size, `${size_vram} of ${size}`);
    });
  },
);
