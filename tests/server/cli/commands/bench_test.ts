// `quern bench` against a server that is played: what it asks, what it makes of the answers, how it
// ends. The fake model has two tokens to a word, and takes its time as the server says it does.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { BenchReport } from "../../../../server/cli/bench/mod.ts";
import { concurrencyOf, decodeRate, type Sample } from "../../../../server/cli/bench/generation.ts";
import { PromptSource } from "../../../../server/cli/bench/benchmark.ts";
import { bench } from "../../../../server/cli/commands/bench.ts";
import { FakeTerminal } from "../fake_terminal.ts";
import { until } from "../../../until.ts";
import { type Asked, fakeFetch, records, refusal, type Route, runCommand } from "./fake_api.ts";

const TOKENS_PER_WORD = 2;
const TOKEN_MILLISECONDS = 4;

interface GenerateBody {
  prompt: string;
  raw?: boolean;
  options: {
    num_predict: number;
    num_ctx?: number;
    ignore_eos?: boolean;
    draft?: string;
    draft_num_predict?: number;
  };
}

interface FakeServer {
  window?: number;
  /** Answers at a time. */
  slots?: number;
  /** Tokens after which the model ends its answers. */
  mostTokens?: number;
  /** Whether it goes on all the same where it is asked to. */
  goesOn?: boolean;
  show?: Record<string, unknown>;
}

/** Routes of a server with the model tiny:latest. */
function serverWith(
  { window = 4096, slots = 8, mostTokens = Infinity, goesOn = false, show = {} }: FakeServer = {},
): Record<string, Route> {
  let isLoaded = false;
  const free = Array.from({ length: slots }, () => Promise.resolve());
  let next = 0;
  return {
    "GET /api/version": () => Response.json({ version: "1.2.3" }),
    "POST /api/show": () => {
      const details = { parameter_size: "135M", quantization_level: "Q8_0" };
      return Response.json({ details, capabilities: ["completion"], model_info: {}, ...show });
    },
    "GET /api/tags": () => Response.json({ models: [{ name: "tiny:latest", size: 1e8 }] }),
    "GET /api/ps": () => {
      const tiny = {
        name: "tiny:latest",
        size: 2 ** 28,
        size_vram: 2 ** 28,
        context_length: window,
      };
      return Response.json({ models: isLoaded ? [tiny] : [] });
    },
    async "POST /api/generate"({ body }) {
      const { prompt, options } = body as GenerateBody;
      if (prompt === "") {
        isLoaded = true;
        return Response.json({ done: true, done_reason: "load" });
      }
      const most = goesOn && options.ignore_eos ? Infinity : mostTokens;
      const tokens = Math.min(options.num_predict, most);
      const milliseconds = (tokens - 1) * TOKEN_MILLISECONDS;
      const slot = next++ % slots;
      await (free[slot] = free[slot]!.then(() => sleep(milliseconds)));
      return records({ response: "w", done: false }, {
        response: "",
        done: true,
        prompt_eval_count: prompt.split(" ").length * TOKENS_PER_WORD,
        prompt_eval_duration: 50e6,
        eval_count: tokens,
        eval_duration: milliseconds * 1e6,
        ...(options.draft_num_predict !== 0 && { draft_n: 10, draft_accepted: 7 }),
      });
    },
  };
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Bodies of the generations, without the load. */
function generationsIn(asked: Asked[]): GenerateBody[] {
  return asked
    .filter(({ route }) => route === "POST /api/generate")
    .map(({ body }) => body as GenerateBody)
    .filter(({ prompt }) => prompt !== "");
}

Deno.test("bench measures the load, prompts of each length, and answers together", async () => {
  const { code, terminal } = await runCommand(
    ["bench", "tiny", "--prompt-tokens", "100,200", "--tokens", "40", "--parallel", "1,4"],
    serverWith(),
  );
  assertEquals(code, 0);
  const [title, facts, , head, ...rows] = terminal.output.trimEnd().split("\n");
  assertEquals(title, "tiny (135M Q8_0), version 1.2.3 at http://127.0.0.1:11434");
  assertMatch(
    facts!,
    /^on a GPU, window of 4096 tokens, 256\.0 MiB of memory, loaded in [\d.]+m?s$/,
  );
  assertMatch(head!, /^TEST +TOKENS\/S +RANGE +FIRST TOKEN$/);
  assertMatch(rows[0]!, /^prefill 100 tokens +2000 +2000 to 2000 +[\d.]+ms$/);
  assertMatch(rows[1]!, /^prefill 200 tokens +4000 +4000 to 4000 +[\d.]+ms$/);
  assertMatch(rows[2]!, /^decode +[\d.]+ +[\d.]+ to [\d.]+ +[\d.]+ms$/);
  assertMatch(rows[3]!, /^decode, 4 at a time +[\d.]+ +[\d.]+ to [\d.]+ +[\d.]+ms$/);
  assertEquals([rows.length, terminal.listeners], [4, 0]);
  assertMatch(terminal.errors, /^loading\nwarming up\nprefill of 100 tokens\n/);
});

Deno.test("bench measures drafts of a model that is named", async () => {
  const { terminal, asked } = await runCommand(
    ["bench", "tiny", "--prompt-tokens", "100", "--tokens", "20", "--parallel", "1"].concat(
      ["--repeat", "2", "--draft", "small"],
    ),
    serverWith(),
  );
  assertMatch(terminal.output, /^decode with drafts +[\d.]+ +[\d.]+ to/m);
  assertMatch(terminal.output, /^drafts of small: 14 of 20 tokens came$/m);
  const bodies = generationsIn(asked);
  assert(bodies.every(({ options }) => options.draft === "small"));
  const withDrafts = bodies.filter(({ options }) => options.draft_num_predict === undefined);
  assertEquals(withDrafts.map(({ options }) => options.num_predict), [8, 20, 20]);
});

Deno.test("bench measures drafts of what the model itself brings, unless none are asked for", async () => {
  const args = ["bench", "tiny", "--prompt-tokens", "100", "--tokens", "20", "--parallel", "1"];
  const head = { name: "blk.9.nextn.eh_proj.weight", type: "Q8_0", shape: [128, 64] };
  const cases = [
    [{ draft_info: { "general.architecture": "llama" } }, [], /^drafts of its draft model: /m],
    [{ tensors: [head] }, [], /^drafts of its head for later tokens: 21 of 30 tokens came$/m],
    [{ tensors: [head] }, ["--draft", ""], undefined],
  ] as const;
  for (const [show, more, note] of cases) {
    const { terminal } = await runCommand([...args, ...more], serverWith({ show }));
    assertEquals(terminal.output.includes("decode with drafts"), note !== undefined);
    if (note) assertMatch(terminal.output, note);
  }
});

Deno.test("bench asks with raw prompts of about the lengths, none of which begins like another", async () => {
  const { asked } = await runCommand(
    ["bench", "tiny", "--prompt-tokens", "300", "--tokens", "20", "--parallel", "2"].concat(
      ["--repeat", "2", "--ctx", "1024"],
    ),
    serverWith({ window: 1024 }),
  );
  const loads = asked.filter(({ body }) => (body as GenerateBody).prompt === "");
  assertEquals(loads.map(({ body }) => (body as GenerateBody).options), [
    { num_ctx: 1024 } as never,
  ]);
  const bodies = generationsIn(asked);
  assert(bodies.every(({ raw, options }) => raw && options.num_ctx === 1024));
  // A warm-up; a length that is not counted and two that are; a short pair and two long ones.
  assertEquals(bodies.map(({ options }) => options.num_predict), [
    1,
    1,
    1,
    1,
    8,
    8,
    20,
    20,
    20,
    20,
  ]);
  const words = bodies.map(({ prompt }) => prompt.split(" "));
  assertEquals(words.slice(1, 4).map(({ length }) => length), [150, 150, 150]);
  const beginnings = new Set(words.map((list) => list.slice(0, 6).join(" ")));
  assertEquals(beginnings.size, words.length);
});

Deno.test("bench leaves out what the window or the server does not allow, and says so", async () => {
  const { code, terminal } = await runCommand(
    ["bench", "tiny", "--prompt-tokens", "100,2048", "--tokens", "40", "--parallel", "1,2"],
    serverWith({ window: 1024, slots: 1 }),
  );
  assertEquals(code, 0);
  const tests = terminal.output.split("\n").slice(4, 7).map((line) => line.split("  ")[0]);
  assertEquals(tests, ["prefill 100 tokens", "decode", ""]);
  assertStringIncludes(
    terminal.output,
    "prefill of 2048 tokens is left out: the window has 1024 tokens; try --ctx 3072\n",
  );
  assertStringIncludes(
    terminal.output,
    "decode of 2 at a time is left out: the server takes 1; set OLLAMA_NUM_PARALLEL=2\n",
  );
  const small = await runCommand(
    ["bench", "tiny", "--prompt-tokens", "100", "--ctx", "512"],
    serverWith({ window: 64 }),
  );
  assertStringIncludes(small.terminal.output, "has 64 tokens, and the model no larger one\n");
});

Deno.test("bench prints Markdown, and JSON with all numbers", async () => {
  const args = ["bench", "tiny", "--prompt-tokens", "64", "--tokens", "20", "--parallel", "1"];
  const markdown = await runCommand([...args, "--format", "markdown"], serverWith());
  assertMatch(
    markdown.terminal.output,
    /^### tiny \(135M Q8_0\), version 1\.2\.3 at \S+\n\n\| test /,
  );
  assertMatch(
    markdown.terminal.output,
    /\n\| --- \| --: \| --: \| --: \|\n\| prefill 64 tokens \| 1280/,
  );
  const { code, terminal } = await runCommand([...args, "--json", "--repeat", "2"], serverWith());
  const report: BenchReport = JSON.parse(terminal.output);
  assertEquals([code, report.model, report.contextLength, report.memoryBytes, report.notes], [
    0,
    "tiny",
    4096,
    2 ** 28,
    [],
  ]);
  assertEquals(report.rows.map(({ test, size }) => `${test} ${size}`), ["prefill 64", "decode 1"]);
  assertEquals(report.rows[0]!.tokensPerSecond, { median: 1280, least: 1280, most: 1280 });
});

/** Runs with a GPU that reads 10 GB/s. */
async function benchWithGpu(server: FakeServer, environment = {}): Promise<BenchReport> {
  const terminal = new FakeTerminal();
  await bench(
    {
      open: () => Promise.reject(new Error("not reached")),
      inspect: () => Promise.reject(new Error("not reached")),
      device: {
        examine: () => Promise.reject(new Error("not reached")),
        describe: () => Promise.reject(new Error("not reached")),
        readBandwidth: () => Promise.resolve(1e10),
      },
      terminal,
      environment,
      fetch: fakeFetch(serverWith(server)),
    },
    "tiny",
    { promptTokens: [], tokens: 20, parallel: [1], repeat: 1, format: "json" },
  );
  return JSON.parse(terminal.output);
}

Deno.test("bench tells the share of the bandwidth where each token reads all weights, and here", async () => {
  const { bandwidth, rows } = await benchWithGpu({});
  assertEquals(bandwidth, {
    weightBytesPerSecond: rows[0]!.tokensPerSecond.median * 1e8,
    readBytesPerSecond: 1e10,
  });
  const experts = await benchWithGpu({ show: { model_info: { "qwen3moe.expert_count": 128 } } });
  assertEquals(experts.bandwidth, undefined);
  const elsewhere = await benchWithGpu({}, { OLLAMA_HOST: "gpu.test" });
  assertEquals(elsewhere.bandwidth, undefined);
});

Deno.test("bench fails with a sentence for models that are missing, do not write, or hardly", async () => {
  const cases: [Record<string, Route>, string][] = [
    [
      { ...serverWith(), "POST /api/show": () => refusal(404, "model 'tiny' not found") },
      "model 'tiny' not found",
    ],
    [serverWith({ show: { capabilities: ["embedding"] } }), "it does not generate text"],
  ];
  for (const [routes, message] of cases) {
    const run = await runCommand(["bench", "tiny", "--prompt-tokens", "64"], routes);
    assertEquals([run.code, run.terminal.output], [1, ""]);
    assertStringIncludes(run.terminal.errors, `Error: `);
    assertStringIncludes(run.terminal.errors, message);
  }
});

Deno.test("bench asks models not to end while they are measured", async () => {
  const args = ["bench", "tiny", "--prompt-tokens", "64", "--parallel", "1"];
  const { code, terminal } = await runCommand(args, serverWith({ mostTokens: 3, goesOn: true }));
  assertEquals([code, terminal.output.split("\n")[5]!.split(" ")[0]], [0, "decode"]);
});

Deno.test("bench prints what was measured before something ends it", async () => {
  const args = ["bench", "tiny", "--prompt-tokens", "64"];
  const { code, terminal } = await runCommand(args, serverWith({ mostTokens: 3 }));
  assertEquals(code, 1);
  assertMatch(terminal.output, /^prefill 64 tokens +1280/m);
  assertStringIncludes(
    terminal.errors,
    'Cannot measure "tiny": it ends its answers before 8 tokens',
  );
});

Deno.test("bench ends with 130 at an interrupt, without a report", async () => {
  const terminal = new FakeTerminal();
  const never = new Promise<Response>(() => {});
  const working = serverWith();
  const running = runCommand(["bench", "tiny"], {
    ...working,
    "POST /api/generate": (asked) =>
      (asked.body as GenerateBody).prompt === "" ? working["POST /api/generate"]!(asked) : never,
  }, { terminal });
  await until(() => terminal.errors.includes("warming up"));
  terminal.interrupt();
  terminal.interrupt();
  const { code } = await running;
  assertEquals([code, terminal.output, terminal.listeners], [130, "", 0]);
});

Deno.test("bench takes counts from 1 on, with commas between", async () => {
  for (const args of [["--parallel", "1,0"], ["--tokens", "1.5"], ["--prompt-tokens", "a"]]) {
    const { code, terminal } = await runCommand(["bench", "tiny", ...args], {});
    assertEquals(code, 1);
    assertStringIncludes(terminal.errors, "It must be a whole number from 1 on.");
  }
  const { code, terminal } = await runCommand(["bench", "tiny", "--format", "xml"], {});
  assertEquals(code, 1);
  assertStringIncludes(terminal.errors, "Allowed choices are table, markdown, json.");
});

const sample = (end: number, tokens: number, decodeMilliseconds: number): Sample => ({
  promptTokens: 1,
  promptMilliseconds: 1,
  firstTokenMilliseconds: 1,
  tokens,
  decodeMilliseconds,
  drafted: 0,
  accepted: 0,
  end,
});

Deno.test("decodeRate() counts from the first token of all to the last, and none of the firsts", () => {
  assertEquals(decodeRate([sample(1000, 11, 100)]), 100);
  assertEquals(decodeRate([sample(1000, 11, 100), sample(1100, 11, 100)]), 100);
  assertEquals(decodeRate([sample(1000, 11, 100), sample(1000, 11, 100)]), 200);
});

Deno.test("concurrencyOf() takes answers one after the other as such", () => {
  assertEquals(concurrencyOf([sample(100, 9, 100), sample(199, 9, 100), sample(298, 9, 100)]), 1);
  assertEquals(concurrencyOf([sample(298, 9, 100), sample(100, 9, 100), sample(180, 9, 100)]), 2);
});

Deno.test("PromptSource learns how many tokens a word is", () => {
  const prompts = new PromptSource(() => 0.5);
  const first = prompts.make(1000);
  prompts.learn(first, 3 * first.split(" ").length);
  assertEquals(prompts.make(300).split(" ").length, 100);
  prompts.learn(first, 0);
  assertEquals(prompts.make(1).split(" ").length, 1);
});
