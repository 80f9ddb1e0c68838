// Requests that go to a worker in pieces, and come out as they went in.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Piece, PieceJoiner, takeApart } from "../../../engine/worker/pieces.ts";
import { openModelIn } from "../../../engine/worker/open_model.ts";
import { ModelService } from "../../../engine/worker/service.ts";
import type {
  HostListener,
  ModelHost,
  ToClient,
  ToWorker,
} from "../../../engine/worker/protocol.ts";
import type { ChatModel, MemoryUse, ModelInfo, TextToken } from "../../../engine/types/mod.ts";
import { parseExactJson, writeExactJson } from "../../../tokenizer/mod.ts";
import { threadTime } from "../../cpu_time.ts";

function joined(pieces: Iterable<Piece>): unknown {
  const joiner = new PieceJoiner();
  for (const piece of pieces) joiner.add(structuredClone(piece));
  return joiner.whole;
}

const items = Array.from({ length: 5000 }, (_, index) => ({ index, of: [`a${index}`, null] }));
const VALUES: Record<string, unknown> = {
  "a text": "a text",
  nothing: undefined,
  "an empty object": {},
  "empty arrays": [[], [[]]],
  "many items": items,
  "many members": Object.fromEntries(items.map((item) => [`key ${item.index}`, item])),
  "members that are undefined": { a: undefined, b: [undefined, 1] },
  "a member named __proto__": JSON.parse('{"__proto__":{"a":1},"constructor":2}'),
  "bytes beside texts": { images: [new Uint8Array([1, 2, 3]), "a"], vector: new Float32Array(3) },
  "numbers of all kinds": [0, -0, NaN, -Infinity, 1e300, 10n ** 30n],
  "a text of megabytes": { before: "", text: "é".repeat(3e6) + "end", after: ["x", ""] },
  "texts of which many make a piece": Array(40).fill("b".repeat(300_000)),
  "a request": { messages: [{ role: "user", content: "Hi" }], options: { seed: 1 }, stop: ["a"] },
};

Deno.test("numbers that keep their text have it on the other side", () => {
  const text = '{"a":[1.0,1e21,9007199254740993,{"b":-0}],"c":"1.0"}';
  assertEquals(writeExactJson(joined(takeApart(parseExactJson(text)))), text);
});

for (const [name, value] of Object.entries(VALUES)) {
  Deno.test(`${name}: taken apart and put together, it is the same`, () => {
    assertEquals(joined(takeApart(value)), value);
  });
}

Deno.test("what is twice in a value is one thing again, even within itself", () => {
  const shared = { of: ["one"] };
  const value: Record<string, unknown> = { first: shared, second: [shared] };
  value.itself = value;
  const copy = joined(takeApart(value)) as Record<string, unknown>;
  assertEquals(copy, value);
  assert(copy.first === (copy.second as unknown[])[0] && copy.itself === copy);
  // Doubled 60 times, it would have no end.
  let tree: unknown = "leaf";
  for (let depth = 0; depth < 60; depth++) tree = [tree, tree];
  const other = joined(takeApart(tree)) as unknown[];
  assert(other[0] === other[1]);
});

Deno.test("no piece is large, whatever the value is made of", () => {
  for (const value of Object.values(VALUES)) {
    for (const { marks, values } of takeApart(value)) {
      const texts = values.filter((value) => typeof value === "string");
      const characters = texts.reduce((sum, { length }) => sum + length, 0);
      assert(marks.length <= 2002 && characters < 2.1 * 2 ** 20, `${marks.length}, ${characters}`);
    }
  }
});

Deno.test("a request of 60,000 objects takes no turn of 40 ms to send", () => {
  const properties = Array.from({ length: 10 }, (_, outer) =>
    Object.fromEntries(
      Array.from({ length: 6000 }, (_, index) => [`${outer} ${index}`, { type: "integer" }]),
    ));
  const { port1, port2 } = new MessageChannel();
  let longest = 0;
  let last = threadTime();
  for (const piece of takeApart({ format: { anyOf: properties } })) {
    port1.postMessage(piece);
    const now = threadTime();
    longest = Math.max(longest, now - last);
    last = now;
  }
  port1.close();
  port2.close();
  assert(longest < 40, `${longest} ms of CPU time`);
});

Deno.test("a client that leaves while its request is sent ends it, and others go on", async () => {
  const sent: ToWorker[] = [];
  const sendsAll = Promise.withResolvers<void>();
  let receive: HostListener["receive"] = () => {};
  const memory = { weights: 0, keyValueCache: 0, scratch: 0 } as MemoryUse;
  const host: ModelHost = {
    send(message) {
      sent.push(message);
      if (message.kind === "load") {
        const model = { info: {} as ModelInfo, contextLength: 8, memory, warnings: [] };
        queueMicrotask(() => receive({ kind: "loaded", model }));
      }
      if (message.kind === "call") sendsAll.resolve();
      if (message.kind === "close") queueMicrotask(() => receive({ kind: "closed" }));
    },
    listen: (listener) => receive = listener.receive,
    end() {},
  };
  await using model = await openModelIn(host, "a file");
  const messages = Array.from({ length: 300_000 }, () => ({ role: "user" as const, content: "a" }));
  const leaves = new AbortController();
  const rendered = model.renderChat({ messages, signal: leaves.signal });
  assert(sent.every(({ kind }) => kind !== "call"), "it is sent in one turn");
  leaves.abort();
  await assertRejects(() => rendered, DOMException, "aborted");
  void model.renderChat({ messages: [] }).catch(() => {});
  await sendsAll.promise;
  const kinds = sent.map((message) => "id" in message ? `${message.kind} ${message.id}` : "");
  assertEquals([...new Set(kinds)].filter(Boolean), ["piece 1", "cancel 1", "call 2"]);
});

Deno.test("the tokens of a long text come in pieces too", async () => {
  const tokens = Array.from({ length: 50_000 }, (_, id) => ({ id, text: `t${id}` }));
  const memory = { weights: 0, keyValueCache: 0, scratch: 0 };
  const model = { info: {}, contextLength: 8, memory, warnings: [] };
  const loaded = { ...model, tokenize: () => Promise.resolve(tokens), close: async () => {} };
  let hear: HostListener["receive"] = () => {};
  const received: ToClient[] = [];
  const service = new ModelService(
    () => Promise.resolve(loaded as unknown as ChatModel),
    (message) => {
      received.push(message);
      hear(structuredClone(message));
    },
  );
  const host: ModelHost = {
    send: (message) => void service.receive(message),
    listen: ({ receive }) => hear = receive,
    end() {},
  };
  await using hosted = await openModelIn(host, "a file");
  assertEquals(await hosted.tokenize("a text"), tokens as TextToken[]);
  const pieces = received.flatMap((message) => message.kind === "piece" ? [message.piece] : []);
  assert(pieces.length > 100 && pieces.every(({ marks }) => marks.length <= 2002));
});

Deno.test("pieces go out a few ahead of who takes them", async () => {
  const tokens = Array.from({ length: 50_000 }, (_, id) => ({ id, text: `t${id}` }));
  const model = {
    info: {},
    contextLength: 8,
    memory: { weights: 0, keyValueCache: 0, scratch: 0 },
    warnings: [],
    tokenize: () => Promise.resolve(tokens),
  };
  let pieces = 0;
  let ended = false;
  const service = new ModelService(
    () => Promise.resolve(model as unknown as ChatModel),
    ({ kind }) => {
      if (kind === "piece") pieces++;
      if (kind === "end") ended = true;
    },
  );
  await service.receive({ kind: "load", path: "a", options: {}, blocks: {} });
  const [argument] = takeApart("a");
  const answered = service.receive({
    kind: "call",
    id: 1,
    method: "tokenize",
    argument: argument!,
  });
  const settle = () => new Promise((resolve) => setTimeout(resolve, 10));
  let taken = 0;
  for (; !ended; taken++) {
    await settle();
    assert(pieces - taken <= 4, `${pieces} were sent, and ${taken} taken`);
    await service.receive({ kind: "taken", id: 1 });
  }
  await answered;
  assert(pieces > 50 && taken >= pieces - 4);
});
