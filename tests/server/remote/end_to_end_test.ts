// One server of this project behind another: what the first forwards is what the second would have
// answered itself, over both APIs.

import { assertEquals } from "@std/assert";
import { ModelManager } from "../../../engine/mod.ts";
import { RemoteModels } from "../../../server/remote/mod.ts";
import type { RemoteApi } from "../../../server/remote/mod.ts";
import { createTinyApp, portWay } from "../tiny_app.ts";

const behind = portWay(await createTinyApp("behind"));

async function ask(path: string, body: object) {
  const request = { method: "POST", body: JSON.stringify({ stream: false, ...body }) };
  return await (await fetch(`${behind.url}${path}`, request)).json();
}

for (const cloudApi of ["ollama", "openai"] as RemoteApi[]) {
  Deno.test(`a forwarded request says what a direct one says, over ${cloudApi}'s API`, async () => {
    const remote = new RemoteModels({ cloudHost: behind.url, cloudApi });
    const find = async (name: string) => (await remote.find(name))!;
    const manager = new ModelManager({
      store: { find },
      open: (source) => remote.open(source as never),
    });
    const { model, release } = await manager.acquire("tools:cloud");
    const messages = [{ role: "user" as const, content: "Hi" }];
    const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
    const greedy = { temperature: 0, maxTokens: 12 };
    const options = { temperature: 0, num_predict: 12 };

    const direct = await ask("/api/chat", { model: "tools", messages, options });
    const events = await Array.fromAsync(model.chat({ messages, ...greedy }));
    const text = events.map((event) => event.type === "text" ? event.text : "").join("");
    assertEquals(text, direct.message.content);
    const done = events.at(-1)!;
    assertEquals(done.type === "done" && [done.reason, done.usage.promptTokens], [
      direct.done_reason,
      direct.prompt_eval_count,
    ]);

    const json = await Array.fromAsync(model.chat({ messages, ...greedy, format: { schema } }));
    const shaped = json.map((event) => event.type === "text" ? event.text : "").join("");
    const same = await ask("/api/chat", { model: "tools", messages, options, format: schema });
    assertEquals(JSON.parse(shaped), JSON.parse(same.message.content));

    const { embeddings: [vector] } = await model.embedWithUsage({ inputs: ["Hi"] });
    const { embeddings: [other] } = await ask("/api/embed", { model: "tools", input: "Hi" });
    assertEquals(vector, Float32Array.from(other));
    release();
    await manager.closeAll();
  });
}
