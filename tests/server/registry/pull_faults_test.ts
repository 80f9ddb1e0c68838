// Pulls from registries that misbehave in ways that a pull gets over.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { pullModel } from "../../../server/registry/mod.ts";
import type { TransferTuning } from "../../../server/registry/tuning.ts";
import { FakeRegistry, type Fault } from "./fake_registry.ts";
import { announcing, assertWhole, chunked, ofManifest, ofRanges, once, shift } from "./faults.ts";
import {
  collect,
  encode,
  IMPATIENT,
  openStore,
  QUICK,
  sampleModel,
  withFolder,
} from "./fixtures.ts";

const options = { insecure: true, signal: new AbortController().signal, tuning: QUICK };
const sample = sampleModel();

/** Half of a body comes with each attempt, so that every attempt gets further. */
const cut: Fault = ({ kind }, proper) =>
  kind === "blob" ? { ...proper, cutAfter: Math.ceil(proper.body!.length / 2) } : proper;

const atRandom: Fault = (_, proper) => ({
  ...proper,
  cutAfter: Math.floor(Math.random() * (proper.body!.length + 1)),
});

/** Faults that a pull gets over. */
const SURVIVED: [name: string, fault: () => Fault, tuning?: Partial<TransferTuning>][] = [
  ["cuts every connection in the middle", () => cut],
  ["cuts every connection once, somewhere", () => once(atRandom)],
  [
    "sends nothing at first",
    () => once((_, proper) => ({ ...proper, cutAfter: 0, hangs: true })),
    IMPATIENT,
  ],
  [
    "stalls in the middle",
    () => once((_, proper) => ({ ...proper, cutAfter: 500, hangs: true })),
    IMPATIENT,
  ],
  ["answers 503 at first", () => once(() => ({ status: 503 }))],
  ["answers 500 at first", () => once(() => ({ status: 500, body: encode("oops") }))],
  [
    "answers 429 and asks to wait",
    () => once(() => ({ status: 429, headers: { "retry-after": "0" } })),
  ],
  [
    "ignores ranges",
    () => (request, proper) => {
      if (request.kind !== "blob") return proper;
      return { status: 200, body: sample.blobs.get(request.digest!)! };
    },
  ],
  [
    "ignores ranges and cuts connections",
    () => (request, proper) => {
      if (request.kind !== "blob") return proper;
      const cutAfter = 50_000 * (1 + request.index % 8);
      return { status: 200, body: sample.blobs.get(request.digest!)!, cutAfter };
    },
  ],
  ["answers 416 to every range", () => ofRanges(() => ({ status: 416 }))],
  [
    "sends a wrong range at first",
    () => once(ofRanges((_, proper) => shift(proper))),
  ],
  [
    "announces too much at first",
    () => once(announcing((length) => length + 100)),
  ],
  ["announces too little at first", () => once(announcing((length) => length - 100))],
  [
    "sends bodies in chunks without a length",
    () => (_, proper) => chunked(proper, proper.body!),
  ],
  [
    "sends more than asked for at first",
    () => once(ofRanges((_, proper) => chunked(proper, new Uint8Array(40_000)))),
  ],
  [
    "redirects to relative addresses",
    () => ({ path, kind, query }, proper) =>
      kind === "blob" && !query.has("there")
        ? { status: 307, headers: { location: `./${path.split("/").at(-1)}?there=1` } }
        : proper,
  ],
  ["cuts the manifest short at first", () => once(ofManifest((p) => ({ ...p, cutAfter: 50 })))],
  [
    "sends another manifest than it says at first",
    () =>
      once(ofManifest((p) => ({
        ...p,
        headers: { "docker-content-digest": `sha256:${"0".repeat(64)}` },
      }))),
  ],
];

for (const [name, fault, tuning = QUICK] of SURVIVED) {
  Deno.test(`pullModel() gets over a registry that ${name}`, () =>
    withFolder(async (folder) => {
      await using registry = new FakeRegistry(sample);
      registry.misbehave(fault());
      await collect(pullModel(openStore(folder), registry.name, { ...options, tuning }));
      await assertWhole(folder, registry);
    }));
}

Deno.test("pullModel() does not take a slow registry for one that stalls", () =>
  withFolder(async (folder) => {
    await using registry = new FakeRegistry(sampleModel(2 ** 14));
    // 1.6 seconds in all.
    registry.misbehave((_, proper) => ({ ...proper, pace: { bytes: 1024, milliseconds: 100 } }));
    const tuning = { ...QUICK, stall: 1000 };
    await collect(pullModel(openStore(folder), registry.name, { ...options, tuning }));
    assertEquals(registry.requestsFor(registry.model.weights.digest).length, 1);
  }));

Deno.test("pullModel() waits as long as Retry-After says", () =>
  withFolder(async (folder) => {
    await using registry = new FakeRegistry(sample);
    let refused = 0;
    registry.misbehave(({ kind }, proper) => {
      if (kind !== "manifest" || refused) return proper;
      refused = Date.now();
      return { status: 429, headers: { "retry-after": "1" } };
    });
    await collect(pullModel(openStore(folder), registry.name, options));
    const waited = Date.now() - refused;
    assert(waited >= 1000, `${waited} ms`);
  }));

Deno.test("pullModel() starts over where a partial file from before was damaged", () =>
  withFolder(async (folder) => {
    await using registry = new FakeRegistry(sample);
    const store = openStore(folder);
    registry.misbehave(({ range }, p) => range && range[0] > 200_000 ? { status: 403 } : p);
    await assertRejects(() => collect(pullModel(store, registry.name, options)));
    using file = await Deno.open(store.blobs.partialPath(sample.weights.digest), { write: true });
    await file.write(new Uint8Array(10));
    registry.recover();
    await collect(pullModel(store, registry.name, options));
    await assertWhole(folder, registry);
    const { digest } = sample.weights;
    const first = registry.requestsFor(digest).filter(({ range }) => range![0] === 0);
    assertEquals(first.length, 2, "the part that was there came again");
  }));
