// Thinking that the server ends: after the budget of a request, or of a level, where that is enforced, and
// when somebody asks a running request for its answer.

import { fakeUsage } from "../../fake_model.ts";
import type { ChatRequest } from "../../../../engine/types/mod.ts";
import { createTestApp, readLines } from "../../test_app.ts";
import { createTinyApp } from "../../tiny_app.ts";
import { assert, assertEquals } from "@std/assert";

const { app } = await createTinyApp("thinking-budget");
const { app: enforcing } = await createTinyApp("thinking-enforced", {
  enforcesThinkingBudget: true,
});

interface Message {
  content: string;
  thinking?: string;
}

const messages = [{ role: "user", content: "Which is the longest river?" }];

async function post(to: typeof app, path: string, body: object, headers = {}): Promise<Response> {
  return await to.request(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

function chat(options: object, more: object = {}) {
  const all = { temperature: 0, num_predict: 50, ignore_eos: true, ...options };
  return { model: "tools", messages, think: true, options: all, ...more };
}

Deno.test("/api/chat ends thinking after think_budget tokens", async () => {
  const { message } =
    await (await post(app, "/api/chat", chat({ think_budget: 8 }, { stream: false }))).json();
  assert(message.thinking !== "" && message.content !== "");
  const free = await (await post(app, "/api/chat", chat({}, { stream: false }))).json();
  assert(free.message.thinking.startsWith(message.thinking.trim()));
  assertEquals(free.message.content, "");
});

Deno.test("/v1/messages keeps to budget_tokens where the server enforces it, and takes any", async () => {
  const body = {
    model: "tools",
    max_tokens: 50,
    messages,
    options: { temperature: 0, ignore_eos: true },
  };
  const blocks = async (to: typeof app, budget_tokens: unknown) => {
    const thinking = { type: "enabled", budget_tokens };
    const response = await post(to, "/v1/messages", { ...body, thinking });
    assertEquals(response.status, 200);
    return (await response.json()).content.map(({ type }: { type: string }) => type);
  };
  assertEquals(await blocks(enforcing, 9), ["thinking", "text"]);
  assertEquals(await blocks(app, 9), ["thinking"]);
  for (const odd of [-1, 0, 1e9, "many", null]) {
    assertEquals(await blocks(enforcing, odd), ["thinking"]);
  }
});

Deno.test("a running request answers when it is told to, by the id in its header", async () => {
  // A real model would be thousands of tokens ahead of its reader on a busy machine. That one answers at
  // the next step is tested in tests/engine/chat/thinking_limit_test.ts.
  const { app } = createTestApp({
    info: { thinks: true },
    script: async function* (request) {
      yield { type: "start", promptTokens: fakeUsage.promptTokens, cachedTokens: 4 };
      yield { type: "thinking", text: "The Nile, or " };
      const { answerNow } = request as ChatRequest;
      await new Promise((resolve) => answerNow!.addEventListener("abort", resolve));
      yield { type: "text", text: "The Amazon." };
      yield { type: "done", reason: "stop", usage: fakeUsage };
    },
  });
  const body = { model: "tiny", messages, think: true };
  const response = await post(app, "/api/chat", body, { "x-request-id": "river-1" });
  assertEquals(response.headers.get("x-request-id"), "river-1");
  const other = await post(app, "/api/requests/river-2/answer", {});
  assertEquals(other.status, 404);
  const told = await post(app, "/api/requests/river-1/answer", {});
  assertEquals([told.status, await told.json()], [200, { id: "river-1" }]);
  const said = (await readLines(response)).map(({ message }) => message as Message);
  assertEquals(said.map(({ thinking = "" }) => thinking).join(""), "The Nile, or ");
  assertEquals(said.map(({ content }) => content).join(""), "The Amazon.");
  const late = await post(app, "/api/requests/river-1/answer", {});
  assertEquals(late.status, 404);
  assertEquals(await late.json(), { error: 'no request "river-1" is running' });
});

Deno.test("a request without an id of its own gets one", async () => {
  const ids = await Promise.all(["", "not one\u00e9", "a".repeat(200)].map(async (wanted) => {
    const headers = wanted.includes("\u00e9") ? {} : { "x-request-id": wanted };
    const body = chat({ num_predict: 1 }, { stream: false });
    return (await post(app, "/api/chat", body, headers)).headers.get("x-request-id");
  }));
  assertEquals(new Set(ids).size, 3);
  assert(ids.every((id) => id && /^[\w-]{36}$/.test(id)));
});
