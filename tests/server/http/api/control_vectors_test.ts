// Control vectors over HTTP: made, listed, used in every API, and removed.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createBoxApp, handlerWay } from "../../tiny_app.ts";

const way = handlerWay(await createBoxApp());
const model = "quern:tiny";

async function ask(path: string, body?: object, method = body ? "POST" : "GET") {
  const response = await way.fetch(way.url + path, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

const pairs = [{ positive: "Yes, gladly.", negative: "No, never." }, {
  positive: "Of course!",
  negative: "I refuse.",
}];

Deno.test("a vector steers the answers of every API as far as its scale says", async () => {
  const { status, body } = await ask("/api/control_vectors", { name: "glad", model, pairs });
  assertEquals([status, body.name, body.layers, body.width], [200, "glad", [1, 2, 3, 4, 5], 256]);
  const { body: listed } = await ask("/api/control_vectors");
  assertEquals(listed.control_vectors, [body]);
  const messages = [{ role: "user", content: "What is the weather in Rome?" }];
  const common = { model, messages, temperature: 0, max_tokens: 12 };
  const routes: [string, object, (body: never) => string][] = [
    [
      "/api/chat",
      { model, messages, stream: false, options: { temperature: 0, num_predict: 12 } },
      (body: { message: { content: string } }) => body.message.content,
    ],
    [
      "/v1/chat/completions",
      common,
      (body: { choices: [{ message: { content: string } }] }) => body.choices[0].message.content,
    ],
    ["/v1/messages", common, (body: { content: [{ text: string }] }) => body.content[0].text],
  ];
  for (const [path, request, textOf] of routes) {
    const answer = async (scale?: number) => {
      const control_vectors = scale === undefined ? [] : [{ name: "glad", scale, layers: [2, 5] }];
      const { status, body } = await ask(path, { ...request, control_vectors });
      assertEquals(status, 200, JSON.stringify(body));
      return textOf(body as never);
    };
    const plain = await answer();
    assertEquals(await answer(0), plain, path);
    assert(await answer(8) !== plain, path);
  }
  assertEquals((await ask("/api/control_vectors", { name: "glad" }, "DELETE")).status, 200);
  assertEquals((await ask("/api/control_vectors")).body, { control_vectors: [] });
});

Deno.test("what is wrong with a vector is said", async () => {
  await ask("/api/control_vectors", { name: "own", model, pairs, method: "pca" });
  const messages = [{ role: "user", content: "Hi" }];
  const chat = (...control_vectors: object[]) => ({
    model,
    messages,
    stream: false,
    control_vectors,
  });
  const cases: [string, object, string][] = [
    [
      "/api/chat",
      chat({ name: "none" }),
      'control_vectors[0]: Cannot find the control vector "none"',
    ],
    ["/api/chat", chat({ name: "../own" }), 'Cannot use "../own" as the name'],
    ["/api/chat", chat({ name: "own", layers: [7, 9] }), "it has 1, 2, 3, 4, 5"],
    ["/api/chat", chat({ name: "own", layers: [1] }), "not a first and a last layer"],
    ["/api/chat", chat({ name: "own", strength: 2 }), "strength"],
    ["/api/chat", chat({ scale: 2 }), "name"],
    ["/api/control_vectors", { name: "x", model }, "pairs: there are none"],
    ["/api/control_vectors", { name: "a/b", model, pairs }, 'Cannot use "a/b"'],
    ["/api/control_vectors", { name: "x", model, pairs: [{ positive: "a" }] }, "negative"],
    ["/api/control_vectors", { name: "x", model, pairs, method: "sum" }, "method"],
    [
      "/api/control_vectors",
      { name: "x", model, pairs: [{ positive: "a", negative: "a" }] },
      "do not differ",
    ],
  ];
  for (const [path, body, message] of cases) {
    const answer = await ask(path, body);
    assertEquals(answer.status, 400, JSON.stringify(body));
    assertStringIncludes(answer.body.error, message);
  }
  const gone = await ask("/api/control_vectors", { name: "none" }, "DELETE");
  assertEquals(gone.status, 400);
  assertStringIncludes(gone.body.error, "there is none");
});
