// Ways in which a registry misbehaves, for FakeRegistry, and what has to hold after each.

import { assertEquals, assertRejects } from "@std/assert";
import { ModelName, ModelNotFoundError } from "../../../engine/mod.ts";
import type { FakeAnswer, FakeRegistry, FakeRequest, Fault } from "./fake_registry.ts";
import { blobFiles, encode, openStore } from "./fixtures.ts";

/** A fault of the ranges of blobs only. */
export function ofRanges(fault: (request: FakeRequest, proper: FakeAnswer) => FakeAnswer): Fault {
  return (request, proper) => request.range ? fault(request, proper) : proper;
}

/** A fault of the manifest only. */
export function ofManifest(change: (proper: FakeAnswer) => FakeAnswer): Fault {
  return ({ kind }, proper) => kind === "manifest" ? change(proper) : proper;
}

/** A manifest with another text. */
export function withManifest(change: (text: string) => string): Fault {
  return ofManifest((proper) => ({
    ...proper,
    body: encode(change(new TextDecoder().decode(proper.body))),
  }));
}

/** The fault, the first time for each address and part; later all is well. */
export function once(fault: Fault): Fault {
  const seen = new Set<string>();
  return (request, proper) => {
    const key = `${request.path} ${request.range?.[1]}`;
    if (seen.has(key)) return proper;
    seen.add(key);
    return fault(request, proper);
  };
}

/** The right bytes as those of another range. */
export function shift(proper: FakeAnswer): FakeAnswer {
  const range = proper.headers!["content-range"]!
    .replace(/(\d+)-(\d+)/, (_, first, last) => `${Number(first) + 1}-${Number(last) + 1}`);
  return { ...proper, headers: { "content-range": range } };
}

/** Blobs with another Content-Length than theirs. */
export function announcing(change: (length: number) => number): Fault {
  return ({ kind }, proper) => {
    if (kind !== "blob") return proper;
    const length = Math.max(0, change(proper.body!.length));
    return { ...proper, headers: { ...proper.headers, "content-length": String(length) } };
  };
}

/** The right answer with a body in one chunk of chunked coding; the length is not announced. */
export function chunked(proper: FakeAnswer, body: Uint8Array): FakeAnswer {
  const coded = new Uint8Array([
    ...encode(`${body.length.toString(16)}\r\n`),
    ...body,
    ...encode("\r\n0\r\n\r\n"),
  ]);
  return { ...proper, body: coded, headers: { ...proper.headers, "transfer-encoding": "chunked" } };
}

/** The store in the folder has the whole model, and nothing half done. */
export async function assertWhole(folder: string, registry: FakeRegistry): Promise<void> {
  const store = openStore(folder);
  const { manifest } = await store.find(registry.name);
  assertEquals(manifest!.layers.length, 2);
  for (const [digest, content] of registry.model.blobs) {
    assertEquals(await Deno.readFile(store.blobs.pathOf(digest)), content);
  }
  assertEquals((await blobFiles(store)).filter((name) => name.includes("partial")), []);
}

/** The store in the folder does not have the model. */
export async function assertAbsent(folder: string, registry: FakeRegistry): Promise<void> {
  const store = openStore(folder);
  assertEquals(await store.readManifest(ModelName.parse(registry.name)), undefined);
  await assertRejects(() => store.find(registry.name), ModelNotFoundError);
}
