// Reports of hardware: what `quern bench --report` writes is what the table of README.md is made from.

import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { join } from "node:path";
import {
  hardwareTable,
  readReport,
  readResults,
  withHardwareTable,
} from "../../bench/hardware_reports.ts";
import { inspectModel, loadModel, profileModel } from "../../engine/mod.ts";
import { CpuDevice } from "../../kernels/cpu/device.ts";
import { readLlamaBench } from "../../server/cli/bench/mod.ts";
import type { BenchOptions } from "../../server/cli/commands/bench.ts";
import { report } from "../../server/cli/commands/profile.ts";
import type { CliDependencies } from "../../server/cli/dependencies.ts";
import type { Host } from "../../server/cli/setup/host.ts";
import { folder as models, tinyPath } from "../engine/harness.ts";
import { FakeTerminal } from "../server/cli/fake_terminal.ts";

const OPTIONS: BenchOptions = {
  ...{ promptTokens: [20], tokens: 4, parallel: [1], repeat: 1, format: "table", report: true },
};

/** What llama-bench prints with `-o json`, as far as it is read. */
const LLAMA_BENCH = JSON.stringify([
  { build_number: 6100, build_commit: "abc", backends: "CUDA", n_prompt: 20, n_gen: 0, avg_ts: 50 },
  { build_number: 6100, build_commit: "abc", backends: "CUDA", n_prompt: 0, n_gen: 4, avg_ts: 10 },
]);

/** Reports on a tiny model that the CPU computes, and which is said to be on a GPU. */
async function writeReport(peer?: string): Promise<{ json: string; text: string; errors: string }> {
  const folder = await Deno.makeTempDir();
  const terminal = new FakeTerminal();
  const cpu = CpuDevice.profileOf({ threads: 1 });
  const capabilities = { ...cpu.capabilities, software: false };
  const dependencies: CliDependencies = {
    open: () => Promise.reject(new Error("not reached")),
    inspect: inspectModel,
    device: {
      examine: () =>
        Promise.resolve({
          choice: { kind: "webgpu", reason: "a test" },
          profile: { ...cpu, capabilities, description: "Test GPU 9000", vendor: 0x10de },
          product: { values: 64, wrong: 0, milliseconds: 1 },
          proved: [],
        }),
      describe: () => Promise.resolve("Test GPU 9000"),
      readBandwidth: () => Promise.resolve(1e9),
    },
    async profile({ path }, load, plan) {
      const device = { kind: "cpu", threads: 1 } as const;
      await using loaded = await loadModel(path, { ...load, device });
      return await profileModel(loaded, plan);
    },
    terminal,
    environment: { QUERN_MODELS: models },
    fetch: () => Promise.reject(new TypeError("connection refused")),
  };
  const run = ([program]: readonly string[]) =>
    Promise.resolve({ ok: program === "llama-bench" && peer !== undefined, output: peer ?? "" });
  const host = { os: "linux", run, readText: () => Promise.resolve(undefined) } as unknown as Host;
  try {
    assertEquals(await report(dependencies, tinyPath, OPTIONS, { host }, folder), 0);
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assertEquals(names.length, 2);
    assertMatch(names[0]!, /^quern-report_[\w.-]+_test-gpu-9000_\d{4}-\d\d-\d\d\.json$/);
    const text = await Deno.readTextFile(join(folder, names[1]!));
    assertEquals(text, terminal.output);
    return {
      json: await Deno.readTextFile(join(folder, names[0]!)),
      text,
      errors: terminal.errors,
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a report has what computes, each kernel, and llama-bench where it is there", async () => {
  const { json, text, errors } = await writeReport(LLAMA_BENCH);
  const { device, kernels, speed, peer } = JSON.parse(json);
  assertEquals([device.name, device.computesRight, device.readBytesPerSecond], [
    "Test GPU 9000",
    true,
    1e9,
  ]);
  for (const phase of ["prefill", "decode"]) {
    const names = kernels[phase].map(({ name }: { name: string }) => name);
    assert(names.includes("attention") && names.includes("linear F32"), `${names}`);
    for (const { calls, seconds, bytes } of kernels[phase]) {
      assert(calls > 0 && seconds >= 0 && bytes >= 0);
    }
  }
  assertEquals([peer.version, peer.backend, peer.decodeTokensPerSecond], ["6100 abc", "CUDA", 10]);
  assertMatch(text, /^\| llama-bench 6100 abc, CUDA \| 50\.0 \| 10\.0 \|$/m);
  assertMatch(errors, /written to .*\.json and .*\.md\n$/);
  const result = readReport(json)!;
  assertEquals(result.ratios, [
    speed.prefillTokensPerSecond / 50,
    speed.decodeTokensPerSecond / 10,
  ]);
  assertMatch(hardwareTable([result]), /^\| Test GPU 9000 \| .* F32 +\| \d+ /m);
});

Deno.test("without llama-bench a report says that it is left out", async () => {
  const { json, errors } = await writeReport();
  assertMatch(errors, /llama-bench is not on the PATH, or failed, so that it is left out/);
  assertEquals(readReport(json)!.ratios, undefined);
  const report = JSON.parse(json);
  const changed = (change: (report: { device: Record<string, unknown> }) => void) => {
    const copy = structuredClone(report);
    change(copy);
    return JSON.stringify(copy);
  };
  // What is no hardware, or computes wrong, has no place in the table.
  assertEquals(readReport(changed(({ device }) => device.software = true)), undefined);
  assertEquals(readReport(changed(({ device }) => device.kind = "cpu")), undefined);
  assertEquals(readReport(changed(({ device }) => device.computesRight = false)), undefined);
  assertThrows(
    () => readReport(changed(({ device }) => delete device.name)),
    RangeError,
    '"device.name"',
  );
  assertThrows(() => readReport('{"version": 2}'), RangeError, "it is of version 2, not 1");
});

Deno.test("what is not llama-bench's output is as if there were none", () => {
  for (const output of ["", "[]", "{}", '[{"n_prompt": 4, "n_gen": 0, "avg_ts": 3}]', "null"]) {
    assertEquals(readLlamaBench(output), undefined);
  }
});

Deno.test("a file that cannot be read is named", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(folder, "bad.json"), "{}");
    await assertRejects(() => readResults(new URL(`file://${folder}/`)), RangeError, "bad.json: ");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("README has the table of all reports, or says that there are none", async () => {
  const page = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  assertEquals(withHardwareTable(page, await readResults()), page, "run `deno task docs:hardware`");
  assertMatch(hardwareTable([]), /^Nothing has been measured on a hardware GPU yet/);
});
