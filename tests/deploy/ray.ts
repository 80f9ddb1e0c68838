// Quern under the real Ray Serve: streams pass through, prefixes find their replica, what is lost before
// its first byte is asked again, and a model without replicas gets one. `deno task test:ray` runs it;
// QUERN_RAY_REPORT is a file for the figures.

import { assert, assertEquals } from "@std/assert";
import { RayCluster } from "./ray_cluster.ts";
import { type Answer, askStream, outcomeOf, says } from "./streams.ts";

const MODEL = "quern:tiny";
const figures: Record<string, unknown> = {};
let cluster: RayCluster;
Deno.test.beforeAll(async () => {
  cluster = await RayCluster.start();
});
Deno.test.afterAll(() => cluster[Symbol.asyncDispose]());

/** Asks Ray for a stream. */
function ask(messages: { role: string; content: string }[], tokens = 20): Promise<Answer> {
  return askStream({ url: cluster.url, model: MODEL, messages, tokens });
}

/** Three turns of eight conversations with long beginnings of their own. */
async function converse(): Promise<{ cached: number; prompt: number }> {
  const sum = { cached: 0, prompt: 0 };
  const conversations = Array.from({ length: 8 }, (_, i) => [
    { role: "system", content: `Conversation ${i}. ${`Fact ${i} of ${i * 7}. `.repeat(30)}` },
  ]);
  for (let turn = 0; turn < 3; turn++) {
    for (const messages of conversations) {
      messages.push({ role: "user", content: `Question ${turn}?` });
      const { cached, prompt, text, status } = await ask(messages, 8);
      assertEquals(status, 200);
      messages.push({ role: "assistant", content: text });
      sum.cached += cached;
      sum.prompt += prompt;
    }
  }
  return sum;
}

Deno.test("a stream passes through as it comes", async () => {
  await cluster.deploy({ models: [{ name: MODEL }] });
  const { first, whole, failed, text } = await ask(says("Tell me a story."), 200);
  assert(!failed && text.length > 100, text);
  assert(first < whole / 2, `${first} of ${whole} ms`);
});

Deno.test("requests of a conversation go to the replica that has it", async () => {
  const shares: Record<string, number> = {};
  for (const routing of ["balanced", "prefix"] as const) {
    await cluster.deploy({ routing, models: [{ name: MODEL, min_replicas: 3, max_replicas: 3 }] });
    const { cached, prompt } = await converse();
    shares[routing] = cached / prompt;
  }
  figures["cached part of prompts, 3 replicas"] = shares;
  assert(shares.prefix! > 0.55 && shares.prefix! > shares.balanced!, JSON.stringify(shares));
});

Deno.test("what was not answered yet when a replica is lost is answered by another", async () => {
  await cluster.deploy({ models: [{ name: MODEL, min_replicas: 3, max_replicas: 3 }] });
  const streams = Array.from(
    { length: 16 },
    (_, i) => ask(says(`Number ${i}: tell me more.`), 150),
  );
  const [killed, stopped] = cluster.processes();
  Deno.kill(killed!, "SIGKILL");
  Deno.kill(stopped!, "SIGSTOP");
  const outcome = outcomeOf(await Promise.all(streams));
  figures["16 streams, one replica killed, one stopped"] = outcome;
  assertEquals(outcome.failed, 0);
});

Deno.test("a model without replicas gets one for its first request, and loses it again", async () => {
  await cluster.deploy({
    models: [{ name: MODEL, min_replicas: 0, max_replicas: 1, downscale_delay: 2 }],
  });
  assertEquals(cluster.processes(), []);
  const { status, first } = await ask(says("Hello?"));
  assertEquals(status, 200);
  figures["first byte from zero replicas, ms"] = Math.round(first);
  const end = performance.now() + 120_000;
  while (cluster.processes().length > 0 && performance.now() < end) {
    await new Promise((done) => setTimeout(done, 500));
  }
  assertEquals(cluster.processes(), []);
});

Deno.test("a long conversation brings a second replica, where tokens count, and short ones do not", async () => {
  await cluster.deploy({
    models: [{
      name: MODEL,
      max_replicas: 2,
      requests_per_replica: 16,
      tokens_per_replica: 1000,
      downscale_delay: 600,
    }],
  });
  const shortOnes = async () => {
    for (let i = 0; i < 8; i++) await ask(says(`Number ${i}: tell me more.`), 60);
  };
  await shortOnes();
  assertEquals(cluster.processes().length, 1);
  const began = performance.now();
  const long = says(`Read this. ${"One fact after the other. ".repeat(150)}`);
  while (cluster.processes().length < 2 && performance.now() - began < 120_000) {
    await ask(long, 400);
  }
  figures["seconds from a long prompt to a second replica"] = Math.round(
    (performance.now() - began) / 1000,
  );
  assertEquals(cluster.processes().length, 2);
});

Deno.test("three replicas of one thread are measured beside one of three", async () => {
  for (const [replicas, threads] of [[3, 1], [1, 3]] as const) {
    await cluster.deploy({
      models: [{ name: MODEL, min_replicas: replicas, max_replicas: replicas, threads }],
    });
    await ask(says("Warm up."));
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) => ask(says(`Number ${i}: tell me more.`), 60)),
    );
    assert(answers.every(({ failed }) => !failed));
    const rate = 24 * 60 * 1000 / (performance.now() - began);
    figures[`tokens/s of 24 streams, ${replicas} replicas of ${threads} threads`] = Math.round(
      rate,
    );
  }
});

Deno.test("a model that is not served is a 404 that names those that are", async () => {
  const response = await fetch(`${cluster.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "other", messages: says("Hi") }),
  });
  assertEquals(response.status, 404);
  const { error } = await response.json();
  assertEquals(error.message, `model "other" is not served here: there are ${MODEL}`);
  const report = Deno.env.get("QUERN_RAY_REPORT");
  if (report) await Deno.writeTextFile(report, JSON.stringify(figures, undefined, 2) + "\n");
});
