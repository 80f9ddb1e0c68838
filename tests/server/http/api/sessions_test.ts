// How requests of coding agents stand to the main conversation of their session: by the headers and
// bodies that Claude Code, Codex and OpenCode send.

import type { LimitOptions } from "../../../../engine/mod.ts";
import { createTestApp } from "../../test_app.ts";
import { assertEquals } from "@std/assert";

const messages = [{ role: "user", content: "Hi" }];
const ID = "48000ad3-2602-458c-88f5-983114cd568b";
const tools = {
  claude: [{ name: "Read", input_schema: { type: "object", properties: {} } }],
  openCode: [{ type: "function", function: { name: "read", parameters: { type: "object" } } }],
  codex: [{ type: "function", name: "shell", parameters: { type: "object" } }],
};

/** Sends requests that differ in headers and members, and gives how each was told to the model. */
async function standings(
  path: string,
  body: object,
  requests: readonly [headers: Record<string, string>, more: object][],
): Promise<Pick<LimitOptions, "background" | "session">[]> {
  const { app, loaded } = createTestApp({ info: { callsTools: true } });
  for (const [headers, more] of requests) {
    const response = await app.request(path, {
      method: "POST",
      headers,
      body: JSON.stringify({ model: "tiny", ...body, ...more }),
    });
    assertEquals([response.status, (await response.text()).slice(0, 0)], [200, ""]);
  }
  return loaded[0]!.requests.map(({ request: { background, session } }) => ({
    ...(background && { background }),
    ...(session && { session }),
  }));
}

const main = (id = ID) => ({ session: { id } });
const beside = (id = ID) => ({ session: { id, isBeside: true } });

Deno.test("requests of Claude Code stand beside its conversation, or in the background", async () => {
  const session = { "x-claude-code-session-id": ID };
  const classed = (name: string) => ({ ...session, "x-claude-code-request-class": name });
  const withTools = { tools: tools.claude };
  const user = (user_id: string) => ({ ...withTools, metadata: { user_id } });
  assertEquals(
    await standings("/v1/messages", { max_tokens: 9, messages }, [
      [classed("main"), withTools],
      [classed("main"), {}],
      [classed("subagent"), withTools],
      [classed("workflow"), withTools],
      [classed("compaction"), withTools],
      [classed("side_reply"), withTools],
      [classed("auxiliary"), {}],
      [{ "x-claude-code-request-class": "auxiliary" }, {}],
      // To other servers than Anthropic's it does not tell the class.
      [session, withTools],
      [{ ...session, "x-claude-code-agent-id": "a1" }, withTools],
      [session, {}],
      [{}, user(JSON.stringify({ device_id: "d", account_uuid: "", session_id: ID }))],
      [{}, user(`user_0a_account__session_${ID}`)],
      [{}, user("somebody")],
      [classed("other"), withTools],
    ]),
    [
      main(),
      main(),
      beside(),
      beside(),
      beside(),
      beside(),
      { background: true },
      { background: true },
      main(),
      beside(),
      beside(),
      main(),
      main(),
      {},
      main(),
    ],
  );
});

Deno.test("subagents of Codex stand beside the conversation that they work for", async () => {
  const own = { "session-id": ID, "thread-id": ID };
  const body = { input: "Hi", tools: tools.codex, prompt_cache_key: ID };
  assertEquals(
    await standings("/v1/responses", body, [
      [own, {}],
      [{ ...own, "x-openai-subagent": "review" }, {}],
      [{ ...own, "thread-id": "t2" }, { prompt_cache_key: "t2" }],
      [{ "session-id": "t2", "thread-id": "t2", "x-codex-parent-thread-id": ID }, {}],
      [{}, {}],
    ]),
    [main(), beside(), beside(), beside(), main()],
  );
});

Deno.test("titles and subagents of OpenCode stand beside its conversation", async () => {
  const own = { "x-session-id": "ses_a", "x-session-affinity": "ses_a" };
  const child = { "x-session-id": "ses_b", "x-session-affinity": "ses_b" };
  const withTools = { tools: tools.openCode };
  assertEquals(
    await standings("/v1/chat/completions", { messages }, [
      [own, withTools],
      [own, {}],
      [{ ...child, "x-parent-session-id": "ses_a" }, withTools],
      [{ "x-opencode-session": "ses_a", "x-opencode-request": "r" }, withTools],
    ]),
    [main("ses_a"), beside("ses_a"), beside("ses_a"), main("ses_a")],
  );
});

Deno.test("other programs name a session in the body, and nothing of it waits", async () => {
  assertEquals(
    await standings("/v1/chat/completions", { messages }, [
      [{}, {}],
      [{}, { prompt_cache_key: "k" }],
      [{}, { session_id: "s" }],
      [{}, { prompt_cache_key: "", session_id: null }],
    ]),
    [{}, main("k"), main("s"), {}],
  );
});
