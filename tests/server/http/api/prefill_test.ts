// An assistant's message at the end of a conversation is continued in every API, streamed and not:
// the model in the box goes on as if it had said the words itself, and the answer is what is new.

import { BOX, passage, sum, weather } from "../../box_talk.ts";
import { createTinyApp } from "../../tiny_app.ts";
import { ask, CHAT_APIS, post, type Question, type Said } from "./asking.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";

const { app } = await createTinyApp("prefill");

const said = (content: string): Said => ({ role: "user", content });

/** A question whose answer begins with what is given. */
function continued(question: Question, begun: Partial<Said>): Question {
  const last: Said = { role: "assistant", content: "", ...begun };
  return { ...question, messages: [...question.messages, last] };
}

for (const api of CHAT_APIS) {
  Deno.test(`${api} continues the words of an answer`, async () => {
    const question = { model: BOX, messages: [said("How do I stop a model?")] };
    const { content } = await ask(app, api, question);
    const ends = [...content.matchAll(/\w(?= )/g)].map(({ index }) => index + 1);
    assert(ends.length > 3, content);
    for (const end of [ends[0], ends[ends.length >> 1], ends.at(-1)!]) {
      const rest = await ask(app, api, continued(question, { content: content.slice(0, end) }));
      assertEquals(content.slice(0, end) + rest.content, content);
    }
  });

  Deno.test(`${api} continues thinking, and an answer after thinking`, async () => {
    const question = { model: BOX, messages: [said(sum.question)], thinks: true };
    const { thinking, content } = await ask(app, api, question);
    assertMatch(thinking, sum.thought);
    const end = thinking.indexOf(" ", thinking.length / 2);
    const rest = await ask(app, api, continued(question, { thinking: thinking.slice(0, end) }));
    assertEquals([thinking.slice(0, end) + rest.thinking, rest.content], [thinking, content]);
    const half = content.slice(0, content.indexOf(" "));
    const answer = await ask(app, api, continued(question, { thinking, content: half }));
    assertEquals([answer.thinking, half + answer.content], ["", content]);
  });

  Deno.test(`${api} continues a document, and refuses one that no schema begins so`, async () => {
    const messages = [said(passage.question)];
    const question = { model: BOX, messages, schema: passage.schema };
    for (const content of ["{", '{"name":', '{"name": "Nora', '{"name": "Nora Weber", "age": 3']) {
      const rest = await ask(app, api, continued(question, { content }));
      assertEquals(JSON.parse(content + rest.content), passage.facts, content);
    }
    for (const stream of [false, true]) {
      const refused = await post(app, api, continued(question, { content: "Sure:" }), stream);
      assertEquals(refused.status, 400);
      assertStringIncludes(await refused.text(), "Cannot continue the last message");
    }
  });

  Deno.test(`${api} calls a tool after words that are given`, async () => {
    const { name, description, parameters } = weather;
    const question = {
      model: BOX,
      messages: [said(weather.question)],
      tool: { name, description, parameters },
    };
    const whole = await ask(app, api, question);
    assertEquals(whole.content, weather.lead);
    const begun = "For that I have";
    const rest = await ask(app, api, continued(question, { content: begun }));
    assertEquals([begun + rest.content, rest.calls], [whole.content, whole.calls]);
    assertEquals(rest.calls, [{ name, arguments: weather.arguments }]);
  });
}

Deno.test("/v1/messages refuses white space at the end, in Anthropic's words", async () => {
  const body = { model: BOX, max_tokens: 5 };
  const last = (content: unknown) => ({
    ...body,
    messages: [said("Hi"), { role: "assistant", content }],
  });
  for (const content of ["Sure ", "Sure\n", [{ type: "text", text: "It is\t" }]]) {
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      const sent = { method: "POST", body: JSON.stringify(last(content)) };
      const response = await app.request(path, sent);
      assertEquals(response.status, 400);
      const { error: { type, message } } = await response.json();
      assertEquals(type, "invalid_request_error");
      assertEquals(
        message,
        "messages: final assistant content cannot end with trailing whitespace",
      );
    }
  }
});

Deno.test("/api/chat shows the prompt, which ends with the text to continue", async () => {
  const messages = [said("Hi"), { role: "assistant", content: "Hello, I " }];
  const body = JSON.stringify({ model: BOX, messages, _debug_render_only: true });
  const response = await app.request("/api/chat", { method: "POST", body });
  const { _debug_info: { rendered_template: prompt } } = await response.json();
  assert(prompt.endsWith("assistant\nHello, I "), prompt);
});
