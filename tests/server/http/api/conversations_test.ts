// Conversations as /api/chat shows them to a model: results beside their calls, two messages of an
// assistant in a row, and which turns are left out where there is no room.

import { createTinyApp } from "../../tiny_app.ts";
import { assert, assertEquals } from "@std/assert";

const { app } = await createTinyApp("conversations");

async function post(path: string, body: object) {
  const response = await app.request(path, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, answer: await response.json() };
}

async function promptOf(body: object): Promise<string> {
  const asked = { model: "tools", _debug_render_only: true, ...body };
  const { status, answer } = await post("/api/chat", asked);
  assertEquals(status, 200, JSON.stringify(answer));
  return answer._debug_info.rendered_template;
}

const user = { role: "user", content: "Where is it warmer?" };

const call = (id: string, city: string) => ({
  id,
  function: { name: "weather", arguments: { city } },
});

const called = {
  role: "assistant",
  content: "",
  tool_calls: [call("r", "Rome"), call("o", "Oslo")],
};

const result = (tool_call_id: string, content: string) => ({ role: "tool", tool_call_id, content });

Deno.test("results come in the order of the calls, whatever the order of their arrival", async () => {
  const orders = [[result("r", "22 degrees"), result("o", "3 degrees")], [
    result("o", "3 degrees"),
    result("r", "22 degrees"),
  ]];
  const [inOrder, crossed] = await Promise.all(
    orders.map((results) => promptOf({ messages: [user, called, ...results] })),
  );
  assertEquals(crossed, inOrder);
  assert(inOrder.indexOf("22 degrees") < inOrder.indexOf("3 degrees"));
});

Deno.test("a model with a Go template sees all of two messages of an assistant in a row", async () => {
  const template = "{{ range .Messages }}<{{ .Role }}>{{ .Thinking }}|{{ .Content }}|" +
    "{{ range .ToolCalls }}{{ .Function.Name }}{{ .Function.Arguments }}{{ end }}{{ end }}";
  const created = await post("/api/create", {
    model: "go",
    from: "tools",
    template,
    stream: false,
  });
  assertEquals(created.status, 200, JSON.stringify(created.answer));
  const messages = [
    user,
    { role: "assistant", content: "Let me look." },
    { role: "assistant", content: "At Rome.", thinking: "Hm.", tool_calls: [call("r", "Rome")] },
    result("r", "22 degrees"),
  ];
  assertEquals(
    await promptOf({ model: "go", messages }),
    "<user>|Where is it warmer?|<assistant>|Let me look.|<assistant>Hm.|At Rome.|" +
      'weather{"city":"Rome"}<tool>|22 degrees|',
  );
});

Deno.test("turns that do not fit are left out as a whole, and told", async () => {
  const turn = (words: string) => [
    { role: "user", content: words.repeat(12) },
    called,
    result("r", "22 degrees"),
    result("o", "3 degrees"),
    { role: "assistant", content: "Rome." },
  ];
  const messages = [...turn("One. "), ...turn("Two. "), ...turn("Three. "), user];
  const ask = (num_ctx: number) =>
    post("/api/chat", {
      model: "tools",
      messages,
      stream: false,
      think: false,
      options: { num_ctx, num_predict: 1 },
    });
  const seen = new Set<number>();
  for (let window = 120; window <= 1020; window += 90) {
    const { status, answer } = await ask(window);
    if (status !== 200) continue;
    const dropped = answer.dropped_messages ?? 0;
    seen.add(dropped);
    assertEquals(dropped % 5, 0, `${window}: ${dropped}`);
    assertEquals(answer.dropped_indexes ?? [], Array.from({ length: dropped }, (_, i) => i));
  }
  assertEquals([...seen].sort((a, b) => a - b), [0, 5, 10, 15]);
  assertEquals((await ask(40)).status, 400);
});
