// A model in a process of its own answers as one in a worker does; when its worker is stuck the process
// is killed, and its core is free; and it ends with its parent, whatever it is at.

import {
  EngineError,
  loadModel,
  ModelClosedError,
  openModelInProcess,
  RequestError,
  WorkerBusyError,
} from "../../../engine/mod.ts";
import type { Patience } from "../../../engine/worker/hosted_model.ts";
import { openModelIn } from "../../../engine/worker/open_model.ts";
import { MessageSender, readMessages } from "../../../engine/worker/message_pipe.ts";
import { ProcessHost } from "../../../engine/worker/process_host.ts";
import type { HostListener, ModelHost } from "../../../engine/worker/protocol.ts";
import { ModelService } from "../../../engine/worker/service.ts";
import { FakeModel } from "../../server/fake_model.ts";
import { folder, readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { until } from "../../until.ts";
import { parseExactJson, writeExactJson } from "../../../tokenizer/mod.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";

const greedy = { temperature: 0, maxTokens: 24 };

const module = new URL("./busy_process.ts", import.meta.url).href;

const command = [Deno.execPath(), "run", "-A", "--no-lock", "--quiet", module];

async function openBusy(patience: Patience) {
  const host = new ProcessHost({ command });
  const model = await openModelIn(host, "any.gguf", {}, patience);
  return { pid: host.pid, model };
}

/** Whether a process is there, and not a mere entry of what has ended. */
async function isAlive(pid: number): Promise<boolean> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "stat=", "-p", `${pid}`] })
    .output();
  return /^[^Z]/.test(new TextDecoder().decode(stdout).trim());
}

/** Settles when busy_worker.ts has made the file that tells that its work has begun. */
async function untilThere(path: string): Promise<void> {
  await until(() => Deno.stat(path).then(() => true, () => false));
}

async function untilDead(pid: number): Promise<void> {
  await until(async () => !await isAlive(pid));
}

Deno.test("a process streams what a model in this process does, and its errors keep their classes", async () => {
  await using model = await openModelInProcess(tinyPath, tinyLoad);
  await using local = await loadModel(tinyPath, tinyLoad);
  assertEquals([model.info, model.contextLength], [local.info, local.contextLength]);
  assertEquals(model.memory, local.memory);
  for (const prompt of ["hello", "what is \ud83d"]) {
    const { text, tokens } = await readAnswer(local.generate({ prompt, ...greedy }));
    const answer = await readAnswer(model.generate({ prompt, ...greedy }));
    assertEquals([answer.text, answer.tokens], [text, tokens]);
  }
  const inputs = ["a", "b", "c"];
  assertEquals(await model.embed(inputs), await local.embed(inputs));
  const scored = { inputs: [{ text: "a text" }, { text: [1, 2, 3], from: 1 }], top: 1 };
  assertEquals(await model.score(scored), await local.score(scored));
  await assertRejects(
    () => readAnswer(model.generate({ prompt: "", ...greedy })),
    RequestError,
    "no BOS token",
  );
  const abort = new AbortController();
  const endless = { prompt: "hello", temperature: 0, signal: abort.signal };
  for await (const _ of model.generate(endless)) abort.abort();
  assertEquals((await readAnswer(model.generate({ prompt: "x", ...greedy }))).tokens.length, 24);
  await assertRejects(() => openModelInProcess("none.gguf"), EngineError, "none.gguf");
});

Deno.test("a process that cannot start, or is none of ours, is an error of the load", async () => {
  for (const command of [["/no/such/program"], ["true"], ["echo", "hello, world"]]) {
    await assertRejects(() => openModelInProcess(tinyPath, { command }), EngineError);
  }
});

Deno.test("closing a model whose worker is stuck kills its process and frees the core", async () => {
  const { pid, model } = await openBusy({ close: 500, cancel: 60_000, step: 60_000 });
  assertEquals((await model.embed(["quick"]))[0].length, 1);
  const begun = `${folder}/stuck-${pid}`;
  const stuck = assertRejects(() => model.embed(["stuck", begun]), ModelClosedError);
  await untilThere(begun);
  assert(await isAlive(pid));
  const error = await assertRejects(() => model.close(), WorkerBusyError, "ended by force");
  await stuck;
  await error.ended;
  await untilDead(pid);
  await assertRejects(() => model.embed(["quick"]), ModelClosedError);
});

Deno.test("what a process says of its busy worker reaches who loaded it", async () => {
  const ended = Promise.withResolvers<void>();
  let listener: HostListener | undefined;
  let tell = () => {};
  const service = new ModelService((_path, { onBusy }) => {
    tell = () => onBusy!(new WorkerBusyError(10_000, ended.promise));
    return Promise.resolve(new FakeModel());
  }, (message) => listener!.receive(message));
  const host: ModelHost = {
    send: (message) => void service.receive(message),
    listen: (one) => listener = one,
    end() {},
  };
  const busy: WorkerBusyError[] = [];
  await openModelIn(host, "any.gguf", { onBusy: (one) => busy.push(one) });
  tell();
  assertEquals(busy.map(({ milliseconds }) => milliseconds), [10_000]);
  ended.resolve();
  await busy[0].ended;
});

Deno.test("an abort reaches the midst of work in a process, which ends in good order", async () => {
  const { pid, model } = await openBusy({ close: 10_000, cancel: 60_000, step: 60_000 });
  const abort = new AbortController();
  const begun = `${folder}/polls-${pid}`;
  const polls = assertRejects(() => model.embed(["polls", begun], { signal: abort.signal }));
  await untilThere(begun);
  abort.abort();
  await polls;
  assertEquals((await model.embed(["quick"]))[0].length, 1);
  await model.close();
  await untilDead(pid);
});

Deno.test("a process ends with its parent, whatever its worker is at", async () => {
  const parent = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", new URL("./busy_parent.ts", import.meta.url).href],
    stdout: "piped",
  }).spawn();
  const reader = parent.stdout.getReader();
  const pid = Number(new TextDecoder().decode((await reader.read()).value));
  assert(pid > 0 && await isAlive(pid));
  parent.kill("SIGKILL");
  await parent.status;
  await reader.cancel();
  await untilDead(pid);
});

Deno.test("messages come out of a pipe as they went in, however it is cut into chunks", async () => {
  const messages = [
    { text: "a \ud83d b", vectors: [Float32Array.of(1, NaN, -0)], missing: undefined },
    [],
    { bytes: new Uint8Array(100_000).fill(7), deep: { map: new Map([[1, "x"]]) } },
  ];
  const number = parseExactJson('{"a":[1.0,9007199254740993]}');
  const parts: Uint8Array[] = [];
  const sender = new MessageSender(new WritableStream({ write: (part) => void parts.push(part) }));
  for (const message of [...messages, number]) sender.send(message);
  await until(() => parts.length === 2 * messages.length + 2);
  const all = new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
  for (const size of [1, 3, 4096, all.length]) {
    const pipe = new ReadableStream({
      start(controller) {
        // What is cut off at the end is none.
        for (let at = 0; at < all.length; at += size) {
          controller.enqueue(all.slice(at, at + size));
        }
        controller.enqueue(all.slice(0, 6));
        controller.close();
      },
    });
    const read = await Array.fromAsync(readMessages(pipe));
    assertEquals(writeExactJson(read.pop()), JSON.stringify(number));
    assertEquals(read, messages);
  }
});
