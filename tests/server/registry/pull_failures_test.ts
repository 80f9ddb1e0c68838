// Pulls from registries that misbehave in ways that no pull gets over. The store ends without the
// model, the error says what happened, and a pull from the recovered registry completes.

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { pullModel, RegistryError } from "../../../server/registry/mod.ts";
import { type FakeAnswer, FakeRegistry, type Fault } from "./fake_registry.ts";
import {
  announcing,
  assertAbsent,
  assertWhole,
  chunked,
  ofManifest,
  ofRanges,
  shift,
  withManifest,
} from "./faults.ts";
import {
  blobFiles,
  collect,
  encode,
  openStore,
  QUICK,
  sampleModel,
  withFolder,
} from "./fixtures.ts";

const options = { insecure: true, signal: new AbortController().signal, tuning: QUICK };
const sample = sampleModel();

/** Faults that a pull cannot get over, and what it says of them. */
const FATAL: [name: string, fault: () => Fault, message: RegExp, stall?: number][] = [
  [
    "sends other bytes",
    () => (request, proper) => ({
      ...proper,
      body: request.kind === "blob" ? proper.body!.map((byte) => byte ^ 1) : proper.body!,
    }),
    /digest mismatch, expected "sha256:[0-9a-f]{64}", got "sha256:[0-9a-f]{64}"/,
  ],
  [
    "cuts before the first byte",
    () => ofRanges((_, p) => ({ ...p, cutAfter: 0 })),
    /connection broke.*given up after 4 attempts/,
  ],
  [
    "never answers",
    () => ({ kind }, p) => (kind === "blob" ? { ...p, isSilent: true } : p),
    /stalled, nothing came/,
    300,
  ],
  [
    "stalls for ever",
    () => ofRanges((_, p) => ({ ...p, cutAfter: 0, hangs: true })),
    /stalled, nothing came for 0\.3 seconds/,
    300,
  ],
  [
    "always answers 503",
    () => ofRanges(() => ({ status: 503, body: encode('{"error":"maintenance"}') })),
    /503.*: maintenance \(given up after 4 attempts/,
  ],
  [
    "asks to wait for an hour",
    () => ofRanges(() => ({ status: 429, headers: { "retry-after": "3600" } })),
    /429.*asks to wait 3600 seconds/,
  ],
  [
    "loses a blob",
    () =>
      ofRanges(() => ({ status: 404, body: encode('{"errors":[{"message":"blob unknown"}]}') })),
    /Cannot pull blob sha256:\w+: .*404.*blob unknown/,
  ],
  ["forbids a blob", () => ofRanges(() => ({ status: 403 })), /403/],
  [
    "sends wrong ranges",
    () => ofRanges((_, p) => shift(p)),
    /sent the range "bytes \d+-\d+\/300000" where "bytes /,
  ],
  [
    "sends no Content-Range",
    () => ofRanges((_, p) => ({ ...p, headers: {} })),
    /sent the range "none"/,
  ],
  [
    "says another size of the blob",
    () =>
      ofRanges((_, p) => ({
        ...p,
        headers: { "content-range": p.headers!["content-range"]!.replace("/300000", "/300001") },
      })),
    /\/300001" where/,
  ],
  [
    "announces too much",
    () => ofRanges((r, p) => announcing((n) => n + 1)(r, p) as FakeAnswer),
    /announced \d+ bytes where/,
  ],
  [
    "sends more than asked for",
    () => ofRanges((_, p) => chunked(p, new Uint8Array(40_000))),
    /more came than the \d+ bytes/,
  ],
  [
    "sends whole blobs that are too long",
    () => ({ kind }, p) =>
      kind === "blob" ? chunked({ ...p, status: 200, headers: {} }, new Uint8Array(400_000)) : p,
    /more came than/,
  ],
  [
    "redirects in a circle",
    () => ({ path, kind }, p) => kind === "blob" ? { status: 302, headers: { location: path } } : p,
    /more than 10 redirects/,
  ],
  [
    "redirects to nowhere",
    () => ({ kind }, p) => kind === "blob" ? { status: 302, headers: { location: "http://[" } } : p,
    /which is no address/,
  ],
  [
    "redirects to a file",
    () => ({ kind }, p) =>
      kind === "blob" ? { status: 302, headers: { location: "file:///etc/passwd" } } : p,
    /not reached by https/,
  ],
  [
    "sends a manifest that is cut off",
    () => withManifest((text) => text.slice(0, 100)),
    /pull model manifest: the manifest is not JSON/,
  ],
  [
    "sends a page in place of the manifest",
    () => withManifest(() => "<html>"),
    /the manifest is not JSON/,
  ],
  [
    "sends an endless manifest",
    () => ofManifest((p) => ({ ...p, body: new Uint8Array(5 * 2 ** 20) })),
    /longer than 4194304 bytes/,
  ],
  [
    "gives a negative size",
    () => withManifest((text) => text.replace('"size":300000', '"size":-1')),
    /the size -1/,
  ],
  [
    "gives an absurd size",
    () => withManifest((text) => text.replace('"size":300000', '"size":9007199254740991')),
    /no space left on the disk.*9\.01 PB are needed/,
  ],
  [
    "gives a size beyond all numbers",
    () => withManifest((text) => text.replace('"size":300000', '"size":1e300')),
    /the size 1e\+300/,
  ],
  [
    "gives too small a size",
    () => withManifest((text) => text.replace('"size":300000', '"size":299999')),
    /announced|300000|more came/,
  ],
  [
    "names a blob by a path",
    () => withManifest((text) => text.replace(/sha256:[0-9a-f]{64}/, "sha256:../../../etc/passwd")),
    /is no SHA-256 digest/,
  ],
  [
    "sends a list of manifests",
    () => withManifest(() => '{"schemaVersion":2,"manifests":[]}'),
    /list of manifests/,
  ],
  [
    "sends a manifest of another schema",
    () => withManifest((text) => text.replace('"schemaVersion":2', '"schemaVersion":1')),
    /schema version 1/,
  ],
  [
    "sends a manifest of another kind",
    () => withManifest((text) => text.replace("distribution.manifest.v2", "plugin.v1")),
    /plugin\.v1\+json" are not supported/,
  ],
  [
    "sends a container image",
    () => withManifest((text) => text.replaceAll("vnd.ollama.image", "vnd.docker.image")),
    /is not a model/,
  ],
];

for (const [name, fault, message, stall = QUICK.stall!] of FATAL) {
  Deno.test(`pullModel() says that a registry ${name}`, () =>
    withFolder(async (folder) => {
      await using registry = new FakeRegistry(sample);
      registry.misbehave(fault());
      const tuning = { ...QUICK, stall };
      const error = await assertRejects(
        () => collect(pullModel(openStore(folder), registry.name, { ...options, tuning })),
        RegistryError,
      );
      assertMatch(error.message, message);
      await assertAbsent(folder, registry);
      registry.recover();
      await collect(pullModel(openStore(folder), registry.name, options));
      await assertWhole(folder, registry);
    }));
}

Deno.test("pullModel() deletes what has the wrong digest", () =>
  withFolder(async (folder) => {
    await using registry = new FakeRegistry(sample);
    const store = openStore(folder);
    registry.misbehave(ofRanges((_, p) => ({ ...p, body: p.body!.map((byte) => byte ^ 1) })));
    await assertRejects(() => collect(pullModel(store, registry.name, options)));
    const file = sample.weights.digest.replace(":", "-");
    assertEquals((await blobFiles(store)).filter((name) => name.startsWith(file)), []);
  }));
