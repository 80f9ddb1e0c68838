// `quern bench MODEL --profile` on a tiny model: its tables add up, and what cannot be profiled is
// refused with what to do.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { inspectModel, loadModel, profileModel } from "../../../../engine/mod.ts";
import type { BenchOptions } from "../../../../server/cli/commands/bench.ts";
import { profile } from "../../../../server/cli/commands/profile.ts";
import type { CliDependencies } from "../../../../server/cli/dependencies.ts";
import { FakeTerminal } from "../fake_terminal.ts";
import { folder, tinyPath } from "../../../engine/harness.ts";

const OPTIONS: BenchOptions = {
  promptTokens: [20, 40],
  tokens: 4,
  parallel: [1],
  repeat: 1,
  format: "table",
  profile: true,
};

async function run(model: string, options: Partial<BenchOptions> = {}): Promise<string> {
  const terminal = new FakeTerminal();
  const dependencies: CliDependencies = {
    open: () => Promise.reject(new Error("not reached")),
    inspect: inspectModel,
    device: {
      examine: () => Promise.reject(new Error("not reached")),
      describe: () => Promise.resolve("a test"),
      readBandwidth: () => Promise.resolve(1e9),
    },
    async profile({ path }, load, plan) {
      const device = { kind: "cpu", threads: 1 } as const;
      await using loaded = await loadModel(path, { ...load, device });
      return await profileModel(loaded, plan);
    },
    terminal,
    environment: { QUERN_MODELS: folder },
    fetch: () => Promise.reject(new TypeError("connection refused")),
  };
  assertEquals(await profile(dependencies, model, { ...OPTIONS, ...options }), 0);
  return terminal.output;
}

Deno.test("a profile has a table by operation and one by layer, of prompt and answer", async () => {
  const output = await run(tinyPath);
  assertMatch(output, /on a test, which reads 1.0 GB\/s/);
  assertMatch(output, /^prefill of 20 tokens in 1 step: .*ms; without a trace, .*ms$/m);
  assertMatch(output, /^decode, the mean of 3 steps: /m);
  for (const row of ["linear F32", "attention", "sample", "0", "1", "none"]) {
    const lines = output.split("\n").filter((line) => line.startsWith(`${row} `));
    assertEquals(lines.length, 2, row);
    for (const line of lines) assertEquals(line.trim().split(/ {2,}/).length, 7, line);
  }
  assertEquals(output.match(/^between operations .*%$/gm)?.length, 4);
  assertMatch(await run(tinyPath, { format: "markdown" }), /^\| attention \| 2 \| .*ms \|/m);
});

Deno.test("as JSON, operations, layers and what is between them are the time of the steps", async () => {
  interface Sum {
    seconds: number;
    flops: number;
    calls: number;
  }
  interface Phase extends Record<"operations" | "layers", Sum[]> {
    steps: number;
    tokens: number;
    seconds: number;
    betweenSeconds: number;
  }
  const { prefill, decode, readBandwidth }: { readBandwidth: number } & Record<string, Phase> = JSON
    .parse(await run(tinyPath, { json: true }));
  assertEquals(readBandwidth, 1e9);
  assertEquals([prefill!.steps, prefill!.tokens, decode!.steps, decode!.tokens], [1, 20, 3, 3]);
  for (const { operations, layers, seconds, betweenSeconds } of [prefill!, decode!]) {
    for (const sums of [operations, layers]) {
      const sum = sums.reduce((sum, { seconds }) => sum + seconds, betweenSeconds);
      assert(Math.abs(sum - seconds) < 1e-9, `${sum} and ${seconds}`);
    }
    const total = (sums: Sum[], key: "flops" | "calls") =>
      sums.reduce((sum, operation) => sum + operation[key], 0);
    assertEquals(total(operations, "calls"), total(layers, "calls"));
    assertEquals(Math.round(total(operations, "flops")), Math.round(total(layers, "flops")));
  }
});

Deno.test("what cannot be profiled is refused with what to do", async () => {
  await assertRejects(() => run("missing"), Error, "model 'missing' not found");
  await assertRejects(
    () => run(tinyPath, { ctx: 23 }),
    Error,
    "a prompt of 20 tokens and an answer of 4 do not fit a window of 23",
  );
});
