// How the tuner times the ways to compute a kernel and chooses one, and when what is bound takes a choice
// over. That the kernels of GPUs compute right in all the ways that are timed is for
// tests/profiles/tuning.ts.

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  allocateRouting,
  expertLinearReference,
  floatRows,
  quantFormats,
  type TunedKernel,
} from "../../kernels/mod.ts";
import {
  ExpertLinear,
  GpuExpertPairs,
  type KernelSource,
  WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { columnsName } from "../../kernels/webgpu/candidates.ts";
import { drawBlocks, moderateBlocks } from "../../kernels/webgpu/tuning/random_matrix.ts";
import { type Bench, bestOf, faultIn, tryWays } from "../../kernels/webgpu/tuning/trial.ts";
import { webGpuTest } from "../adapter.ts";
import { readFloats, submit, write } from "../gpu.ts";
import { pretendGpu } from "../pretended_gpu.ts";
import { profileNamed } from "../profiles.ts";
import { recordingGpu } from "../recording_gpu.ts";
import { EXPERTS, PRODUCT } from "./tuning_case.ts";
import { formatNamed } from "./weights.ts";

Deno.test("weights of every format are made that are neither huge nor nothing", () => {
  for (const format of quantFormats) {
    const blocks = moderateBlocks(format, 1);
    const weights = format.dequantize(drawBlocks(blocks, 100, 2), 100);
    const peak = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0);
    assert(peak >= 2 ** -10 && peak <= 2 ** 6, `${format.name}: ${peak}`);
  }
});

Deno.test("the fastest of the right ways is chosen, the usual one where little is gained", () => {
  const [usual, other, third] = ["usual", "other", "third"];
  const chosen = (...seconds: number[]) =>
    bestOf([usual, other, third].map((name, i) => ({ name: name!, seconds: seconds[i]! })));
  assertEquals(chosen(1, 0.9, 0.5), "third");
  assertEquals(chosen(1, 0.99, 1.2), "usual");
  assertEquals(
    bestOf([{ name: "usual", seconds: 1 }, { name: "other", fault: "wrong" }]),
    "usual",
  );
  assertEquals(
    bestOf([{ name: "usual", fault: "wrong" }, { name: "other", seconds: 3 }]),
    "other",
  );
  assertEquals(bestOf([{ name: "usual", fault: "a" }, { name: "other", fault: "b" }]), "usual");
});

Deno.test("a value that is off, or no number, is a fault", () => {
  const [expected, errors] = [[1, 2, 3], [0.1, 0.1, 0.1]];
  assertEquals(faultIn({ actual: [1.05, 2, 2.95], expected, errors }), undefined);
  const fault = "2 of 3 values are not those of the plain reference";
  assertEquals(faultIn({ actual: [1, NaN, 3.2], expected, errors }), fault);
});

Deno.test("kernels that were bound are tuned, those with the most work first", async () => {
  const profile = profileNamed("subgroups of 32,32, 32 KiB");
  using device = await WebGpuDevice.open({ gpu: recordingGpu(profile, new Map()) });
  const { choices } = device;
  const bind = (rows: number) => {
    const matrix = device.matrix("w", formatNamed("F16"), { rows, columns: 64 });
    device.linear(matrix, floatRows(device, "x", 8, 64), floatRows(device, "y", 8, rows)).prepare!(
      2,
    );
  };
  bind(32);
  bind(128);
  bind(32);
  assertEquals(
    choices.bound().map(({ kernel, count }) => ({ ...kernel, count }))
      .map((one) => "tokens" in one ? [one.rows, one.tokens, one.count] : one),
    [[32, 1, 2], [32, 2, 2], [128, 1, 1], [128, 2, 1]],
  );
  assertEquals(device.tuner.canTime, false); // It has no timestamps.
});

/** Ways that are right or not, and never run. */
function fakeBench(wrong: readonly string[], ways = ["a", "b"]): Bench {
  return {
    ways,
    check: (way) => Promise.resolve(wrong.includes(way) ? "wrong" : undefined),
    full: () => [() => {}],
  };
}

webGpuTest("ways with wrong results are not timed; and none once that is unwanted", async () => {
  using device = await WebGpuDevice.open();
  const budget = { seconds: 0, mostRounds: 3 };
  const trials = await tryWays(device, fakeBench(["b"]), budget, () => false);
  assertEquals(trials!.map(({ name, fault, seconds }) => [name, fault, seconds === undefined]), [
    ["a", undefined, false],
    ["b", "wrong", true],
  ]);
  let asked = 0;
  const isUnwanted = () => ++asked > 1;
  assertEquals(await tryWays(device, fakeBench([]), budget, isUnwanted), undefined);
});

webGpuTest("a product is tuned, restored, and computed in the way that was chosen", async () => {
  using device = await WebGpuDevice.open();
  const [rows, columns] = [64, 64];
  const format = formatNamed("F32");
  const matrix = device.matrix("w", format, { rows, columns });
  const writer = device.matrixWriter(matrix);
  const weights = Float32Array.from({ length: rows * columns }, (_, i) => i % 7 - 3);
  writer.append(new Uint8Array(weights.buffer));
  writer.finish();
  const x = floatRows(device, "x", 8, columns);
  const y = floatRows(device, "y", 8, rows);
  write(device, x.floats, new Float32Array(columns).fill(1));
  const product = device.linear(matrix, x, y);
  product.prepare!(1);
  const expected = Float32Array.from(
    { length: rows },
    (_, row) => weights.subarray(row * columns, (row + 1) * columns).reduce((a, b) => a + b),
  );
  const compute = async () => {
    submit(device, (pass) => product.encode(pass, 1));
    return await readFloats(device, y.floats, rows);
  };
  assertEquals(await compute(), expected);

  const tuner = device.tuner!;
  const [kernel] = tuner.pending();
  const tuned = (await tuner.tune(kernel!))!;
  assertEquals(tuned.trials.map(({ fault }) => fault), tuned.trials.map(() => undefined));
  assert(tuned.trials.every(({ seconds }) => seconds! > 0));
  assertEquals(tuner.pending(), []);

  const before = device.choices.version;
  const other = tuned.trials.find(({ name }) => name !== tuned.chosen)!.name;
  const kept: TunedKernel[] = [
    { ...tuned, chosen: other },
    { ...tuned, of: { ...PRODUCT, rows: 32 } },
    { ...tuned, chosen: "9x9, 9 of 9" },
  ];
  assertEquals(await tuner.restore(kept), [kept[0]]);
  assertEquals(device.choices.chosen(kernel!), other);
  assert(device.choices.version > before);
  assertEquals(await compute(), expected);
});

/** A product of experts with known results, bound for up to four pairs that share one. */
function boundExperts(device: WebGpuDevice) {
  const [rows, columns, experts, topK] = [64, 64, 3, 2];
  const tokens = 6;
  const matrix = device.matrix("w", formatNamed("F32"), {
    ...{ rows: experts * rows, columns, unit: rows },
  });
  const weights = Float32Array.from({ length: experts * rows * columns }, (_, i) => i % 7 - 3);
  const writer = device.matrixWriter(matrix);
  writer.append(new Uint8Array(weights.buffer));
  writer.finish();
  const routing = allocateRouting(device, tokens, { experts, topK });
  const ids = Uint32Array.of(2, 0, 0, 1, 2, 1, 1, 2, 0, 2, 2, 1);
  write(device, routing.ids, ids);
  write(device, routing.count, Uint32Array.of(ids.length));
  const pairs = new GpuExpertPairs(device, routing, tokens);
  const x = floatRows(device, "x", tokens, columns);
  const y = floatRows(device, "y", tokens * topK, rows);
  const values = Float32Array.from({ length: tokens * columns }, (_, i) => i % 5);
  write(device, x.floats, values);
  const product = new ExpertLinear(device, matrix, pairs, x, y, { share: topK });
  product.prepare(tokens);
  const expected = expertLinearReference(weights, values, ids, { rows, columns, share: topK });
  const compute = async (tokens: number) => {
    write(device, y.floats, new Float32Array(expected.length).fill(NaN));
    submit(device, (pass) => {
      pairs.encode(pass, tokens);
      product.encode(pass, tokens);
    });
    const count = tokens * topK * rows;
    assertEquals(await readFloats(device, y.floats, count), expected.subarray(0, count));
  };
  return { compute, pairs, product };
}

webGpuTest(
  "products of experts are tuned, restored, and right in every way that may be chosen",
  async () => {
    using device = await WebGpuDevice.open();
    const { compute } = boundExperts(device);
    await compute(1);
    await compute(6);
    const tuner = device.tuner!;
    const kernels = tuner.pending();
    const experts = { rows: 64, columns: 64, experts: 3, topK: 2, perPair: false };
    assertEquals(
      kernels.map((kernel) => ({ ...kernel, density: 0, cols: 0 })),
      kernels.map(() => ({
        ...{ ...EXPERTS, ...experts, format: "F32", integer: false, density: 0, cols: 0 },
      })),
    );
    assert(kernels.some((kernel) => kernel.kernel === "experts" && kernel.density === 4));
    let ways = 0;
    for (const kernel of kernels) {
      const tuned = (await tuner.tune(kernel))!;
      assertEquals(tuned.trials.map(({ fault }) => fault), tuned.trials.map(() => undefined));
      assert(tuned.trials.every(({ seconds }) => seconds! > 0));
      for (const { name } of tuned.trials) {
        const before = device.choices.version;
        const kept = { ...tuned, chosen: name };
        assertEquals(await tuner.restore([kept]), [kept]);
        if (device.choices.version > before) ways++;
        await compute(1);
        await compute(6);
      }
    }
    assert(ways > 1);
    const odd = { ...EXPERTS, ...experts, format: "F32", integer: false, density: 4, cols: 3 };
    assertEquals(await tuner.restore([{ of: odd, chosen: "2x3, 1 of 16", trials: [] }]), []);
    assertEquals(tuner.pending(), []);
  },
);

webGpuTest(
  "tiles of pairs get another width, and the products that share them follow",
  async () => {
    const gpu = pretendGpu(profileNamed("subgroups of 32,32, 32 KiB"));
    using device = await WebGpuDevice.open({ gpu });
    const { compute, pairs, product } = boundExperts(device);
    const tuner = device.tuner!;
    const kernel = tuner.pending().find((one) =>
      one.kernel === "expert pairs" && one.density === 4
    );
    const tuned = (await tuner.tune(kernel!))!;
    assertEquals(tuned.trials.map(({ name, fault }) => [name, fault]), [
      ["tiles of 4", undefined],
      ["tiles of 2", undefined],
      ["tiles of 8", undefined],
    ]);
    for (const cols of [4, 2, 8]) {
      const kept = { ...tuned, chosen: columnsName(cols) };
      assertEquals(await tuner.restore([kept]), [kept]);
      assertEquals(pairs.tiling(6).cols, cols);
      product.prepare(6);
      await compute(1);
      await compute(6);
      const next = tuner.pending().filter((kernel) => "cols" in kernel && kernel.density === 4);
      assertEquals(next.map((kernel) => "cols" in kernel && kernel.cols), [cols]);
    }
  },
);

/** Makes a device, and those that share it, compute wrongly with tiles of so many rows for a team. */
function spoil(device: WebGpuDevice, rows: number): WebGpuDevice {
  const [kernel, share] = [device.kernel.bind(device), device.share.bind(device)];
  return Object.assign(device, {
    kernel: (source: KernelSource) => {
      if (source.constants?.ROWS !== rows) return kernel(source);
      const { output } = source.parts!;
      const wrong = output.replace("y[at] = sum0_$r_$c;", "y[at] = 1.01 * sum0_$r_$c;");
      assert(wrong !== output);
      return kernel({ ...source, parts: { ...source.parts, output: wrong } });
    },
    share: () => spoil(share(), rows),
  });
}

webGpuTest("tiles with which the results of experts are wrong are not chosen", async () => {
  const usual = 2;
  for (const rows of [usual, 1]) {
    using device = spoil(await WebGpuDevice.open(), rows);
    boundExperts(device);
    const tuner = device.tuner!;
    for (const kernel of tuner.pending()) {
      const { chosen, trials } = (await tuner.tune(kernel))!;
      const wrong = trials.filter(({ name }) => name.startsWith(`${rows}x`));
      assertEquals(wrong.length, 1);
      assert(wrong[0]!.fault?.includes("not those of the plain reference"), wrong[0]!.fault);
      assertEquals(wrong[0]!.seconds, undefined);
      assert(chosen !== wrong[0]!.name);
    }
  }
});

webGpuTest(
  "kernels that are wrong in their usual way are mended, with and without timestamps",
  async () => {
    const usual = 2;
    for (const without of [[], ["timestamps"]] as const) {
      using device = spoil(await WebGpuDevice.open({ without }), usual);
      const { compute } = boundExperts(device);
      await assertRejects(() => compute(1));
      const mended = await device.tuner.mend();
      assert(mended.length > 0);
      for (const { chosen, trials } of mended) {
        assert(!chosen.startsWith(`${usual}x`));
        assert(trials[0]!.fault?.includes("not those of the plain reference"), trials[0]!.fault);
        assertEquals(trials.at(-1), { name: chosen });
      }
      await compute(1);
      await compute(6);
      assertEquals(await device.tuner.mend(), []);
    }
  },
);
