// Manifests as bytes.

import { assertEquals, assertThrows } from "@std/assert";
import {
  blobsOf,
  encodeGoJson,
  encodeManifest,
  type Layer,
  type Manifest,
  MEDIA,
  parseManifest,
  StoreError,
} from "../../../engine/store/mod.ts";
import { blobsNamedIn } from "../../../engine/store/manifest.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const digestOf = (digit: string) => `sha256:${digit.repeat(64)}`;

const TEXT =
  '{"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json",' +
  '"config":{"mediaType":"application/vnd.docker.container.image.v1+json",' +
  `"digest":"${digestOf("a")}","size":489},"layers":[` +
  `{"mediaType":"application/vnd.ollama.image.model","digest":"${digestOf("b")}",` +
  '"size":815310432,"from":"/x/\\u003ca\\u0026b\\u003e"},' +
  `{"mediaType":"application/vnd.ollama.image.params","digest":"${digestOf("c")}","size":77}]}`;

Deno.test("encodeManifest() writes the bytes that Go writes, whatever the order of the fields", () => {
  const manifest: Manifest = {
    layers: [
      { from: "/x/<a&b>", size: 815310432, digest: digestOf("b"), mediaType: MEDIA.model },
      { size: 77, mediaType: MEDIA.params, digest: digestOf("c"), from: "" },
    ],
    config: { size: 489, digest: digestOf("a"), mediaType: MEDIA.config },
    mediaType: MEDIA.manifest,
    schemaVersion: 2,
  };
  assertEquals(decode(encodeManifest(manifest)), TEXT);
});

Deno.test("parseManifest() and encodeManifest() keep fields that they do not know", () => {
  const other = TEXT.replace('"size":77', '"size":77,"name":"a.weight"')
    .replace(/}$/, ',"runner":"ollama"}');
  assertEquals(decode(encodeManifest(parseManifest(encode(other)))), other);
});

Deno.test("parseManifest() takes missing layers for none, and refuses what is no manifest", () => {
  const none = TEXT.replace(/"layers":.*/, '"layers":null}');
  assertEquals(parseManifest(encode(none)).layers, []);
  const others = ["", "[]", "null", "{", '{"layers":[]}', '{"config":{},"layers":[]}'];
  others.push(TEXT.replace(digestOf("b"), "sha256:1"), TEXT.replace(":77", ':"77"'));
  others.push(TEXT.replace(/"layers":.*/, '"layers":{}}'));
  for (const text of others) {
    assertThrows(() => parseManifest(encode(text)), StoreError, "Cannot read a manifest: ");
  }
});

Deno.test("blobsOf() names each blob once, in one spelling", () => {
  const layer = (digest: string): Layer => ({ mediaType: MEDIA.model, digest, size: 1 });
  const manifest: Manifest = {
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    config: layer(digestOf("a")),
    layers: [layer(digestOf("b")), layer(digestOf("B").replace(":", "-")), layer(digestOf("c"))],
  };
  const expected = ["a", "b", "c"].map(digestOf);
  assertEquals(blobsOf({ ...manifest, layers: manifest.layers }), expected);
});

Deno.test("blobsNamedIn() finds whatever looks like a digest in what it cannot read", () => {
  const text = `{"manifests":[{"digest":"${digestOf("a")}"},{"digest":"sha256-${"B".repeat(64)}"`;
  assertEquals(blobsNamedIn(encode(text)), [digestOf("a"), digestOf("b")]);
  assertEquals(blobsNamedIn(encode("nothing")), []);
});

Deno.test("encodeGoJson() escapes what Go escapes", () => {
  const value = { a: "<b>&\u2028\u2029", "<": ["é\n\u0001", 1.5, null, true] };
  const expected =
    '{"a":"\\u003cb\\u003e\\u0026\\u2028\\u2029","\\u003c":["é\\n\\u0001",1.5,null,true]}';
  assertEquals(encodeGoJson(value), expected);
});
