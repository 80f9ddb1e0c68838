// A server on a machine without a GPU: the CPU answers, and no library of graphics is loaded into the
// process. Where device files of a GPU are, there is nothing to be seen.

import { findGpuFiles } from "../../kernels/choice.ts";
import { freePort } from "../free_port.ts";
import { assert, assertEquals } from "@std/assert";

const main = new URL("../../mod.ts", import.meta.url);

Deno.test({
  name: "serving without a GPU loads no library of Vulkan or OpenGL, and size_vram is 0",
  ignore: findGpuFiles()?.length !== 0,
  async fn() {
    const folder = await Deno.makeTempDir();
    const url = `http://127.0.0.1:${freePort()}`;
    const server = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", main.href, "serve"],
      env: { OLLAMA_HOST: url, OLLAMA_MODELS: folder, QUERN_CACHE: folder, QUERN_DEVICE: "auto" },
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const lines = server.stderr.pipeThrough(new TextDecoderStream()).getReader();
    try {
      let log = "";
      while (!log.includes("listening")) log += (await lines.read()).value ?? "";
      const messages = [{ role: "user", content: "How do I pull a model?" }];
      const body = JSON.stringify({ model: "quern:tiny", stream: false, messages });
      const answer = await fetch(`${url}/api/chat`, { method: "POST", body });
      assert((await answer.json()).message.content.includes("quern pull"));
      const { models: [model] } = await (await fetch(`${url}/api/ps`)).json();
      assert(model.size > 0);
      assertEquals(model.size_vram, 0);
      const maps = await Deno.readTextFile(`/proc/${server.pid}/maps`);
      assertEquals(maps.match(/\S*lib(?:vulkan|EGL|GL)\S*/g), null);
    } finally {
      server.kill("SIGKILL");
      await server.status;
      await lines.cancel();
      await Deno.remove(folder, { recursive: true });
    }
  },
});
