// A model whose process was killed while nobody used it: the next request, of whatever kind, loads it
// again and gets its answer.

import { assert, assertEquals } from "@std/assert";
import { inspectModel, ModelManager, ModelStore, openModelInProcess } from "../../../engine/mod.ts";
import { createApp } from "../../../server/http/app.ts";
import { createLog } from "../../../server/log.ts";
import { folder, pathOf, tinyLoad } from "../../engine/harness.ts";
import { TOOL_TEMPLATE, writeTinyLlama } from "../../tiny_model.ts";
import { until } from "../../until.ts";

const messages = [{ role: "user", content: "Hi" }];
const options = { num_predict: 2 };
const REQUESTS: [path: string, body: object][] = [
  ["/api/generate", { prompt: "Hi", options, stream: false }],
  ["/api/chat", { messages, options, stream: true }],
  ["/v1/messages", { messages, max_tokens: 2 }],
  ["/api/embed", { input: "Hi" }],
  ["/api/tokenize", { text: "Hi" }],
];

/** The processes that this one has started and that run. */
async function children(): Promise<number[]> {
  const { stdout } = await new Deno.Command("ps", {
    args: ["-A", "-o", "pid=,ppid=,stat=,args="],
  }).output();
  return new TextDecoder().decode(stdout).trim().split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, state]) => Number(parent) === Deno.pid && !state!.startsWith("Z"))
    .filter((parts) => parts.some((part) => part.endsWith("model_process.ts")))
    .map(([pid]) => Number(pid));
}

Deno.test({
  name: "a killed model is loaded again for the next request, known to be dead or not",
  ignore: Deno.build.os === "windows",
  async fn() {
    const models = `${folder}/killed`;
    await Deno.mkdir(models);
    await writeTinyLlama(`${models}/tiny.gguf`, { template: TOOL_TEMPLATE, context: 512 });
    const store = new ModelStore({ folder: models, inspect: inspectModel });
    const manager = new ModelManager({
      store,
      open: (source, options) =>
        openModelInProcess(pathOf(source), { ...tinyLoad, contextLength: 512, ...options }),
    });
    const log = createLog({ write: () => {} });
    const app = createApp({ store, manager, log, version: "0" });
    const ask = async ([path, body]: [string, object]) => {
      const sent = JSON.stringify({ model: "tiny", ...body });
      const response = await app.request(path, { method: "POST", body: sent });
      const text = await response.text();
      assertEquals([path, response.status, /"error":[^n]/.test(text)], [path, 200, false], text);
    };
    try {
      await ask(REQUESTS[0]!);
      for (const [index, request] of REQUESTS.entries()) {
        const [pid, ...others] = await children();
        assert(pid && others.length === 0);
        Deno.kill(pid, "SIGKILL");
        // Every other time the request comes before anybody can have noticed.
        if (index % 2 === 0) await until(() => manager.running().length === 0);
        await ask(request);
        assert((await children())[0] !== pid);
      }
    } finally {
      await manager.closeAll();
    }
  },
});
