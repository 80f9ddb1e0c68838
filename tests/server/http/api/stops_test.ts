// Stop strings in every API, streamed and not, with the model in the box: they end the text of an
// answer, and neither its thinking nor its calls. A limit never leaves half a call.

import { BOX, passage, sum, weather } from "../../box_talk.ts";
import { createTinyApp } from "../../tiny_app.ts";
import { ask, CHAT_APIS, type Question } from "./asking.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";

const { app } = await createTinyApp("stops");

const said = (content: string) => [{ role: "user" as const, content }];

const { name, description, parameters } = weather;

const call: Question = {
  model: BOX,
  messages: said(weather.question),
  tool: { name, description, parameters },
};

const calls = [{ name, arguments: weather.arguments }];

/** The words for an end that a call, a stop string and a limit make. */
const ENDS: Record<string, { call: string; stop: string; limit: string }> = {
  "/api/chat": { call: "stop", stop: "stop", limit: "length" },
  "/v1/chat/completions": { call: "tool_calls", stop: "stop", limit: "length" },
  "/v1/messages": { call: "tool_use", stop: "stop_sequence", limit: "max_tokens" },
  "/v1/responses": { call: "completed", stop: "completed", limit: "max_output_tokens" },
};

for (const api of CHAT_APIS) {
  const ends = ENDS[api];

  Deno.test(`${api} searches no stop string in a call or around it`, async () => {
    for (const stop of [["\n"], ["Rome"], ["city", "{", '"', "}"], ["tool_call", "<"]]) {
      const told = await ask(app, api, { ...call, stop });
      assertEquals(told.calls, calls, `${stop}`);
      assertEquals([told.content, told.finish], [weather.lead, ends.call], `${stop}`);
    }
    const stopped = await ask(app, api, { ...call, stop: ["have"] });
    assertEquals([stopped.content, stopped.calls], ["For that I ", []]);
    assertEquals(stopped.finish, ends.stop);
  });

  Deno.test(`${api} searches no stop string in thinking`, async () => {
    const question = { model: BOX, messages: said(sum.question), thinks: true };
    const free = await ask(app, api, question);
    assertMatch(free.thinking, sum.thought);
    const words = free.thinking.split(/\s+/).filter((word) => !free.content.includes(word));
    for (const stop of [["carry", "\n"], words.filter(Boolean), ["</think>"]]) {
      const told = await ask(app, api, { ...question, stop });
      assertEquals([told.thinking, told.content], [free.thinking, free.content], `${stop}`);
    }
    const stop = free.content.slice(3, 6);
    const stopped = await ask(app, api, { ...question, stop: [stop] });
    assertEquals(stopped.thinking, free.thinking);
    assertEquals([stopped.content, stopped.finish], [free.content.split(stop)[0], ends.stop]);
  });

  Deno.test(`${api} searches stop strings in documents`, async () => {
    const question = { model: BOX, messages: said(passage.question), schema: passage.schema };
    const free = await ask(app, api, { ...question, stop: ["\n", "<think>"] });
    assertEquals(JSON.parse(free.content), passage.facts);
    const stopped = await ask(app, api, { ...question, stop: ["Weber"] });
    assertEquals([stopped.content, stopped.finish], [free.content.split("Weber")[0], ends.stop]);
  });

  Deno.test(`${api} gives no half call out, whatever the limit`, async () => {
    let called = 0;
    for (const maxTokens of [1, 5, 9, 12, 14, 16, 18, 20, 22, 25, 30, 60, 240]) {
      const told = await ask(app, api, { ...call, maxTokens });
      if (told.calls.length > 0) called++;
      for (const made of told.calls) {
        assertEquals(Object.keys(made.arguments as object), ["city"], `${maxTokens}`);
      }
      assert(!/[<{]/.test(told.content), told.content);
    }
    assert(called > 0, "a call where there is room for one");
  });
}
