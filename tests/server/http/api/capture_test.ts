// POST /api/capture: what is captured over HTTP is what the library captures, as JSON and as files.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { BOX_MODEL } from "../../../../engine/box/mod.ts";
import { loadModel } from "../../../../engine/mod.ts";
import { tinyLoad } from "../../../engine/harness.ts";
import { createBoxApp, handlerWay } from "../../tiny_app.ts";

const way = handlerWay(await createBoxApp());
const model = "quern:tiny";
const prompt = "The weather in Rome";

const post = (body: object) =>
  way.fetch(`${way.url}/api/capture`, {
    method: "POST",
    body: JSON.stringify({
      model,
      prompt,
      points: ["residual.post[0]", "attention.pattern[1]"],
      ...body,
    }),
  });

function floatsOf(bytes: Uint8Array): number[] {
  return Array.from(new Float32Array(bytes.slice().buffer));
}

Deno.test("JSON has the values of the library, with changes and pooled too", async () => {
  await using local = await loadModel(BOX_MODEL.path, { ...tinyLoad, contextLength: 1024 });
  const capture = ["residual.post[0]", "attention.pattern[1]"];
  const expected = await local.run({ prompt, capture });
  const { results: [result] } = await (await post({})).json();
  assertEquals(result.tokens, expected.tokens);
  for (const [i, { point, shape, positions, values }] of expected.captured.entries()) {
    const { data, ...told } = result.points[i];
    assertEquals(told, { point, dtype: "F32", shape, positions });
    assertEquals(floatsOf(Uint8Array.fromBase64(data)), Array.from(values));
  }
  const changes = [{ point: "residual.post[0]", positions: [-1], scale: 2 }];
  const points = ["residual.post[0]"];
  const changed = await (await post({ points, changes, pooling: "last" })).json();
  const width = expected.captured[0]!.shape[1]!;
  const [point] = changed.results[0].points;
  assertEquals(point.shape, [width]);
  const last = Array.from(expected.captured[0]!.values.slice(-width), (value) => 2 * value);
  assertEquals(floatsOf(Uint8Array.fromBase64(point.data)), last);
  const tokens = expected.tokens;
  const both =
    await (await post({ prompt: null, prompts: [tokens, "Hi"], points, pooling: "mean" })).json();
  assertEquals(both.results.length, 2);
  const [mean] = floatsOf(Uint8Array.fromBase64(both.results[0].points[0].data));
  const column = expected.captured[0]!.values.filter((_, i) => i % width === 0);
  assert(Math.abs(mean! - column.reduce((a, b) => a + b) / tokens.length) < 1e-5);
});

Deno.test("a file of safetensors has the same values", async () => {
  const [json, file] = await Promise.all([post({}), post({ format: "safetensors" })]);
  const { results: [{ points, tokens }] } = await json.json();
  const bytes = await file.bytes();
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  assertEquals(length % 8, 0);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  assertEquals(Object.keys(header), [
    "tokens",
    "positions",
    ...points.map((p: { point: string }) => p.point),
  ]);
  const dataOf = (name: string) => {
    const [from, to] = header[name].data_offsets;
    return bytes.slice(8 + length + from, 8 + length + to);
  };
  assertEquals(Array.from(new BigInt64Array(dataOf("tokens").buffer), Number), tokens);
  for (const { point, shape, data } of points) {
    assertEquals([header[point].dtype, header[point].shape], ["F32", shape]);
    assertEquals(dataOf(point).toBase64(), data);
  }
});

const hasPython = await new Deno.Command("python3", { args: ["--version"] }).output()
  .then(() => true, () => false);
const numpyTest = "a file of numpy is a zip whose records and checksums are right";
Deno.test({ name: numpyTest, ignore: !hasPython }, async () => {
  const { results: [{ points }] } = await (await post({})).json();
  const response = await post({ format: "npz" });
  assertStringIncludes(response.headers.get("content-disposition")!, 'filename="capture.npz"');
  const folder = await Deno.makeTempDir();
  await Deno.writeFile(`${folder}/capture.npz`, await response.bytes());
  // Python's own reader of zips, which checks the sums; numpy reads the arrays by it.
  const script = `import sys, zipfile, json
z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None
print(json.dumps([[n, z.read(n)[:10].hex(), z.read(n)[10:].hex()] for n in z.namelist()]))`;
  const { stdout, success } = await new Deno.Command("python3", {
    args: ["-c", script, `${folder}/capture.npz`],
  }).output();
  await Deno.remove(folder, { recursive: true });
  assert(success);
  const entries: [string, string, string][] = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals(entries.map(([name]) => name), [
    ...["tokens.npy", "positions.npy"],
    ...points.map(({ point }: { point: string }) => `${point}.npy`),
  ]);
  for (const [i, { shape, data }] of points.entries()) {
    const [, magic, rest] = entries[2 + i]!;
    assertEquals(magic.slice(0, 16), "934e554d50590100");
    const header = parseInt(magic.slice(18, 20) + magic.slice(16, 18), 16);
    const text = new TextDecoder().decode(Uint8Array.fromHex(rest.slice(0, 2 * header)));
    assertEquals((10 + header) % 64, 0);
    const sizes = shape.map((size: number) => `${size},`).join(" ");
    assertEquals(text.trim(), `{'descr': '<f4', 'fortran_order': False, 'shape': (${sizes}), }`);
    assertEquals(Uint8Array.fromHex(rest.slice(2 * header)).toBase64(), data);
  }
});

/** A Python that has numpy and safetensors; QUERN_PYTHON names one, as of a virtual environment. */
const python = Deno.env.get("QUERN_PYTHON") ?? "python3";
const hasNumpy = await new Deno.Command(python, { args: ["-c", "import numpy, safetensors"] })
  .output().then(({ success }) => success, () => false);

/** Compares arrays of files with raw ones, bit by bit, and prints how many numbers are equal. */
const COMPARISON = `
import json, sys, numpy, safetensors.numpy
folder = sys.argv[1]
expected = json.load(open(f"{folder}/expected.json"))
files = [numpy.load(f"{folder}/capture.npz"), safetensors.numpy.load_file(f"{folder}/capture.safetensors")]
count = 0
for arrays in files:
    assert set(arrays) == {"tokens", "positions", *(point["point"] for point in expected["points"])}
    assert arrays["tokens"].tolist() == expected["tokens"]
    for at, point in enumerate(expected["points"]):
        raw = numpy.fromfile(f"{folder}/{at}.f32", "<f4").reshape(point["shape"])
        array = arrays[point["point"]]
        assert array.dtype == numpy.float32 and array.shape == raw.shape, point
        assert numpy.array_equal(array.view(numpy.uint32), raw.view(numpy.uint32)), point
        count += array.size
print(count)
`;

const arraysTest = "numpy reads the arrays of the library from both kinds of files";
Deno.test({ name: arraysTest, ignore: !hasNumpy }, async () => {
  await using local = await loadModel(BOX_MODEL.path, { ...tinyLoad, contextLength: 1024 });
  const capture = [
    ...["embedding", "residual.post[*]", "attention.pattern[1]", "attention.z[0]"],
    ...["attention.keys[*]", "mlp.hidden[2]", "logits"],
  ];
  const { captured, tokens } = await local.run({ prompt, capture });
  const folder = await Deno.makeTempDir();
  const points = captured.map(({ point, shape }) => ({ point, shape }));
  await Deno.writeTextFile(`${folder}/expected.json`, JSON.stringify({ tokens, points }));
  for (const [at, { values }] of captured.entries()) {
    await Deno.writeFile(`${folder}/${at}.f32`, new Uint8Array(values.slice().buffer));
  }
  for (const format of ["npz", "safetensors"]) {
    const response = await post({ points: capture, format });
    await Deno.writeFile(`${folder}/capture.${format}`, await response.bytes());
  }
  const { stdout, stderr, success } = await new Deno.Command(python, {
    args: ["-c", COMPARISON, folder],
  }).output();
  await Deno.remove(folder, { recursive: true });
  assert(success, new TextDecoder().decode(stderr));
  const count = captured.reduce((sum, { values }) => sum + values.length, 0);
  assertEquals(Number(new TextDecoder().decode(stdout)), 2 * count);
});

Deno.test("wrong bodies are refused by the member at fault", async () => {
  const cases: [object, string][] = [
    [{ points: [] }, "points: none is named"],
    [{ points: ["residual"] }, 'Cannot find the point "residual"'],
    [{ points: ["residual.post[99]"] }, "layers are 0 to"],
    [{ prompt: null }, "prompt: there is none"],
    [{ prompts: ["a"] }, "prompts: there is prompt as well"],
    [{ prompt: [99999999] }, "99999999"],
    [{ positions: "first" }, "positions"],
    [{ pooling: "mean" }, "pooling: rows of attention.pattern[1] cannot be added up"],
    [{ pooling: "last", positions: [0] }, "pooling: last is one position"],
    [{ changes: [{ scale: 1 }] }, "point"],
    [{ changes: [{ point: "logits", add: [1] }] }, "it got 1 values"],
    [{ format: "csv" }, "format"],
    [{ layers: [1] }, "layers"],
  ];
  for (const [body, message] of cases) {
    const response = await post(body);
    assertEquals(response.status, 400, JSON.stringify(body));
    assertStringIncludes((await response.json()).error, message);
  }
});

Deno.test("files of a long prompt are written in steps, and equal what the library keeps", async () => {
  await using local = await loadModel(BOX_MODEL.path, { ...tinyLoad, contextLength: 1024 });
  const { prefillChunk = 512 } = tinyLoad;
  const prompt = Array.from({ length: prefillChunk + 88 }, (_, i) => 40 + i * 7 % 200);
  const points = ["residual.post[*]", "attention.pattern[1]", "attention.keys[0]", "mlp.out[2]"];
  for (const positions of [undefined, [0, 3, prompt.length - 1]] as const) {
    const expected = await local.run({
      prompt,
      capture: points,
      ...positions && { positions },
    });
    const response = await post({
      prompt,
      points,
      positions: positions ?? null,
      format: "safetensors",
    });
    assertEquals(response.status, 200);
    const bytes = await response.bytes();
    const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
    for (const { point, shape, values } of expected.captured) {
      const { data_offsets: [from, to], shape: told } = header[point];
      assertEquals(told, shape);
      const own = new Float32Array(bytes.slice(8 + length + from, 8 + length + to).buffer);
      assertEquals(own.findIndex((value, i) => value !== values[i]), -1, point);
      assertEquals(own.length, values.length);
    }
  }
});

Deno.test("a capture gives shapes first, and then no more than a step's values at a time", async () => {
  await using local = await loadModel(BOX_MODEL.path, {
    ...tinyLoad,
    contextLength: 1024,
    prefillChunk: 32,
  });
  const prompt = Array.from({ length: 100 }, (_, i) => 40 + i * 7 % 200);
  const capture = ["residual.post[*]", "attention.pattern[0]"];
  const { captured, tokens } = await local.run({ prompt, capture });
  let largest = 0;
  const sums = captured.map(() => 0);
  for await (const event of local.capture({ prompt, capture })) {
    if (event.type === "begin") {
      assertEquals(event.tokens, tokens);
      assertEquals(event.points, captured.map(({ values: _, ...point }) => point));
      continue;
    }
    largest = Math.max(largest, event.captured.positions.length);
    sums[event.index]! += event.captured.values.reduce((sum, value) => sum + value, 0);
  }
  assert(largest < 100, `${largest}`);
  for (const [i, { values }] of captured.entries()) {
    const sum = values.reduce((sum, value) => sum + value, 0);
    assert(Math.abs(sums[i]! - sum) <= 1e-3 * Math.max(1, Math.abs(sum)));
  }
  // Whoever stops ends the run, and the model goes on.
  for await (const _ of local.capture({ prompt, capture })) break;
  let count = 0;
  for await (const _ of local.capture({ prompt, capture })) if (count++ === 2) break;
  assertEquals((await local.run({ prompt, capture })).captured.length, captured.length);
});
