// Packed records: their layout, what TypeScript packs and reads, and that WGSL finds every field where
// TypeScript put it. What reads a step's records otherwise than by their definitions fails where their
// fields have another order: the tests of operations run so again.

import { assert, assertEquals, assertThrows } from "@std/assert";
import * as records from "../../kernels/ops/step_records.ts";
import { type Fields, RecordLayout, type RecordOf } from "../../kernels/record.ts";
import { structs } from "../../kernels/webgpu/snippets.ts";
import { encodeDispatch } from "../../kernels/webgpu/kernel.ts";
import { gpuTest, readWords, submit, upload } from "../gpu.ts";
import { unpacked } from "../records.ts";
import { listSourceFiles, readSource } from "../source_files.ts";

const LAYOUTS: readonly RecordLayout<Fields>[] = Object.values(records);

/** A record whose values differ in every word. */
function sampleOf({ fields }: RecordLayout<Fields>, seed: number): RecordOf<Fields> {
  const values = Object.entries(fields).map(([field, type], i) => {
    const value = 1000 * seed + 10 * i;
    return [
      field,
      type === "u64" ? BigInt(value) << 32n | 7n : type === "f32" ? value + 0.5 : value,
    ];
  });
  return Object.fromEntries(values);
}

Deno.test("a record has one word, two, or whole vectors of four", () => {
  const wordsOf = (count: number) =>
    new RecordLayout(
      "Some",
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, "u32"])) as Fields,
    ).words;
  assertEquals([1, 2, 3, 4, 5, 8, 9].map(wordsOf), [1, 2, 4, 4, 8, 8, 12]);
  assertEquals(new RecordLayout("Some", { a: "u32" }, 4).bytes, 16);
  assertThrows(() => new RecordLayout("Some", { a: "u32", b: "u64" }), RangeError, "Some: b");
});

Deno.test("records are packed one after the other, and read back", () => {
  for (const layout of LAYOUTS) {
    const samples = [1, 2, 3].map((seed) => sampleOf(layout, seed));
    const list = layout.list(1);
    for (const sample of samples) list.add(sample);
    assertEquals(list.count, 3);
    assertEquals(list.packed, layout.pack(samples));
    assertEquals(list.packed.length, 3 * layout.words);
    assertEquals(unpacked(layout, list.packed), samples);
    layout.write(list.packed, 1, samples[0]!);
    assertEquals(unpacked(layout, list.packed)[1], samples[0]);
  }
});

gpuTest("WGSL finds the fields of records where TypeScript puts them", async (device) => {
  for (const layout of LAYOUTS) {
    // All fields, word by word, of three records; those that a uniform buffer can hold from there too.
    const isUniform = layout.bytes % 16 === 0;
    const members = [...structs(layout).matchAll(/(\w+): (u32|f32|vec2<u32>),/g)];
    const copies = (from: string) =>
      members.flatMap(([, member, type]) =>
        type === "vec2<u32>"
          ? [`${from}.${member}.x`, `${from}.${member}.y`]
          : [`bitcast<u32>(${from}.${member})`]
      );
    const sources = isUniform ? ["a[i]", "b[i]"] : ["a[i]"];
    const words = sources.flatMap(copies);
    const kernel = device.kernel({
      name: `fields of ${layout.name}`,
      snippets: [structs(layout)],
      source: `
        @group(0) @binding(0) var<storage, read> a: array<${layout.name}>;
        ${isUniform ? `@group(0) @binding(1) var<uniform> b: array<${layout.name}, 3>;` : ""}
        @group(0) @binding(2) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3<u32>) {
          let i = id.x;
          ${words.map((word, at) => `y[${words.length}u * i + ${at}u] = ${word};`).join("\n")}
        }`,
    });
    const samples = [1, 2, 3].map((seed) => sampleOf(layout, seed));
    const packed = layout.pack(samples);
    const usage = 0x40 | 0x8; // UNIFORM | COPY_DST
    const uniform = device.buffer("uniform", packed.byteLength, "test", usage);
    device.write(uniform, 0, packed);
    const y = device.buffer("y", 4 * 3 * words.length, "test");
    const dispatch = kernel.bind({
      a: upload(device, packed),
      ...(isUniform ? { b: uniform } : {}),
      y,
    });
    submit(device, (pass) => encodeDispatch(pass, dispatch, [3]));
    const wordsOf = (record: RecordOf<Fields>) =>
      Object.entries(record).flatMap(([field, value]) =>
        typeof value === "bigint" ? [Number(value & 0xffffffffn), Number(value >> 32n)] : [
          layout.fields[field] === "f32"
            ? new Uint32Array(Float32Array.of(value).buffer)[0]
            : value,
        ]
      );
    const expected = samples.flatMap((sample) => sources.flatMap(() => wordsOf(sample)));
    assertEquals([...await readWords(device, y, expected.length)], expected, layout.name);
  }
});

Deno.test("no kernel describes a record of a step by itself", () => {
  const bindings: Record<string, string> = {
    ...{ plan: "PlanRow", rows: "StepRow", slots: "SlotToken", tiles: "QueryTile" },
    ...{ segments: "StepSegment", sampling: "Sampling" },
  };
  const names = LAYOUTS.map(({ name }) => name);
  assertEquals(Object.values(bindings).sort(), names.sort());
  const faults = listSourceFiles([".wgsl"]).flatMap((path) => {
    const text = readSource(path);
    const own = names.filter((name) => new RegExp(`struct ${name}\\b`).test(text));
    // Tiles of experts, which are no records of a step, are words.
    const typed = [...text.matchAll(/>\s*(\w+): array<(\w+)/g)].filter(([, name, type]) =>
      bindings[name] && type !== bindings[name] && type !== "u32"
    );
    return [...own, ...typed.map(([, name, type]) => `${name}: ${type}`)].map((it) =>
      `${path}: ${it}`
    );
  });
  assertEquals(faults, []);
});

/** Tests of what reads the records of a step, on the CPU. */
const READERS = [
  "embed",
  "rotate",
  "attention_options",
  "recurrent/convolution",
  "sampling/sampler",
];

/** An import map in which the records of a step have their fields in another order. */
function reorderedMap(): string {
  const url = (path: string) => new URL(path, import.meta.url).href;
  const { imports } = JSON.parse(readSource("deno.json")) as { imports: Record<string, string> };
  const absolute = Object.entries(imports).map(([name, to]) =>
    to.startsWith(".") ? [name, url(`../../${to}`)] : [name, to]
  );
  const real = url("../../kernels/ops/step_records.ts");
  const reordered = url("reordered_records.ts");
  const map = {
    imports: { ...Object.fromEntries(absolute), [real]: reordered },
    scopes: { [reordered]: { [real]: real } },
  };
  return JSON.stringify(map);
}

Deno.test({
  name: "nothing knows the order of a record's fields by heart",
  // The kernels are compiled anew for it: test:kernels has it.
  ignore: !Deno.env.has("QUERN_SWEEP"),
  async fn() {
    const folder = await Deno.makeTempDir();
    const map = `${folder}/imports.json`;
    await Deno.writeTextFile(map, reorderedMap());
    // In one file, so that one isolate loads the kernels.
    const tests = `${folder}/readers_test.ts`;
    const urls = READERS.map((name) => new URL(`${name}_test.ts`, import.meta.url).href);
    await Deno.writeTextFile(tests, urls.map((url) => `import "${url}";\n`).join(""));
    const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["test", "-A", "--no-check", "--no-lock", "--filter", "/CPU\\)?$/"],
        ...[`--import-map=${map}`, tests],
      ],
      env: { QUERN_DEVICE: "cpu" },
    }).output();
    await Deno.remove(folder, { recursive: true });
    const said = [stdout, stderr].map((text) => new TextDecoder().decode(text)).join("\n");
    assert(said.includes("records have their fields in another order"), said);
    assert(success, said);
  },
});
