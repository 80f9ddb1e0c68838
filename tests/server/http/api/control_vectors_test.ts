// Control vectors over HTTP: made, listed, used in every API, part of a model, and removed.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type ControlVector, writeControlVector } from "../../../../engine/mod.ts";
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

/** Uploads a vector's file; its digest. */
async function upload(vector: ControlVector): Promise<string> {
  const path = await Deno.makeTempFile();
  try {
    await writeControlVector(path, vector);
    const bytes = await Deno.readFile(path);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const digest = `sha256:${hash.toHex()}`;
    const { status } = await way.fetch(`${way.url}/api/blobs/${digest}`, {
      method: "POST",
      body: bytes,
    });
    assert(status === 201 || status === 200, `${status}`);
    return digest;
  } finally {
    await Deno.remove(path);
  }
}

/** A vector that pushes each number of a layer, by turns up and down. */
function vectorOf({ layer = 3, width = 256, architecture = "" }): ControlVector {
  const values = Float32Array.from({ length: width }, (_, i) => i % 3 - 1);
  return { architecture, directions: new Map([[layer, values]]) };
}

async function chat(model: string, control_vectors?: object[]): Promise<string> {
  const { status, body } = await ask("/api/chat", {
    model,
    messages: [{ role: "user", content: "What is the weather in Rome?" }],
    stream: false,
    options: { temperature: 0, num_predict: 12 },
    control_vectors,
  });
  assertEquals(status, 200, JSON.stringify(body));
  return body.message.content;
}

async function create(body: object) {
  return await ask("/api/create", { from: model, stream: false, ...body });
}

Deno.test("a model has control vectors, unless a request names its own", async () => {
  await ask("/api/control_vectors", { name: "kept", model, pairs });
  const digest = await upload(vectorOf({}));
  const control_vectors = [{ name: "kept", scale: 4 }, { name: "up.gguf", digest, scale: -0.5 }];
  assertEquals(await create({ model: "steered", control_vectors }), {
    status: 200,
    body: { status: "success" },
  });
  const plain = await chat(model);
  const kept = await chat(model, [{ name: "kept", scale: 8 }]);
  assertEquals(await chat("steered", []), plain);
  assertEquals(await chat("steered", [{ name: "kept", scale: 8 }]), kept);

  // With one vector alone, the answer is that of a request that names it.
  await create({ model: "one", control_vectors: [{ name: "kept", scale: 8 }] });
  await ask("/api/control_vectors", { name: "kept" }, "DELETE");
  assert(kept !== plain);
  assertEquals(await chat("one"), kept);

  await ask("/api/copy", { source: "one", destination: "copied" });
  await create({ model: "child", from: "copied", system: "" });
  assertEquals(await chat("copied"), kept);
  assertEquals(await chat("child"), kept);
  await create({ model: "freed", from: "copied", control_vectors: [] });
  assertEquals(await chat("freed"), plain);
});

Deno.test("the vectors of a model are shown, and its Modelfile says them", async () => {
  const digest = await upload(vectorOf({}));
  const vector = { name: "up.gguf", digest };
  await create({ model: "shown", control_vectors: [{ ...vector, scale: -0.5 }, vector] });
  const { body } = await ask("/api/show", { model: "shown" });
  const lines = body.modelfile.split("\n").filter((line: string) => line.startsWith("CONTROL "));
  const file = digest.replace(":", "-");
  assertEquals(lines.length, 2);
  assert(lines[0].endsWith(`${file} -0.5`) && lines[1].endsWith(`${file} 1`), lines.join());
  const kinds = body.files.map(({ kind }: { kind: string }) => kind);
  assertEquals(kinds, ["model", "control_vector", "control_vector"]);
});

Deno.test("a model refuses vectors that do not fit it, by their names", async () => {
  const wide = await upload(vectorOf({ width: 64 }));
  const deep = await upload(vectorOf({ layer: 6 }));
  const foreign = await upload(vectorOf({ architecture: "gemma3" }));
  const cases: [body: object, message: string][] = [
    [{ name: "w.gguf", digest: wide }, '"w.gguf": its directions have 64 numbers, and the model'],
    [{ name: "d.gguf", digest: deep }, '"d.gguf": it has a direction for layer 6'],
    [{ name: "f.gguf", digest: foreign }, '"f.gguf": it is for models of architecture "gemma3"'],
    [{ name: "none" }, 'Cannot find the control vector "none": there is none'],
    [{ name: "a.gguf", digest: `sha256:${"0".repeat(64)}` }, 'blob not found for "a.gguf"'],
    [{ name: "a.gguf", digest: "md5:1" }, "invalid digest format"],
    [{ name: "a", scale: "much" }, "control_vectors[0].scale must be of type number"],
    [{ name: "a", layers: [1, 2] }, "layers"],
  ];
  for (const [vector, message] of cases) {
    const { status, body } = await create({ model: "x", control_vectors: [vector] });
    assertEquals(status, 400, message);
    assertStringIncludes(body.error, message);
  }
  const { body } = await ask("/api/show", { model });
  const { digest } = body.files[0];
  const own = await create({ model: "x", control_vectors: [{ name: "m.gguf", digest }] });
  assertStringIncludes(own.body.error ?? "", "m.gguf");
  const remote = await create({
    model: "x",
    from: "big",
    remote_host: "http://127.0.0.1:1",
    control_vectors: [{ name: "kept" }],
  });
  assertStringIncludes(remote.body.error, "control vectors, drafts and quantize have no effect");
});
