// Claude Code's request, and instructions in the middle of a conversation, which it brings along:
// over a fake model, over a real one, and over the chat templates that there are.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  ChatTemplateError,
  inspectModel,
  loadModel,
  ModelManager,
  ModelStore,
} from "../../../../../engine/mod.ts";
import type { ChatMessage, ChatModel, ChatRequest } from "../../../../../engine/types/mod.ts";
import { createApp } from "../../../../../server/http/app.ts";
import { createLog } from "../../../../../server/log.ts";
import {
  instructionsAsUser,
  laterInstructions,
} from "../../../../../server/http/api/anthropic/turns.ts";
import { createChatTemplate } from "../../../../../tokenizer/mod.ts";
import { folder, pathOf, tinyLoad } from "../../../../engine/harness.ts";
import { TOOL_TEMPLATE, writeTinyLlama } from "../../../../tiny_model.ts";
import { dataNote, dataRoot, hasData } from "../../../../tokenizer/vocabularies.ts";
import { CLAUDE_CODE_HEADERS, claudeCodeRequest, INSTRUCTION } from "./claude_code_request.ts";
import { createTestApp } from "../../../test_app.ts";

type Fetcher = { fetch(request: Request): Response | Promise<Response> };

async function send(app: Fetcher, body: object): Promise<Response> {
  return await app.fetch(
    new Request("http://127.0.0.1/v1/messages?beta=true", {
      method: "POST",
      headers: CLAUDE_CODE_HEADERS,
      body: JSON.stringify(body),
    }),
  );
}

const able = { callsTools: true, thinks: true };

Deno.test("Claude Code's request reaches the model: tools untouched, the changing line gone", async () => {
  const { app, loaded } = createTestApp({ info: able });
  assertEquals((await app.request("/", { method: "HEAD" })).status, 200);
  const requests: ChatRequest[] = [];
  for (const turn of [1, 2]) {
    const response = await send(app, claudeCodeRequest("tiny", turn));
    assertEquals(response.status, 200);
    assertStringIncludes(await response.text(), "event: message_stop");
    const { signal: _, ...request } = loaded[0]!.requests.at(-1)!.request as ChatRequest;
    requests.push(request);
  }
  assertEquals(requests[0], requests[1]);
  const { tools, think, messages, maxTokens } = requests[0]!;
  const given = claudeCodeRequest("tiny").tools;
  assertEquals(
    tools!.map((tool) => tool.function.parameters),
    given.map((tool) => tool.input_schema as Record<string, unknown>),
  );
  assertEquals([tools!.length, think, maxTokens], [24, "high", 32000]);
  assertEquals(messages, [
    { role: "system", content: "You help with code.\nBe brief. Use the tools." },
    {
      role: "user",
      content: "<system-reminder>\nToday is Saturday.\n</system-reminder>\nSay hi",
    },
    { role: "system", content: INSTRUCTION },
  ]);
});

/** The conversation that a model is asked with, if its template renders like this. */
async function askedOf(renderChat: ChatModel["renderChat"]): Promise<ChatMessage[]> {
  const { app, post, loaded } = createTestApp({ info: able });
  await post("/v1/messages/count_tokens", {
    model: "tiny",
    messages: [{ role: "user", content: "x" }],
  });
  loaded[0]!.renderChat = renderChat;
  await (await send(app, claudeCodeRequest("tiny"))).text();
  return (loaded[0]!.requests[0]!.request as ChatRequest).messages;
}

Deno.test("instructions that a template refuses or leaves out come as the user's, in their place", async () => {
  const refusal = new ChatTemplateError("refused", "System message must be at the beginning.");
  for (const renderChat of [() => Promise.reject(refusal), () => Promise.resolve("no such text")]) {
    const messages = await askedOf(renderChat);
    assertEquals(messages.map(({ role }) => role), ["system", "user"]);
    assert(messages[1]!.content.endsWith(`Say hi\n${INSTRUCTION}`));
  }
  const kept = await askedOf(() => Promise.resolve(`... ${INSTRUCTION} ...`));
  assertEquals(kept.map(({ role }) => role), ["system", "user", "system"]);
});

Deno.test("a template's own fault stays one", async () => {
  const { app, post, loaded } = createTestApp({ info: able });
  await post("/v1/messages/count_tokens", {
    model: "tiny",
    messages: [{ role: "user", content: "x" }],
  });
  loaded[0]!.renderChat = () => Promise.reject(new ChatTemplateError("failed", "no such filter"));
  const response = await send(app, claudeCodeRequest("tiny"));
  assertEquals(response.status, 400);
  assertStringIncludes((await response.json()).error.message, "no such filter");
});

Deno.test("Claude Code's request succeeds on a real model, in two turns", async () => {
  const path = `${folder}/claude_code`;
  await Deno.mkdir(path);
  await writeTinyLlama(`${path}/coder.gguf`, {
    template: TOOL_TEMPLATE,
    context: 16384,
    layers: 1,
  });
  const manager = new ModelManager({
    store: new ModelStore({ folder: path, inspect: inspectModel }),
    open: (source, options) =>
      loadModel(pathOf(source), { ...tinyLoad, ...options, contextLength: 16384 }),
  });
  const store = new ModelStore({ folder: path, inspect: inspectModel });
  const log = createLog({ write: () => {} });
  const app = createApp({ store, manager, log, version: "0" });
  try {
    for (const turn of [1, 2]) {
      const body = { ...claudeCodeRequest("coder", turn), max_tokens: 5, temperature: 0 };
      const response = await send(app, body);
      const text = await response.text();
      assertEquals(response.status, 200, text);
      assertStringIncludes(text, "event: message_stop");
      const [, data] = /event: message_start\ndata: (.*)/.exec(text)!;
      const { usage } = JSON.parse(data!).message;
      const { input_tokens: added, cache_read_input_tokens: cached } = usage;
      assert(added + cached > 5000);
      // What changes with every request stands nowhere in the prompt.
      if (turn === 2) assert(added < 100, `${added} tokens were read again`);
    }
  } finally {
    await manager.closeAll();
  }
});

Deno.test({
  name: `every template shows instructions in the middle, in place or as the user's${dataNote}`,
  ignore: !hasData,
  async fn(test) {
    const turns: ChatMessage[] = [
      { role: "user", content: "Wie spät?" },
      { role: "assistant", content: "Spät." },
      { role: "system", content: INSTRUCTION },
      { role: "user", content: "Wirklich?" },
    ];
    assertEquals(laterInstructions(turns), [INSTRUCTION]);
    const templates = new URL("templates/", dataRoot);
    for await (const { name } of Deno.readDir(templates)) {
      if (!name.endsWith(".jinja")) continue;
      await test.step(name, async () => {
        const source = await Deno.readTextFile(new URL(name, templates));
        const template = createChatTemplate(source, { bos: "<s>", eos: "</s>" });
        const messages = instructionsAsUser(turns) as unknown as Record<string, unknown>[];
        const prompt = template.render({ messages, addGenerationPrompt: true });
        assertStringIncludes(prompt, `${INSTRUCTION}\nWirklich?`);
      });
    }
  },
});
