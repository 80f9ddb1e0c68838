// Many clients of one server on a real port, with its worker and the GPU: eight at once hear what
// each would hear alone, and two hundred that hang up leave nothing behind.

import { assert, assertEquals } from "@std/assert";
import type { OllamaProcess } from "../../../server/http/api/models/answer_schema.ts";
import { inspectModel, openModelInWorker } from "../../../engine/mod.ts";
import { main } from "../../../server/cli/main.ts";
import { folder, pathOf } from "../../engine/harness.ts";
import { until } from "../../until.ts";
import { FakeTerminal } from "../cli/fake_terminal.ts";
import { assertMemorySettles } from "../memory_growth.ts";

/** Runs a server with this many sequences while the test does; then it must stop in good order. */
async function withServer(sequences: number, test: (url: string) => Promise<void>): Promise<void> {
  const terminal = new FakeTerminal();
  const exitCode = main(["serve"], {
    open: (source, options) => openModelInWorker(pathOf(source), options),
    inspect: inspectModel,
    terminal,
    environment: {
      QUERN_MODELS: folder,
      OLLAMA_HOST: "127.0.0.1:0",
      OLLAMA_NUM_PARALLEL: String(sequences),
      OLLAMA_CONTEXT_LENGTH: "128",
    },
    fetch: globalThis.fetch,
  });
  await until(() => terminal.errors.includes("listening on"));
  try {
    await test(/listening on (\S+),/.exec(terminal.errors)![1]!);
  } finally {
    terminal.interrupt();
    assertEquals(await exitCode, 0);
  }
}

function generate(url: string, body: object, signal?: AbortSignal): Promise<Response> {
  const text = JSON.stringify({ model: "tiny", raw: true, ...body });
  return fetch(`${url}/api/generate`, { method: "POST", body: text, ...signal && { signal } });
}

/** The text of a streamed answer at temperature 0. */
async function answerOf(url: string, prompt: string): Promise<string> {
  const response = await generate(url, { prompt, options: { temperature: 0, num_predict: 24 } });
  const records = (await response.text()).trimEnd().split("\n").map((line) => JSON.parse(line));
  assert(records.at(-1).done, JSON.stringify(records.at(-1)));
  return records.map((record) => record.response).join("");
}

/** The models in memory without their sizes and the time when they expire, and what waits. */
async function stateOf(url: string): Promise<unknown> {
  const { models } = await (await fetch(`${url}/api/ps`)).json();
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const queue = /^quern_queue_length (\d+)$/m.exec(metrics)![1];
  const lasting = ({ expires_at: _, size: _1, size_vram: _2, ...model }: OllamaProcess) => model;
  return [models.map(lasting), queue];
}

/** Bytes that all models hold together. */
async function sizeOf(url: string): Promise<number> {
  const { models } = await (await fetch(`${url}/api/ps`)).json();
  return models.reduce((sum: number, { size }: OllamaProcess) => sum + size, 0);
}

const prompts = Array.from({ length: 8 }, (_, index) => "a story of ".repeat(index) + index);

Deno.test("eight streams at once each say what the same request says alone", async () => {
  for (const sequences of [4, 8]) {
    await withServer(sequences, async (url) => {
      const alone: string[] = [];
      for (const prompt of prompts) alone.push(await answerOf(url, prompt));
      assertEquals(new Set(alone).size, prompts.length);
      for (let round = 0; round < 2; round++) {
        const together = await Promise.all(prompts.map((prompt) => answerOf(url, prompt)));
        assertEquals(together, alone);
      }
    });
  }
});

Deno.test("two hundred clients that hang up at any moment leave the server as it was", async () => {
  await withServer(4, async (url) => {
    /** Waits a while, or for the first bytes of the answer, and goes. */
    const hangUp = async (index: number) => {
      const client = new AbortController();
      const body = { prompt: prompts[index % 8], stream: index % 3 !== 0, options: { seed: 1 } };
      const answer = generate(url, body, client.signal);
      answer.catch(() => {});
      if (index % 3 === 1) await (await answer).body!.getReader().read();
      else await new Promise((resolve) => setTimeout(resolve, index % 20));
      client.abort();
    };
    const hangUpAll = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => hangUp(index)));
    const expected = await answerOf(url, prompts[5]!);
    await hangUpAll(20);
    assertEquals(await answerOf(url, prompts[5]!), expected);
    const [before, size] = [await stateOf(url), await sizeOf(url)];
    await assertMemorySettles(() => hangUpAll(200));
    assertEquals(
      await Promise.all(prompts.map(() => answerOf(url, prompts[5]!))),
      prompts.map(() => expected),
    );
    assertEquals(await stateOf(url), before);
    // A number of rows that never ran together before may bind a kernel anew: 16 to 48 bytes.
    assert(await sizeOf(url) - size <= 512, `${await sizeOf(url)} bytes were ${size}`);
  });
});
