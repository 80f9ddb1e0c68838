// Responses that later requests continue, refer to, ask for and list, over a model without weights: what
// the model is told then, and what is listed. What is not kept: kept_responses_errors_test.ts.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { callEvents, gives, readEvents, weather } from "./openai_scripts.ts";
import { able, type Answer, message, model, path, withKeeper } from "./response_keeper.ts";

const tools = [{ type: "function", ...weather.function }];
const pixel = "data:image/png;base64,iVBORw0KGgo=";

Deno.test("what is kept of a response has its numbers as they were written", () =>
  withKeeper(async ({ app, post, told, loaded }) => {
    const call = '{"id":9007199254740993,"x":1.0}';
    const schema = '{"type":"object","properties":{"id":{"maximum":18446744073709551615}}}';
    const tool = `{"type":"function","name":"weather","parameters":${schema}}`;
    const ask = async (members: string) => {
      const response = await post(path, `{"model":"tiny","tools":[${tool}],${members}}`);
      return JSON.parse(await response.text());
    };
    await ask('"input":"Hi"');
    loaded[0]!.script = gives(callEvents("c1", "weather", [call]));
    const { id } = await ask('"input":"Weather?"');
    const kept = await (await app.request(`${path}/${id}`)).text();
    assertStringIncludes(kept, `"parameters":${schema}`);
    const item = JSON.parse(kept).output[0];
    assertEquals(item.arguments, call);
    const output = '{"type":"function_call_output","call_id":"c1","output":"22C"}';
    await ask(`"input":[${output}],"previous_response_id":"${id}"`);
    assertEquals(JSON.stringify(told()[1]!.toolCalls![0]!.function.arguments), call);
  }));

Deno.test("a conversation goes on from a response: all but the instructions, call results included", () =>
  withKeeper(async ({ ask, get, told, loaded }) => {
    const calls = gives([
      { type: "thinking", text: "Hm" },
      { type: "text", text: "Look" },
      ...callEvents("c1", "weather", ['{"city":"Rome"}']),
    ]);
    const first = await ask({ input: "Hi", instructions: "Be brief.", tools });
    assertEquals([first.store, first.previous_response_id], [true, null]);
    loaded[0]!.script = calls;
    const second = await ask({ input: "Weather?", previous_response_id: first.id, tools });
    assertEquals([second.status, second.previous_response_id], ["completed", first.id]);
    assertEquals<unknown>(told(), [
      message("user", "Hi"),
      message("assistant", "Hello"),
      message("user", "Weather?"),
    ]);
    loaded[0]!.script = gives([{ type: "text", text: "Warm" }]);
    const output = { type: "function_call_output", call_id: "c1", output: "22C" };
    const third = await ask({
      input: [output],
      instructions: "In prose.",
      previous_response_id: second.id,
    });
    assertEquals<unknown>(told(), [
      message("system", "In prose."),
      message("user", "Hi"),
      message("assistant", "Hello"),
      message("user", "Weather?"),
      {
        ...message("assistant", "Look"),
        thinking: "Hm",
        toolCalls: [{ id: "c1", function: { name: "weather", arguments: { city: "Rome" } } }],
      },
      { ...message("tool", "22C"), toolName: "weather", toolCallId: "c1" },
    ]);
    assertEquals((await get(third.id)).output, third.output);
    // Each is whole in itself, whatever becomes of those before it.
    const { data } = await get(`${third.id}/input_items?order=asc`);
    assertEquals(data.map(({ type }: Answer) => type), [
      "message",
      "message",
      "message",
      "reasoning",
      "message",
      "function_call",
      "function_call_output",
    ]);
  }));

Deno.test("a conversation branches, outlives a restart, and the deletion of what came before", () =>
  withKeeper(async ({ folder, ask, app }, again) => {
    const first = await ask({ input: "One" });
    const left = await ask({ input: "Two", previous_response_id: first.id });
    const deleted = await app.request(`${path}/${first.id}`, { method: "DELETE" });
    assertEquals(await deleted.json(), { id: first.id, object: "response", deleted: true });
    const other = again(folder);
    const right = await other.ask({ input: "Three", previous_response_id: left.id });
    assertEquals(right.store, true);
    assertEquals(other.told().map(({ content }) => content), [
      "One",
      "Hello",
      "Two",
      "Hello",
      "Three",
    ]);
    assertEquals((await other.ask({ input: "x", previous_response_id: first.id })).status, 404);
  }));

Deno.test("an item may be referred to by its id, with its type or without, output and input alike", () =>
  withKeeper(async ({ ask, get, told, loaded }) => {
    const first = await ask({ input: [message("user", "Hi")] });
    loaded[0]!.script = gives([
      { type: "thinking", text: "Hm" },
      ...callEvents("c1", "weather", ['{"city":"Rome"}']),
    ]);
    const second = await ask({ input: "Weather?", tools });
    const [asked] = (await get(`${first.id}/input_items`)).data;
    const reference = (id: string) => ({ type: "item_reference", id });
    const input = [
      reference(asked.id),
      { id: first.output[0].id },
      message("user", "Weather?"),
      ...second.output.map(({ id }: Answer) => reference(id)),
      { type: "function_call_output", call_id: "c1", output: "22C" },
    ];
    const third = await ask({ input, tools });
    assertEquals(third.status, "completed");
    assertEquals<unknown>(told(), [
      message("user", "Hi"),
      message("assistant", "Hello"),
      message("user", "Weather?"),
      {
        ...message("assistant", ""),
        thinking: "Hm",
        toolCalls: [{ id: "c1", function: { name: "weather", arguments: { city: "Rome" } } }],
      },
      { ...message("tool", "22C"), toolName: "weather", toolCallId: "c1" },
    ]);
    const { data } = await get(`${third.id}/input_items?order=asc`);
    assertEquals(data[1], first.output[0]);
  }));

Deno.test("a stream's response is kept before its last event is told", () =>
  withKeeper(async ({ post, get, ask, told }) => {
    const events = await readEvents(await post(path, { model, input: "Hi", stream: true }));
    const { response } = events.at(-1)!.data;
    assertEquals([response.store, events[0]!.data.response.store], [true, true]);
    const { status: _, ...kept } = await get(response.id);
    const { status: __, ...streamed } = response;
    assertEquals(kept, streamed);
    await ask({ input: "And?", previous_response_id: response.id, stream: false });
    assertEquals(told().length, 3);
  }));

Deno.test("input items are listed with all that counts of them, a page at a time", () =>
  withKeeper(async ({ ask, get, app }) => {
    const input = [
      message("developer", "Rules"),
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "See" },
          { type: "input_image", image_url: pixel, detail: "low" },
        ],
      },
      { type: "reasoning", id: "rs_own", summary: [{ type: "summary_text", text: "hm" }] },
      { type: "message", id: "msg_own", role: "assistant", content: "Yes" },
      { type: "function_call", call_id: "c1", name: "weather", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "22C" },
      { type: "message", id: "msg_own", role: "user", content: "And?" },
    ];
    const { id } = await ask({ input, tools });
    const { data, object, has_more, first_id, last_id } = await get(
      `${id}/input_items?order=asc`,
    );
    const own = (prefix: string, index: number) => `${prefix}_${id.slice(5)}i${index}`;
    const status = "completed";
    const said = (id: string, role: string, content: object[]) => ({
      id,
      type: "message",
      status,
      role,
      content,
    });
    assertEquals(data, [
      said(own("msg", 0), "developer", [{ type: "input_text", text: "Rules" }]),
      said(own("msg", 1), "user", [
        { type: "input_text", text: "See" },
        { type: "input_image", image_url: pixel, detail: "auto" },
      ]),
      { id: "rs_own", type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
      said("msg_own", "assistant", [
        { type: "output_text", text: "Yes", annotations: [], logprobs: [] },
      ]),
      {
        id: own("fc", 4),
        type: "function_call",
        status,
        call_id: "c1",
        name: "weather",
        arguments: "{}",
      },
      { id: own("fco", 5), type: "function_call_output", status, call_id: "c1", output: "22C" },
      said(own("msg", 6), "user", [{ type: "input_text", text: "And?" }]),
    ]);
    assertEquals([object, has_more, first_id, last_id], [
      "list",
      false,
      own("msg", 0),
      own("msg", 6),
    ]);
    const ids = data.map((item: Answer) => item.id);
    for (const order of ["asc", "desc", ""]) {
      const seen: string[] = [];
      let after = "";
      for (let more = true; more;) {
        const query = `limit=2${order && `&order=${order}`}${after && `&after=${after}`}`;
        const page = await get(`${id}/input_items?${query}`);
        seen.push(...page.data.map((item: Answer) => item.id));
        more = page.has_more;
        after = page.last_id;
      }
      assertEquals(seen, order === "asc" ? ids : ids.toReversed());
    }
    for (
      const [query, param] of [["limit=0", "limit"], ["limit=101", "limit"], ["limit=x", "limit"], [
        "order=up",
        "order",
      ], ["after=msg_1", "after"]]
    ) {
      const response = await app.request(`${path}/${id}/input_items?${query}`);
      assertEquals([query, response.status, (await response.json()).error.param], [
        query,
        400,
        param,
      ]);
    }
  }));

Deno.test("an answer cut short within a call goes on without that call", () => {
  const cut = gives([
    { type: "text", text: "Look" },
    { type: "callStart", id: "c1", name: "weather" },
    { type: "callArguments", id: "c1", json: '{"ci' },
  ], "length");
  return withKeeper(async ({ ask, told }) => {
    const first = await ask({ input: "Hi", tools });
    assertEquals([first.status, first.output.length], ["incomplete", 1]);
    const next = await ask({ input: "Go on", previous_response_id: first.id });
    assert(next.output);
    assertEquals<unknown>(told(), [
      message("user", "Hi"),
      message("assistant", "Look"),
      message("user", "Go on"),
    ]);
  }, { ...able, script: cut });
});

Deno.test("an image of an earlier turn is shown again, and refused where the model does not see", () =>
  withKeeper(async ({ ask, told, folder }, again) => {
    const content = [{ type: "input_text", text: "See" }, {
      type: "input_image",
      image_url: pixel,
    }];
    const first = await ask({ input: [{ role: "user", content }] });
    await ask({ input: "And?", previous_response_id: first.id });
    assertEquals(told()[0]!.images?.length, 1);
    const blind = again(folder, {});
    const { status, error } = await blind.ask({ input: "And?", previous_response_id: first.id });
    assertEquals([status, error.param], [400, "previous_response_id.content[1]"]);
    assertStringIncludes(error.message, "does not support image input");
  }));
