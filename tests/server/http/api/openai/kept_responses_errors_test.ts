// Responses that are not kept, or not for everybody: what is said of them and why, and what does not go
// with those that are.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { later } from "../../../../clock.ts";
import { readEvents } from "./openai_scripts.ts";
import { able, type Answer, message, model, path, withKeeper } from "./response_keeper.ts";
import { createTestApp, ringOf } from "../../../test_app.ts";

Deno.test("what is not kept gets 404 with the reason and what to do", () =>
  withKeeper(async ({ ask, get, app, folder }, again) => {
    const unkept = await ask({ input: "Hi", store: false });
    assertEquals(unkept.store, false);
    const kept = await ask({ input: "Hi" });
    const gone = await ask({ input: "Hi" });
    await app.request(`${path}/${gone.id}`, { method: "DELETE" });
    for (const id of [unkept.id, gone.id, "resp_1", "x", `resp_${"0".repeat(48)}`]) {
      const found = await get(id);
      assertEquals([id, found.status], [id, 404]);
      assertStringIncludes(found.error.message, `response '${id}' is not kept here: `);
      assertStringIncludes(found.error.message, "make it anew with POST /v1/responses");
      assertEquals([found.error.param, found.error.code], [null, null]);
      assertEquals((await get(`${id}/input_items`)).status, 404);
      const deleted = await app.request(`${path}/${id}`, { method: "DELETE" });
      assertEquals([deleted.status, Object.keys((await deleted.json()).error)], [404, [
        "message",
        "type",
        "param",
        "code",
      ]]);
      const { status, error } = await ask({ input: "x", previous_response_id: id });
      assertEquals([status, error.param, error.code], [
        404,
        "previous_response_id",
        "previous_response_not_found",
      ]);
      assertStringIncludes(error.message, "send the whole conversation as input");
    }
    assertMatch(
      (await get(unkept.id)).error.message,
      /has not ended, was made with "store": false or another API key, was deleted/,
    );
    assertMatch((await get("resp_1")).error.message, /this server gives no such id/);
    const items = [unkept.output[0].id, `${kept.output[0].id}9`, "msg_1", "rs_68af"];
    for (const id of items) {
      const { status, error } = await ask({ input: [message("user", "x"), { id }] });
      assertEquals([status, error.param], [404, "input[1]"]);
      assertStringIncludes(error.message, `item '${id}' is not kept here: `);
      assertStringIncludes(error.message, "send the item itself");
    }
    const empty = await ask({ input: [{ type: "item_reference" }] });
    assertEquals([empty.status, empty.error.message], [400, 'input[0] lacks "id"']);
    using _clock = later(20_000);
    const late = again(folder, able, { bounds: { age: 10_000 } });
    assertMatch(
      (await late.get(kept.id)).error.message,
      /was made on 20\d\d-.*QUERN_RESPONSES_AGE/,
    );
  }));

Deno.test("a response that is streamed again is refused", () =>
  withKeeper(async ({ ask, get }) => {
    const { id } = await ask({ input: "Hi" });
    const { status, error } = await get(`${id}?stream=true`);
    assertEquals([status, error.param], [400, "stream"]);
    assertEquals((await get(`${id}?stream=false`)).id, id);
  }));

Deno.test("with a key set, a response is for the key that it was made with", () => {
  const key = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });
  return withKeeper(
    async ({ ask, get, folder, app }, again) => {
      const made = await ask({ input: "Hi" }, key("one"));
      assertEquals((await get(made.id, key("one"))).id, made.id);
      assertEquals((await app.request(`${path}/${made.id}`)).status, 401);
      const other = again(folder, able, { keys: ringOf("two") });
      const open = again(folder);
      for (const [keeper, headers] of [[other, key("two")], [open, {}]] as const) {
        assertEquals((await keeper.get(made.id, headers)).status, 404);
        const body = { input: "x", previous_response_id: made.id };
        assertEquals((await keeper.ask(body, headers)).status, 404);
        const reference = { input: [{ type: "item_reference", id: made.output[0].id }] };
        assertEquals((await keeper.ask(reference, headers)).status, 404);
        const deletion = { method: "DELETE", headers };
        assertEquals((await keeper.app.request(`${path}/${made.id}`, deletion)).status, 404);
      }
      assertEquals((await get(made.id, key("one"))).id, made.id);
    },
    able,
    { keys: ringOf("one") },
  );
});

Deno.test("a server that keeps nothing says so, in answers and of what is asked for", async () => {
  const { app, post } = createTestApp();
  const made = await (await post(path, { model, input: "Hi", store: true })).json();
  assertEquals(made.store, false);
  const { error } = await (await app.request(`${path}/${made.id}`)).json();
  assertStringIncludes(error.message, "this server keeps none (QUERN_RESPONSES, QUERN_CACHE)");
});

Deno.test("an answer that could not be kept is given all the same, and says so", () =>
  withKeeper(
    async ({ ask, post, get }) => {
      const whole = await ask({ input: "Hi" });
      assertEquals([whole.status, whole.store], ["completed", false]);
      const events = await readEvents(await post(path, { model, input: "Hi", stream: true }));
      assertEquals(events.at(-1)!.data.response.store, false);
      assertEquals((await get(whole.id)).status, 404);
    },
    able,
    { bounds: { bytes: 10 } },
  ));

Deno.test("the oldest response is dropped for a new one, with its items", () =>
  withKeeper(
    async ({ ask, get }) => {
      const made: Answer[] = [];
      for (let count = 0; count < 4; count++) {
        made.push(await ask({ input: `${count}` }));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      const statuses = await Promise.all(made.map(async ({ id }) => (await get(id)).status));
      assertEquals(statuses, [404, 404, "completed", "completed"]);
      const { status } = await ask({ input: [{ id: made[0].output[0].id }] });
      assertEquals(status, 404);
    },
    able,
    { bounds: { count: 2 } },
  ));

Deno.test("what is put together of kept items may be no larger than a body", () =>
  withKeeper(
    async ({ ask }) => {
      const first = await ask({ input: "x".repeat(3000) });
      const second = await ask({ input: "y".repeat(3000), previous_response_id: first.id });
      assertEquals(second.status, "completed");
      const third = await ask({ input: "z", previous_response_id: second.id });
      assertEquals(third.status, 413);
      assertMatch(
        third.error.message,
        /the conversation is larger than 5000 bytes: begin a new one/,
      );
      const input = Array(60).fill({ id: first.output[0].id });
      assertEquals((await ask({ input })).status, 413);
    },
    able,
    { maxBodyBytes: 5000 },
  ));
