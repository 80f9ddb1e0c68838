// HEAD and POST /api/blobs/{digest}: uploads that are streamed, checked, and taken once.

import { assert, assertEquals } from "@std/assert";
import { portWay } from "../../../tiny_app.ts";
import { BOX_MODEL } from "../../../../../engine/mod.ts";
import { createStoreApp } from "../../../store_app.ts";

const test = await createStoreApp({ maxBodyBytes: 100 });
const { app, store } = test;

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return `sha256:${new Uint8Array(hash).toHex()}`;
}

const head = async (digest: string) =>
  (await app.request(`/api/blobs/${digest}`, { method: "HEAD" })).status;
const post = (digest: string, body: BodyInit) =>
  app.request(`/api/blobs/${digest}`, { method: "POST", body });

Deno.test("a blob is taken once, and found from then on", async () => {
  const bytes = new TextEncoder().encode("hello");
  const digest = await digestOf(bytes);
  assertEquals(await head(digest), 404);
  const created = await post(digest, bytes);
  assertEquals([created.status, await created.text()], [201, ""]);
  assertEquals(await head(digest), 200);
  assertEquals(await head(digest.replace(":", "-")), 200);
  assertEquals((await post(digest, bytes)).status, 200);
  assertEquals(await store.blobs.read(digest), bytes);
});

Deno.test("a blob may be larger than any other body, whether or not it says its length", async () => {
  const chunk = crypto.getRandomValues(new Uint8Array(60_000));
  const bytes = new Uint8Array(await new Blob(Array(50).fill(chunk)).arrayBuffer());
  const digest = await digestOf(bytes);
  const { url } = portWay(test);
  const body = ReadableStream.from(Array(50).fill(chunk));
  const { status } = await fetch(`${url}/api/blobs/${digest}`, { method: "POST", body });
  assertEquals([status, await store.blobs.sizeOf(digest)], [201, bytes.length]);
  const other = bytes.with(0, bytes[0]! ^ 1);
  assertEquals((await post(await digestOf(other), other)).status, 201);
  const chat = await app.request("/api/chat", { method: "POST", body: " ".repeat(101) });
  assertEquals(chat.status, 413);
});

Deno.test("a blob is given whole, and by ranges of its bytes", async () => {
  const bytes = new TextEncoder().encode("0123456789");
  const digest = await digestOf(bytes);
  await (await post(digest, bytes)).body?.cancel();
  const etag = `"${digest}"`;
  const get = async (headers: Record<string, string>) => {
    const response = await app.request(`/api/blobs/${digest}`, { headers });
    const told = ["content-length", "content-range", "etag"].map((name) =>
      response.headers.get(name)
    );
    return [response.status, await response.text(), ...told];
  };
  assertEquals(await get({}), [200, "0123456789", "10", null, etag]);
  for (
    const [range, text, place] of [
      ["bytes=0-", "0123456789", "0-9"],
      ["bytes=3-5", "345", "3-5"],
      ["bytes=8-99", "89", "8-9"],
      ["bytes=-2", "89", "8-9"],
      ["bytes=-99", "0123456789", "0-9"],
    ] as const
  ) {
    const expected = [206, text, `${text.length}`, `bytes ${place}/10`, etag];
    assertEquals(await get({ range }), expected);
    assertEquals(await get({ range, "if-range": etag }), expected);
    assertEquals((await get({ range, "if-range": '"other"' }))[0], 200);
  }
  for (const range of ["bytes=10-", "bytes=-0"]) {
    assertEquals((await get({ range })).slice(0, 4), [416, "", "10", "bytes */10"]);
  }
  // What is no range of bytes, and several of them, are answered by all.
  for (const range of ["bytes=5-3", "bytes=-", "bytes=0-1,4-5", "lines=1-2"]) {
    assertEquals((await get({ range }))[0], 200);
  }
});

Deno.test("the files of a model are named, and the one in the box is given too", async () => {
  const { app } = await createStoreApp({}, { builtin: [BOX_MODEL] });
  const show = await app.request("/api/show", {
    method: "POST",
    body: JSON.stringify({ model: "quern:tiny" }),
  });
  const { files } = await show.json();
  assertEquals(files.map(({ kind }: { kind: string }) => kind), ["model"]);
  const [{ digest, size }] = files;
  const blob = await app.request(`/api/blobs/${digest}`);
  const bytes = new Uint8Array(await blob.arrayBuffer());
  assertEquals([await digestOf(bytes), bytes.length], [digest, size]);
});

Deno.test("content with another digest is refused and not kept", async () => {
  const [digest, other] = await Promise.all(
    ["a", "b"].map((text) => digestOf(new TextEncoder().encode(text))),
  );
  const response = await post(digest!, "b");
  const error = `digest mismatch, expected "${digest}", got "${other}"`;
  assertEquals([response.status, await response.json()], [400, { error }]);
  assertEquals(await head(digest!), 404);
  const files = await Array.fromAsync(Deno.readDir(store.blobs.folder));
  assert(files.every(({ name }) => /^sha256-[0-9a-f]{64}$/.test(name)));
});

Deno.test("an upload that breaks off leaves nothing", async () => {
  const digest = await digestOf(new TextEncoder().encode("never whole"));
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(10));
      controller.error(new Error("cut"));
    },
  });
  const { status } = await post(digest, body);
  assert(status >= 400);
  assertEquals(await head(digest), 404);
});

Deno.test("what is no digest is refused, and other methods too", async () => {
  for (const text of ["sha256:abc", "x", `md5:${"0".repeat(64)}`, `sha256:${"g".repeat(64)}`]) {
    assertEquals(await head(text), 400);
    const response = await post(text, "x");
    assertEquals(response.status, 400);
    assert((await response.json()).error.startsWith("invalid digest format"));
  }
  const path = `/api/blobs/sha256:${"0".repeat(64)}`;
  const missing = await app.request(path);
  assertEquals([missing.status, typeof (await missing.json()).error], [404, "string"]);
  for (const method of ["PUT", "DELETE"]) {
    const response = await app.request(path, { method });
    assertEquals([method, response.status], [method, 405]);
    await response.body?.cancel();
  }
});
