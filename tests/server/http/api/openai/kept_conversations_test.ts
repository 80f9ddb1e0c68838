// Conversations of OpenAI's API, by the official openai client over a model without weights: what the
// model is told, what is added and listed, and what cannot be done.

import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { BadRequestError, NotFoundError, OpenAI } from "openai";
import { callEvents, gives, readEvents, weather } from "./openai_scripts.ts";
import {
  able,
  type Answer,
  type Keeper,
  message,
  model,
  path,
  withKeeper,
} from "./response_keeper.ts";
import { createTestApp, ringOf } from "../../../test_app.ts";

function clientOf({ app }: Pick<Keeper, "app">): OpenAI {
  return new OpenAI({
    baseURL: "http://127.0.0.1:11434/v1",
    apiKey: "anything",
    maxRetries: 0,
    fetch: async (input, init) => await app.fetch(new Request(input, init)),
  });
}

/** The text of an item that has one. */
const textOf = ({ content }: Answer): string => content[0].text;

async function textsOf(client: OpenAI, id: string): Promise<string[]> {
  const texts: string[] = [];
  // More than one page.
  for await (const item of client.conversations.items.list(id, { limit: 2, order: "asc" })) {
    texts.push(textOf(item));
  }
  return texts;
}

const unknown = `conv_${"0".repeat(48)}`;

Deno.test("responses go on in a conversation, streamed or not, kept or not, by its id or an object", () =>
  withKeeper(async (keeper) => {
    const client = clientOf(keeper);
    const { id } = await client.conversations.create({
      items: [{ role: "developer", content: "Rhyme." }],
      metadata: { user: "7" },
    });
    assertMatch(id, /^conv_[0-9a-f]{48}$/);
    const first = await client.responses.create({
      model,
      input: "One",
      instructions: "Be brief.",
      conversation: id,
    });
    assertEquals(first.conversation, { id });
    assertEquals((await client.responses.retrieve(first.id)).conversation, { id });
    const asked = {
      model,
      input: "Two",
      conversation: { id },
      stream: true,
      store: false,
    } as const;
    let last: Answer;
    for await (const event of await client.responses.create(asked)) last = event;
    assertEquals([last.type, last.response.conversation], ["response.completed", { id }]);
    assertEquals<unknown>(keeper.told(), [
      message("system", "Rhyme."),
      message("user", "One"),
      message("assistant", "Hello"),
      message("user", "Two"),
    ]);
    assertEquals(await textsOf(client, id), ["Rhyme.", "One", "Hello", "Two", "Hello"]);
    // What was said can be all that there is to answer.
    await client.conversations.items.create(id, { items: [{ role: "user", content: "Three" }] });
    await client.responses.create({ model, conversation: id });
    assertEquals(keeper.told().at(-1), message("user", "Three"));
    assertEquals((await textsOf(client, id)).slice(-2), ["Three", "Hello"]);
    const tokens = await client.responses.inputTokens.count({
      model,
      input: "x",
      conversation: id,
    });
    assertEquals(tokens.object, "response.input_tokens");
    assertEquals((await textsOf(client, id)).length, 7);
  }));

Deno.test("a conversation is retrieved, its metadata replaced, its items added, given and dropped", () =>
  withKeeper(async (keeper, again) => {
    const client = clientOf(keeper);
    const made = await client.conversations.create();
    assertEquals([made.object, made.metadata], ["conversation", {}]);
    const { id } = made;
    assertEquals(await textsOf(client, id), []);
    const updated = await client.conversations.update(id, { metadata: { a: "b" } });
    assertEquals(updated, { ...made, metadata: { a: "b" } });
    assertEquals(await clientOf(again(keeper.folder)).conversations.retrieve(id), updated);
    const { items } = client.conversations;
    const added = await items.create(id, {
      items: [{ role: "user", content: "One" }, { role: "assistant", content: "Two" }],
    });
    assertEquals(added.data.map(textOf), ["One", "Two"]);
    const one = added.data[0]!.id!;
    assertEquals([added.first_id, added.has_more], [one, false]);
    const more = await items.create(id, { items: [{ role: "user", content: "Three" }] });
    assertEquals((await items.list(id)).data.map(textOf), ["Three", "Two", "One"]);
    assertEquals(await items.retrieve(one, { conversation_id: id }), added.data[0]);
    assertEquals(await items.delete(one, { conversation_id: id }), updated);
    assertEquals(await textsOf(client, id), ["Two", "Three"]);
    const gone = { conversation_id: id };
    const asks = [() => items.retrieve(one, gone), () => items.delete(one, gone)];
    for (const ask of asks) {
      const lost = await assertRejects(async () => await ask(), NotFoundError);
      assertStringIncludes(lost.message, `conversation '${id}' has no item '${one}'`);
    }
    // Other items may refer to one of a response.
    const { output } = await client.responses.create({ model, input: "Hi" });
    await items.create(id, { items: [{ type: "item_reference", id: output[0]!.id! }] });
    assertEquals(await textsOf(client, id), ["Two", "Three", "Hello"]);
    assertEquals(new Set([one, more.first_id]).size, 2);
    const deleted = { id, object: "conversation.deleted", deleted: true };
    assertEquals<unknown>(await client.conversations.delete(id), deleted);
    await assertRejects(() => client.conversations.delete(id), NotFoundError, "was deleted");
  }));

Deno.test("calls and their results go on in a conversation", () =>
  withKeeper(async (keeper) => {
    const client = clientOf(keeper);
    const { id } = await client.conversations.create({});
    const tools = [{ type: "function", strict: false, ...weather.function }] as Answer;
    await client.responses.create({ model, input: "Hi", conversation: id });
    keeper.loaded[0]!.script = gives(callEvents("c1", "weather", ['{"city":"Rome"}']));
    await client.responses.create({ model, input: "Weather?", conversation: id, tools });
    keeper.loaded[0]!.script = gives([{ type: "text", text: "Warm" }]);
    const output = { type: "function_call_output", call_id: "c1", output: "22C" } as const;
    await client.responses.create({ model, input: [output], conversation: id, tools });
    assertEquals<unknown>(keeper.told().slice(-2), [
      {
        ...message("assistant", ""),
        toolCalls: [{ id: "c1", function: { name: "weather", arguments: { city: "Rome" } } }],
      },
      { ...message("tool", "22C"), toolName: "weather", toolCallId: "c1" },
    ]);
    const { data } = await client.conversations.items.list(id, { order: "asc" });
    assertEquals(data.map(({ type }) => type), [
      "message",
      "message",
      "message",
      "function_call",
      "function_call_output",
      "message",
    ]);
  }));

Deno.test("answers that end at the same time are all added", () =>
  withKeeper(async (keeper) => {
    const client = clientOf(keeper);
    const { id } = await client.conversations.create({});
    const inputs = ["1", "2", "3", "4", "5"];
    await Promise.all(
      inputs.map((input) => client.responses.create({ model, input, conversation: id })),
    );
    const texts = await textsOf(client, id);
    assertEquals([texts.length, texts.filter((text) => text !== "Hello").sort()], [10, inputs]);
  }));

Deno.test("a conversation that is not there, or is another's, gets 404 with its id", () =>
  withKeeper(async (keeper, again) => {
    const client = clientOf(keeper);
    const { id } = await client.conversations.create({});
    const response = await client.responses.create({ model, input: "Hi" });
    // Nor is one taken for the other.
    const swapped = `conv_${response.id.slice(5)}`;
    const { conversations } = client;
    const { items } = conversations;
    for (const wrong of [unknown, swapped, "conv_1", "x", response.id]) {
      const asks = [
        () => conversations.retrieve(wrong),
        () => conversations.update(wrong, { metadata: {} }),
        () => conversations.delete(wrong),
        () => items.list(wrong),
        () => items.create(wrong, { items: [] }),
        () => items.retrieve("msg_1", { conversation_id: wrong }),
        () => items.delete("msg_1", { conversation_id: wrong }),
        () => client.responses.create({ model, input: "x", conversation: wrong }),
      ];
      for (const ask of asks) {
        const { message } = await assertRejects<NotFoundError>(
          async () => await ask(),
          NotFoundError,
        );
        assertStringIncludes(message, `conversation '${wrong}' is not kept here: `);
      }
      const named = await assertRejects<NotFoundError>(asks.at(-1)! as Answer, NotFoundError);
      assertEquals(named.param, "conversation");
    }
    assertEquals((await keeper.get(`resp_${id.slice(5)}`)).status, 404);
    assertEquals((await keeper.get(response.id)).id, response.id);
    const other = again(keeper.folder, able, { keys: ringOf("anything") });
    await assertRejects(
      () => clientOf(other).conversations.retrieve(id),
      NotFoundError,
      "it was made with another API key, was deleted",
    );
  }));

Deno.test("what does not go gets 400 that names the member, and changes nothing", () =>
  withKeeper(async (keeper) => {
    const client = clientOf(keeper);
    const { id } = await client.conversations.create({ items: [{ role: "user", content: "One" }] });
    const previous = await client.responses.create({ model, input: "Hi" });
    const both = { model, input: "x", conversation: id, previous_response_id: previous.id };
    const refused = await assertRejects(() => client.responses.create(both), BadRequestError);
    assertEquals([refused.param, refused.code], ["conversation", "mutually_exclusive_parameters"]);
    const faults: [path: string, body: object, param: string][] = [
      ["", { items: "x" }, "items"],
      ["", { items: [{ type: "message", role: "critic", content: "x" }] }, "items[0]"],
      ["", { items: [{ type: "web_search_call" }] }, "items[0]"],
      ["", { items: [{ type: "compaction_trigger" }] }, "items[0]"],
      ["", { metadata: "x" }, "metadata"],
      ["", { name: "x" }, "name"],
      [`/${id}`, {}, "metadata"],
      [`/${id}`, { metadata: {}, items: [message("user", "x")] }, "items"],
      [`/${id}/items`, {}, "items"],
      [`/${id}/items`, { items: [message("user", "x"), { type: "function_call" }] }, "items[1]"],
    ];
    for (const [path, body, param] of faults) {
      const response = await keeper.post(`/v1/conversations${path}`, body);
      const { error } = await response.json();
      assertEquals([body, response.status, error.param], [body, 400, param]);
    }
    const page = await keeper.app.request(`/v1/conversations/${id}/items?after=msg_1`);
    assertEquals([page.status, (await page.json()).error.param], [400, "after"]);
    const none = await client.conversations.create({});
    for (const body of [{ conversation: none.id }, { conversation: id, input: "" }]) {
      const { status, error } = await keeper.ask(body);
      assertEquals([status, error.param], [400, "input"]);
    }
    assertEquals(await textsOf(client, id), ["One"]);
    const keepsNone = createTestApp();
    await assertRejects(
      () => clientOf(keepsNone).conversations.create({}),
      BadRequestError,
      "this server keeps none (QUERN_RESPONSES, QUERN_CACHE)",
    );
  }));

Deno.test("an answer whose conversation was deleted meanwhile is given, and says so", () =>
  withKeeper(async (keeper) => {
    const client = clientOf(keeper);
    await client.responses.create({ model, input: "Hi" });
    for (const stream of [false, true]) {
      const { id } = await client.conversations.create({});
      keeper.loaded[0]!.script = async function* (...asked: Answer[]) {
        await client.conversations.delete(id);
        yield* (gives([{ type: "text", text: "Late" }]) as Answer)(...asked);
      } as Answer;
      const asked = await keeper.post(path, { model, input: "x", conversation: id, stream });
      const answer = stream ? (await readEvents(asked)).at(-1)!.data.response : await asked.json();
      assertEquals([answer.status, answer.conversation, answer.store], ["completed", null, true]);
      assertStringIncludes(answer.warnings[0], "conversation: the answer is not added to it: ");
    }
  }));
