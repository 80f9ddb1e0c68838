// A model in a worker answers as one in this process does; its errors keep their classes; and
// whatever ends it, from an abort to a crash, ends its streams and its thread with it.

import { packError, unpackError } from "../../../engine/error_record.ts";
import { DanglingReferenceError, SchemaError } from "../../../engine/grammar/mod.ts";
import {
  type ChatModel,
  ChatTemplateError,
  ContextLengthError,
  EngineError,
  GgufError,
  GpuError,
  GpuMemoryError,
  loadModel,
  type LoadProgress,
  ModelClosedError,
  ModelManager,
  openModelInWorker,
  RequestError,
  type StoreEntry,
  TokenizerError,
  UnsupportedModelError,
  WorkerBusyError,
} from "../../../engine/mod.ts";
import { openModelIn } from "../../../engine/worker/open_model.ts";
import { ThreadHost } from "../../../engine/worker/thread_host.ts";
import { folder, pathOf, readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { until } from "../../until.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";

const greedy = { temperature: 0, maxTokens: 24 };

// Without drafts: its text goes around, and would be over before anybody can call it off.
const endless = { prompt: "hello", temperature: 0, draftTokens: 0 };

// A window that takes seconds to fill, so that a thread which is late still comes before the end.
const LONG = 16_384;

/** Workers made while the function runs, with what they are told and whether they live. */
interface Spy {
  worker: Worker;
  sent: string[];
  alive: boolean;
}

async function withSpies<T>(run: (spies: Spy[]) => Promise<T>, module?: string): Promise<T> {
  const RealWorker = globalThis.Worker;
  const spies: Spy[] = [];
  globalThis.Worker = class extends RealWorker {
    readonly #spy: Spy = { worker: this, sent: [], alive: true };
    constructor(url: string | URL, options?: WorkerOptions) {
      super(module ? new URL(module, import.meta.url) : url, options);
      spies.push(this.#spy);
    }
    override postMessage(
      message: { kind: string },
      given?: Transferable[] | StructuredSerializeOptions,
    ) {
      this.#spy.sent.push(message.kind);
      const options = Array.isArray(given) ? { transfer: given } : given;
      super.postMessage(message, options);
    }
    override terminate() {
      this.#spy.alive = false;
      super.terminate();
    }
  } as typeof Worker;
  try {
    return await run(spies);
  } finally {
    globalThis.Worker = RealWorker;
  }
}

const open = (): Promise<ChatModel> => openModelInWorker(tinyPath, tinyLoad);

Deno.test("the main thread starts the threads of a model in a worker, and they end with it", async () => {
  await withSpies(async (spies) => {
    const device = { kind: "cpu", threads: 3 } as const;
    const model = await openModelInWorker(tinyPath, { ...tinyLoad, device });
    await until(() => spies.length === 3);
    assertEquals(
      (await readAnswer(model.generate({ ...greedy, prompt: "hello" }))).tokens.length,
      24,
    );
    assert(spies.every(({ alive }) => alive));
    await model.close();
    assert(spies.every(({ alive }) => !alive));
  });
});

Deno.test("a worker loads with progress, and says what the model is", async () => {
  const progress: LoadProgress[] = [];
  const onProgress = (step: LoadProgress) => progress.push(step);
  await using model = await openModelInWorker(tinyPath, { ...tinyLoad, onProgress });
  await using local = await loadModel(tinyPath, tinyLoad);
  assertEquals(model.info, local.info);
  assertEquals(model.contextLength, 128);
  assertEquals(model.memory, local.memory);
  const { loaded, total } = progress.at(-1)!;
  assertEquals(loaded, total);
  assert(progress.every(({ loaded }, i) => i === 0 || loaded > progress[i - 1].loaded));
});

Deno.test("a worker tells what is taken of slots and KV blocks while answers run, and when they end", async () => {
  await using model = await openModelInWorker(tinyPath, { ...tinyLoad, contextLength: LONG });
  const { slots: { used, free }, blocks } = model.occupancy!;
  const total = blocks.used + blocks.cached + blocks.free;
  assertEquals([used, blocks.used], [0, 0]);
  assert(free > 1 && total > 1);
  const abort = new AbortController();
  const answer = model.generate({ ...endless, signal: abort.signal });
  const reading = (async () => {
    for await (const _ of answer);
  })();
  await until(() => model.occupancy!.slots.used === 1);
  assertEquals(model.occupancy!.slots, { used: 1, free: free - 1 });
  assert(model.occupancy!.blocks.used > 0);
  abort.abort();
  await reading;
  await until(() => model.occupancy!.slots.used === 0);
  const after = model.occupancy!.blocks;
  assertEquals([after.used, after.cached + after.free], [0, total]);
});

Deno.test("a worker streams what a model in this process does, several at a time", async () => {
  await using model = await open();
  await using local = await loadModel(tinyPath, tinyLoad);
  const prompts = ["hello", "what is", "abcabc", "x", "last one"];
  const messages = [{ role: "user" as const, content: "Hi" }];
  const [chat, rendered, ...answers] = await Promise.all([
    readAnswer(model.chat({ messages, ...greedy })),
    model.renderChat({ messages }),
    ...prompts.map((prompt) => readAnswer(model.generate({ prompt, ...greedy }))),
  ]);
  assertEquals(rendered, await local.renderChat({ messages }));
  const expected = await readAnswer(local.chat({ messages, ...greedy }));
  assertEquals([chat.text, chat.tokens], [expected.text, expected.tokens]);
  for (const [i, prompt] of prompts.entries()) {
    const { text, tokens, done } = await readAnswer(local.generate({ prompt, ...greedy }));
    assertEquals([answers[i].text, answers[i].tokens], [text, tokens]);
    assertEquals(answers[i].done!.usage.promptTokens, done!.usage.promptTokens);
  }
});

Deno.test("a worker hands over its vectors, and an abort or a close ends an embedding", async () => {
  await withSpies(async () => {
    await using model = await open();
    const first = await model.embedWithUsage({ inputs: ["abc", "d"], truncate: false });
    assertEquals(first.promptTokens, 2);
    assertEquals(first.embeddings.map((vector) => [...vector]), [[4, 0, -1, 3], [3]]);
    const [again] = await model.embed([[7, 8]], { truncate: true, dimensions: 5 });
    assertEquals([...again], [0, 1, 5, 2]);
    await assertRejects(() => model.embed(["fail"]), RequestError, "the test wants it so");

    const abort = new AbortController();
    const reason = new Error("changed my mind");
    const waiting = model.embed(["wait"], { signal: abort.signal });
    abort.abort(reason);
    assertEquals(await assertRejects(() => waiting), reason);
    const closed = assertRejects(() => model.embed(["wait"]), ModelClosedError);
    await model.close();
    await closed;
    await assertRejects(() => model.embed(["abc"]), ModelClosedError);
  }, "./embedding_worker.ts");
});

Deno.test("an abort and a close reach a worker in the midst of work without a pause", async () => {
  await withSpies(async (spies) => {
    const model = await open();
    const abort = new AbortController();
    const busy = assertRejects(() => model.embed(["polls"], { signal: abort.signal }));
    abort.abort();
    await busy;
    // It would hear nothing if it were still at it.
    assertEquals((await model.embed(["quick"]))[0].length, 1);

    const ended = Promise.withResolvers<void>();
    spies[0].worker.addEventListener("message", ({ data }) => {
      if (data.kind === "closed") ended.resolve();
    });
    const closed = assertRejects(() => model.embed(["polls"]), ModelClosedError);
    await model.close();
    await closed;
    await ended.promise;
  }, "./busy_worker.ts");
});

/** Settles when busy_worker.ts begins its next work, with what lets go of it where it is deaf. */
function begin(worker: Worker): Promise<Int32Array<SharedArrayBuffer>> {
  return new Promise((resolve) => {
    worker.addEventListener("message", ({ data }) => {
      if (data.kind === "begun") resolve(data.gate);
    });
  });
}

function openGate(gate: Int32Array<SharedArrayBuffer>): void {
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
}

Deno.test("a worker that hears nothing is told of when it is closed, and ends when it does hear", async () => {
  await withSpies(async (spies) => {
    const model = await open();
    const begun = begin(spies[0].worker);
    const call = assertRejects(() => model.embed(["deaf"]), ModelClosedError);
    // A flag that is set before would keep it from beginning.
    const gate = await begun;
    const error = await assertRejects(
      () => model.close(),
      WorkerBusyError,
      "has not answered for 3",
    );
    // It is told of while the worker still hears nothing.
    assertEquals(await Promise.race([error.ended, "busy"]), "busy");
    await call;
    assertEquals(spies[0].alive, true);
    openGate(gate);
    await error.ended;
    assertEquals(spies[0].alive, false);
  }, "./busy_worker.ts");
});

Deno.test("a worker that does not answer after an abort is told of, and when it does again", async () => {
  const worker = new Worker(new URL("./busy_worker.ts", import.meta.url), { type: "module" });
  const busy: WorkerBusyError[] = [];
  const model = await openModelIn(new ThreadHost(worker), tinyPath, {
    onBusy: (error) => busy.push(error),
  }, { close: 3000, cancel: 2000, step: 60_000 });
  const embed = async (input: string) => {
    const abort = new AbortController();
    const begun = begin(worker);
    const call = assertRejects(() => model.embed([input], { signal: abort.signal }));
    const gate = await begun;
    abort.abort();
    await call;
    return gate;
  };
  await embed("polls");
  // It answers, so nothing is told of it while the next call uses up the same time.
  assertEquals((await model.embed(["quick"]))[0].length, 1);
  const gate = await embed("deaf");
  await until(() => busy.length > 0);
  assertMatch(busy[0].message, /has not answered for 2 seconds; it keeps a core busy/);
  openGate(gate);
  await busy[0].ended;
  assertEquals((await model.embed(["quick"]))[0].length, 1);
  await model.close();
  assertEquals(busy.length, 1);
});

Deno.test("errors come out of a worker as their classes, at the first read", async () => {
  await using model = await open();
  const read = (prompt: string | number[]) => readAnswer(model.generate({ prompt, ...greedy }));
  const tooLong = await assertRejects(() => read(new Array(600).fill(65)), ContextLengthError);
  assertEquals([tooLong.promptTokens, tooLong.contextLength], [600, 128]);
  await assertRejects(() => read(""), RequestError, "no BOS token");
  const broken = { messages: undefined as unknown as [] };
  await assertRejects(() => model.renderChat(broken), EngineError);
  assertEquals((await read("hello")).tokens.length, 24);

  const garbage = `${folder}/garbage.gguf`;
  await Deno.writeTextFile(garbage, "not a model at all");
  const unreadable = await assertRejects(() => openModelInWorker(garbage), GgufError, "magic");
  assertEquals([unreadable.file, unreadable.field], [garbage, "magic"]);
  await assertRejects(() => openModelInWorker(`${folder}/none.gguf`), EngineError, "none.gguf");
});

Deno.test("packError() and unpackError() keep class, message and fields", () => {
  const errors = [
    new EngineError("a"),
    new GgufError("file.gguf", "magic", "wrong"),
    new UnsupportedModelError("b"),
    new ContextLengthError(9, 8),
    new RequestError("c"),
    new ModelClosedError("d", { cause: "no matter" }),
    new TokenizerError("e"),
    new ChatTemplateError("refused", "f"),
    new GpuError("g"),
    new GpuMemoryError("weights", 2 ** 20, "full"),
    new SchemaError("/a", "type", "h"),
    new DanglingReferenceError("/a", "$ref", "i"),
  ];
  for (const error of errors) {
    const copy = unpackError(structuredClone(packError(error)));
    assert(copy instanceof error.constructor && copy instanceof Error);
    assertEquals([copy.name, copy.message, copy.stack], [error.name, error.message, error.stack]);
    assertEquals({ ...copy }, { ...error });
  }
  const unknown = [
    new TypeError("x is not a function"),
    new DOMException("no", "AbortError"),
    "no",
  ];
  for (const error of unknown) {
    const copy = unpackError(structuredClone(packError(error)));
    assertEquals([copy.constructor, copy.name], [EngineError, "EngineError"]);
    assertMatch(copy.message, /^(x is not a function|no)$/);
  }
});

Deno.test("an abort during a load ends the load with its reason, and the worker", async () => {
  await withSpies(async (spies) => {
    const abort = new AbortController();
    const reason = new Error("changed my mind");
    const loading = openModelInWorker(tinyPath, { ...tinyLoad, signal: abort.signal });
    abort.abort(reason);
    assertEquals(await assertRejects(() => loading), reason);
    // Where the machine is busy the worker has yet to begin when its time is over.
    await until(() => spies.every(({ alive }) => !alive));
    await assertRejects(() => openModelInWorker(tinyPath, { signal: abort.signal }), Error);
    assertEquals(spies.length, 1);
  });
});

Deno.test("an abort and a reader that leaves end the stream in the worker", async () => {
  await withSpies(async (spies) => {
    await using model = await openModelInWorker(tinyPath, { ...tinyLoad, contextLength: LONG });
    const done: number[] = [];
    const ended: number[] = [];
    spies[0].worker.addEventListener("message", ({ data }) => {
      if (data.kind === "event" && data.event.type === "done") done.push(data.id);
      if (data.kind === "end") ended.push(data.id);
    });
    const short = { ...endless, ...greedy };
    const whole = await readAnswer(model.generate(short));
    const abort = new AbortController();
    for await (const _ of model.generate({ ...endless, signal: abort.signal })) abort.abort();
    for await (const _ of model.generate(endless)) break;
    await until(() => ended.length === 3);
    assertEquals(done, [ended[0]]);

    const aborted = await readAnswer(model.generate({ ...endless, signal: abort.signal }));
    assertEquals(aborted.done, undefined);
    assertEquals((await readAnswer(model.generate(short))).tokens, whole.tokens);
  });
});

Deno.test("close() ends streams with ModelClosedError and the worker in good order", async () => {
  await withSpies(async (spies) => {
    const model = await open();
    const streams = [1, 2].map(() => readAnswer(model.generate(endless)));
    const ends = streams.map((stream) => assertRejects(() => stream, ModelClosedError));
    await Promise.all([model.close(), model.close(), ...ends]);
    assertEquals(spies[0].sent, ["load", "call", "call", "close"]);
    assertEquals(spies[0].alive, false);
    await assertRejects(() => readAnswer(model.generate(endless)), ModelClosedError);
    await assertRejects(() => model.renderChat({ messages: [] }), ModelClosedError);
  });
});

for (const [fault, state] of [["crash", "the test wants it so"], ["lose", "device lost"]]) {
  Deno.test(`after a worker's ${fault} streams end with ModelClosedError, and a manager loads anew`, async () => {
    await withSpies(async (spies) => {
      const entry = {
        source: { kind: "files", path: tinyPath, adapters: [] },
        info: { trainedContextLength: 256 },
      } as unknown as StoreEntry;
      const manager = new ModelManager({
        store: { find: () => Promise.resolve(entry) },
        open: (source, options) =>
          openModelInWorker(pathOf(source), { ...tinyLoad, ...options, contextLength: LONG }),
      });
      const lease = await manager.acquire("tiny");
      const streams = ["a", "b"].map((prompt) =>
        readAnswer(lease.model.generate({ ...endless, prompt }))
      );
      spies[0].worker.postMessage({ kind: fault } as never);
      const ends = streams.map((stream) => assertRejects(() => stream, ModelClosedError, state));
      lease.release((await Promise.all(ends))[0]);
      await assertRejects(() => readAnswer(lease.model.generate(endless)), ModelClosedError);

      const again = await manager.acquire("tiny");
      assertEquals(
        (await readAnswer(again.model.generate({ ...endless, ...greedy }))).tokens.length,
        24,
      );
      again.release();
      await manager.closeAll();
      await until(() => spies.every(({ alive }) => !alive));
      assertEquals(spies.length, 2);
    }, "./fragile_worker.ts");
  });
}

Deno.test("a worker that cannot start is an error of the load", async () => {
  const load = () => withSpies(() => openModelInWorker(tinyPath), "./no_such_worker.ts");
  await assertRejects(load, EngineError, "its worker crashed");
});

Deno.test("a worker that fails before anybody listens is an error of the load", async () => {
  const RealWorker = globalThis.Worker;
  globalThis.Worker = class extends RealWorker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      const error = new ErrorEvent("error", { message: "no module", cancelable: true });
      queueMicrotask(() => this.dispatchEvent(error));
    }
  };
  try {
    await assertRejects(open, EngineError, "its worker crashed");
  } finally {
    globalThis.Worker = RealWorker;
  }
});
