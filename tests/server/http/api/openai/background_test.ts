// Responses that are made in the background: that they go on without a client, tell how far they are, give
// the rest of their stream once to whoever comes back, can be cancelled, and say so when they fail or when
// the server is stopped.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Drain } from "../../../../../server/http/drain.ts";
import { later } from "../../../../clock.ts";
import { fakeUsage, type Script } from "../../../fake_model.ts";
import { until } from "../../../../until.ts";
import {
  messages,
  readNumbered as read,
  steered,
  type ToldEvent as Told,
} from "./openai_scripts.ts";
import { able, type Answer, type Keeper, model, path, withKeeper } from "./response_keeper.ts";

/** The types of events, with the text that they add. */
const types = (events: Told[]) =>
  events.map(({ data }) => data.type.replace("response.", "") + (data.delta ?? ""));

/** A response once it is as it is wanted. */
async function when(
  { get }: Pick<Keeper, "get">,
  id: string,
  isSo: (response: Answer) => boolean,
): Promise<Answer> {
  for (;;) {
    const response = await get(id);
    if (isSo(response)) return response;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const hasEnded = ({ status }: Answer) => !["queued", "in_progress"].includes(status);

Deno.test("a response in the background is told as queued, goes on, and is whole in the end", () => {
  const { script, say, end } = steered();
  return withKeeper(async (keeper) => {
    const { ask, lines } = keeper;
    const queued = await ask({ input: "Hi", background: true });
    assertEquals([queued.status, queued.background, queued.output], ["queued", true, []]);
    assertMatch(queued.id, /^resp_/);
    say("Hel");
    const begun = await when(keeper, queued.id, ({ output }) => output.length > 0);
    assertEquals([begun.status, begun.output[0].content[0].text], ["in_progress", "Hel"]);
    const early = await ask({ input: "And?", previous_response_id: queued.id });
    assertEquals([early.status, early.error.param], [400, "previous_response_id"]);
    assertEquals(lines.filter((line) => line.includes("POST /v1/responses 200")), []);
    say("lo");
    end();
    const whole = await when(keeper, queued.id, hasEnded);
    assertEquals([whole.status, whole.output[0].content[0].text], ["completed", "Hello"]);
    assertEquals([whole.usage.total_tokens, whole.store], [14, true]);
    // The request ends in the log when the answer does.
    await until(() => lines.some((line) => /POST \/v1\/responses 200 .*out 3/.test(line)));
  }, { ...able, script });
});

Deno.test("a stream is taken up again after any of its events, and gives each of the others once", () => {
  const { script, say, end } = steered();
  return withKeeper(async ({ app, post }) => {
    const asked = { model, input: "Hi", background: true, stream: true };
    const streamed = await post(path, asked);
    for (const word of ["a", "b", "c", "d"]) say(word);
    const begun = await read(streamed, 7);
    const { id } = begun[0]!.data.response;
    assertEquals(types(begun).slice(0, 3), ["created", "queued", "in_progress"]);
    assertEquals(begun.map(({ data }) => data.sequence_number), begun.map(({ id }) => id));
    const follow = async (query: string) => await app.request(`${path}/${id}?stream=true${query}`);
    const rests = [
      read(await follow(`&starting_after=${begun.at(-1)!.id}`)),
      read(await follow("")),
    ];
    say("e");
    end();
    const [rest, all] = await Promise.all(rests);
    assertEquals([...begun, ...rest!], all!);
    assertEquals(all!.map(({ id }) => id), [...all!.keys()]);
    assertEquals(all!.at(-1)!.data.response.output[0].content[0].text, "abcde");
    // So it is after its end.
    for (const { id } of all!) {
      assertEquals(await read(await follow(`&starting_after=${id}`)), all!.slice(id + 1));
    }
  }, { ...able, script });
});

Deno.test("a response that is cancelled keeps what it said, ends the model's work, and stays so", () => {
  const { script, say } = steered();
  return withKeeper(async ({ app, post, get, loaded, folder }, again) => {
    const asked = { model, input: "Hi", background: true, stream: true };
    const streamed = await post(path, asked);
    say("Half");
    const begun = await read(streamed, 6);
    const { id } = begun[0]!.data.response;
    const other = read(await app.request(`${path}/${id}?stream=1`));
    const cancel = async () => await (await post(`${path}/${id}/cancel`, "")).json();
    const cancelled = await cancel();
    assertEquals([cancelled.status, cancelled.error], ["cancelled", null]);
    const [item] = cancelled.output;
    assertEquals([item.status, item.content[0].text], ["incomplete", "Half"]);
    const { data } = (await other).at(-1)!;
    assertEquals([data.type, data.response.status], ["response.incomplete", "cancelled"]);
    assertEquals(loaded[0]!.requests[0]!.request.signal!.aborted, true);
    assertEquals(await cancel(), cancelled);
    assertEquals((await get(id)).status, "cancelled");
    assertEquals((await again(folder).get(id)).status, "cancelled");
  }, { ...able, script });
});

Deno.test("what fails is told by the response: a model that fails, and half a call is none", () =>
  withKeeper(async (keeper) => {
    const { ask, loaded, lines } = keeper;
    await ask({ input: "Hi" });
    loaded[0]!.script = async function* () {
      yield { type: "text", text: "Ha" };
      yield { type: "callStart", id: "c1", name: "weather" };
      await Promise.resolve();
      throw new Error("the device is gone");
    };
    const { id } = await ask({ input: "Hi", background: true });
    const failed = await when(keeper, id, hasEnded);
    assertEquals([failed.status, failed.error.code], ["failed", "server_error"]);
    assertStringIncludes(failed.error.message, "the device is gone");
    assertEquals(failed.output.map(({ type }: Answer) => type), ["message"]);
    await until(() => lines.some((line) => line.includes("POST /v1/responses 500")));
  }));

Deno.test("mistakes are told at once, and so are routes and places that there are not", () =>
  withKeeper(async ({ app, ask, get, post }) => {
    const unknown = await ask({ model: "none", input: "Hi", background: true });
    assertEquals([unknown.status, unknown.error.type], [404, "not_found_error"]);
    const odd = await ask({ input: "Hi", background: "yes" });
    assertEquals([odd.status, odd.error.message.includes("background")], [400, true]);
    const { id } = await ask({ input: "Hi" });
    for (const query of ["?stream=true", "?stream=true&starting_after=2"]) {
      const { status, error } = await get(`${id}${query}`);
      assertEquals([status, error.param], [400, "stream"]);
    }
    const sync = await post(`${path}/${id}/cancel`, "");
    assertEquals([sync.status, (await sync.json()).error.param], [400, "response_id"]);
    const missing = `${path}/resp_${"0".repeat(48)}`;
    assertEquals((await post(`${missing}/cancel`, "")).status, 404);
    assertEquals((await app.request(`${missing}?stream=true`)).status, 404);
    const background = await ask({ input: "Hi", background: true });
    for (const [after, part] of [["x", "no sequence number"], ["-1", "no"], ["99", "so far"]]) {
      const { status, error } = await get(`${background.id}?stream=true&starting_after=${after}`);
      assertEquals(status, 400);
      assertStringIncludes(error.message, part!);
    }
    const compacted = await post(`${path}/compact`, { model, input: "Hi", background: true });
    assertEquals(compacted.status, 400);
  }));

Deno.test("a response that is not to be kept can be asked for until some time after its end", () =>
  withKeeper(
    async (keeper) => {
      const { ask, get } = keeper;
      const { id, store } = await ask({ input: "Hi", background: true, store: false });
      assertEquals(store, false);
      assertEquals((await when(keeper, id, hasEnded)).status, "completed");
      using _clock = later(60_000);
      assertEquals((await get(id)).status, 404);
    },
    able,
    { eventLogLimits: { age: 50_000 } },
  ));

Deno.test("a response that is deleted while it is made ends, and is not kept afterwards", () => {
  const { script, say } = steered();
  return withKeeper(async ({ app, ask, get, loaded, folder }) => {
    const { id } = await ask({ input: "Hi", background: true });
    say("a");
    await until(() => loaded[0]?.requests.length === 1);
    const deleted = await app.request(`${path}/${id}`, { method: "DELETE" });
    assertEquals((await deleted.json()).deleted, true);
    assertEquals(loaded[0]!.requests[0]!.request.signal!.aborted, true);
    assertEquals((await get(id)).status, 404);
    assertEquals([...Deno.readDirSync(folder)], []);
  }, { ...able, script });
});

Deno.test("a stop of the server waits for responses in the background, and ends them with a word", () => {
  const { script, say } = steered();
  const drain = new Drain();
  return withKeeper(
    async ({ ask, loaded, manager, folder }, again) => {
      const { id } = await ask({ input: "Hi", background: true });
      say("a");
      await until(() => loaded[0]?.requests.length === 1);
      let isIdle = false;
      const idle = drain.begin().then(() => isIdle = true);
      await new Promise((resolve) => setTimeout(resolve, 10));
      assertEquals(isIdle, false);
      // What the second step of a stop does.
      say("b");
      await manager.closeAll();
      say("c");
      await idle;
      const failed = await again(folder).get(id);
      assertEquals(failed.status, "failed");
      assertStringIncludes(failed.error.message, "the server was stopped");
    },
    { ...able, script },
    { drain },
  );
});

Deno.test("a response whose server ended without a word has failed, for the next server", () => {
  const { script, say, end } = steered();
  return withKeeper(async (keeper, again) => {
    const { id } = await keeper.ask({ input: "Hi", background: true });
    say("a");
    await when(keeper, id, ({ output }) => output.length > 0);
    const other = again(keeper.folder);
    const failed = await other.get(id);
    assertEquals(failed.status, "failed");
    assertStringIncludes(failed.error.message, "was stopped before it was complete");
    const cancelled = await other.post(`${path}/${id}/cancel`, "");
    assertEquals((await cancelled.json()).status, "failed");
    end();
    assertEquals((await when(keeper, id, hasEnded)).status, "completed");
  }, { ...able, script });
});

Deno.test("a conversation gets what a response in the background said, once it is whole", () =>
  withKeeper(async (keeper) => {
    const { app, ask, post } = keeper;
    const { id: conversation } = await (await post("/v1/conversations", {})).json();
    const { id } = await ask({ input: messages, background: true, conversation });
    await when(keeper, id, hasEnded);
    const items = await app.request(`/v1/conversations/${conversation}/items?order=asc`);
    assertEquals((await items.json()).data.map(({ role }: Answer) => role), ["user", "assistant"]);
  }));

Deno.test("a server whose queue is full refuses an answer in the background at once", () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const script: Script = async function* () {
    await opened;
    yield { type: "done", reason: "stop", usage: fakeUsage };
  };
  return withKeeper(
    async (keeper) => {
      const first = await keeper.ask({ input: "Hi", background: true });
      await until(() => keeper.loaded[0]?.requests.length === 1);
      const busy = await keeper.ask({ input: "Hi", background: true });
      assertEquals([first.status, busy.status], ["queued", 503]);
      open();
      assertEquals((await when(keeper, first.id, hasEnded)).status, "completed");
    },
    { ...able, script },
    { maxQueue: 1 },
  );
});
