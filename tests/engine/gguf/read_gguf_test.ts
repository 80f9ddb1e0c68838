// Sound headers read to the last value, and one test for each way in which a header can be wrong.
// Expectations follow from the GGUF specification (docs/gguf.md of the ggml project).

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { GgufError } from "../../../engine/errors.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { type Entry, header, readBytes, soundFile, withTensors } from "./bytes.ts";

Deno.test("readGguf() reads a value of every type and the tensor table", async () => {
  const bytes = soundFile();
  const file = await readBytes(bytes);
  assertEquals(file.version, 3);
  assertEquals(file.alignment, 64);
  assertEquals(file.fileSize, bytes.length);
  assertEquals(file.dataOffset, bytes.length - 130);
  assertEquals({ ...file.metadata }, {
    "general.architecture": "llama",
    "general.alignment": 64,
    "a.float": 0.5,
    "a.long": 2n ** 60n,
    "a.flag": true,
    "a.numbers": Int32Array.of(-1, 0, 7),
    "a.strings": ["Ġa", "", "日本🙂"],
    "a.nested": [[true, false], ["x"]],
  });
  const at = file.dataOffset;
  assertEquals([...file.tensors.values()], [
    { name: "one", shape: [8], type: 0, typeName: "F32", shard: 0, offset: at, byteLength: 32 },
    {
      name: "two",
      shape: [32, 2],
      type: 2,
      typeName: "Q4_0",
      shard: 0,
      offset: at + 64,
      byteLength: 36,
    },
    {
      name: "three",
      shape: [],
      type: 1,
      typeName: "F16",
      shard: 0,
      offset: at + 128,
      byteLength: 2,
    },
  ]);
});

Deno.test("readGguf() pauses, so that a large header keeps nobody waiting", async () => {
  const count = 400_000;
  const bytes = withZeros(
    header(0, 1).string("k").uint32(9).uint32(8).uint64(count).bytes,
    8 * count,
  );
  let pauses = 0;
  const timer = setInterval(() => pauses++, 1);
  const { metadata } = await readBytes(bytes);
  clearInterval(timer);
  assertEquals((metadata.k as string[]).length, count);
  assertEquals(pauses > 1, true);
});

/** A file whose header goes on with zeros. */
function withZeros(head: Uint8Array, count: number): Uint8Array {
  const bytes = new Uint8Array(head.length + count);
  bytes.set(head);
  return bytes;
}

Deno.test("readGguf() reads version 2 and takes a file URL", async () => {
  const path = await Deno.makeTempFile();
  await Deno.writeFile(path, header(0, 1, 2).string("k").uint32(1).number("int8", -3).bytes);
  const file = await readGguf(new URL(`file://${path}`));
  await Deno.remove(path);
  assertEquals([file.version, file.path, file.metadata["k"]], [2, path, -3]);
});

Deno.test("readGguf() reads numbers of each type to their limits", async () => {
  const bytes = header(0, 10)
    .string("u8").uint32(0).number("uint8", 255).string("i8").uint32(1).number("int8", -128)
    .string("u16").uint32(2).number("uint16", 65535)
    .string("i16").uint32(3).number("int16", -32768)
    .string("u32").uint32(4).uint32(2 ** 32 - 1)
    .string("i32").uint32(5).number("int32", -(2 ** 31))
    .string("u64").uint32(10).uint64(2n ** 64n - 1n)
    .string("i64").uint32(11).number("int64", -(2n ** 63n))
    .string("small").uint32(11).number("int64", -5)
    .string("f64").uint32(12).number("float64", 1e300).bytes;
  assertEquals({ ...(await readBytes(bytes)).metadata }, {
    u8: 255,
    i8: -128,
    u16: 65535,
    i16: -32768,
    u32: 2 ** 32 - 1,
    i32: -(2 ** 31),
    u64: 2n ** 64n - 1n,
    i64: -(2n ** 63n),
    small: -5,
    f64: 1e300,
  });
});

Deno.test("readGguf() reads arrays and strings larger than its window", async () => {
  const numbers = Float64Array.from({ length: 300_000 }, (_, index) => index / 3);
  const strings = Array.from({ length: 60_000 }, (_, index) => `Ġpiece${index}ø`.repeat(3));
  const long = "é".repeat(900_000);
  const bytes = header(0, 3).string("numbers").uint32(9).uint32(12).uint64(numbers.length)
    .numbers(numbers).string("long").uint32(8).string(long)
    .string("strings").uint32(9).uint32(8).uint64(strings.length);
  for (const text of strings) bytes.string(text);
  const { metadata } = await readBytes(bytes.bytes);
  assertEquals(metadata["numbers"], numbers);
  assertEquals(metadata["long"], long);
  assertEquals(metadata["strings"], strings);
});

Deno.test("readGguf() decodes strings leniently, each on its own", async () => {
  const parts = [[0xc4], [0xa0, 0x41], [0], [0x61, 0, 0xff], [0xef, 0xbb, 0xbf], []];
  const bytes = header(0, 1).string("k").uint32(9).uint32(8).uint64(parts.length);
  for (const part of parts) bytes.uint64(part.length).append(Uint8Array.from(part));
  const { metadata } = await readBytes(bytes.bytes);
  assertEquals(metadata["k"], ["\ufffd", "\ufffdA", "\0", "a\0\ufffd", "\ufeff", ""]);
});

Deno.test("readGguf() takes __proto__ for a key like any other", async () => {
  const { metadata } = await readBytes(
    header(0, 1).string("__proto__").uint32(8).string("x").bytes,
  );
  assertEquals(Object.keys(metadata), ["__proto__"]);
  assertEquals(metadata["__proto__"], "x");
});

/** A header with one key "k", whose value `build` appends. */
function pair(build: (value: ReturnType<typeof header>) => void): Uint8Array {
  const builder = header(0, 1).string("k");
  build(builder);
  return builder.bytes;
}

function alignment(value: number): Uint8Array {
  return header(0, 1).string("general.alignment").uint32(4).uint32(value).bytes;
}

function nested(depth: number): Uint8Array {
  return pair((value) => {
    value.uint32(9);
    for (let level = 1; level < depth; level++) value.uint32(9).uint64(1);
    value.uint32(0).uint64(0);
  });
}

function tensors(...entries: Entry[]): Uint8Array {
  return withTensors(entries, 64);
}

const DEFECTS: [name: string, bytes: Uint8Array, field: string, state: string][] = [
  ["an empty file", new Uint8Array(0), "magic", "4 bytes are needed"],
  ["a bad magic", new TextEncoder().encode("ggjt0000"), "magic", 'is not "GGUF"'],
  ["version 1", header(0, 0, 1).bytes, "version", "1 is not supported"],
  ["version 4", header(0, 0, 4).bytes, "version", "4 is not supported"],
  ["a big-endian file", header(0, 0, 3 << 24).bytes, "version", "big-endian"],
  ["a tensor count above the file", header(9, 0).bytes, "tensor count", "bytes are needed"],
  [
    "40,000 tensors",
    withZeros(header(40_000, 0).bytes, 24 * 40_000),
    "tensor count",
    "above 32768",
  ],
  ["20,000 keys", withZeros(header(0, 20_000).bytes, 13 * 20_000), "metadata count", "above 16384"],
  [
    "five million empty arrays",
    withZeros(header(0, 1).string("k").uint32(9).uint32(9).uint64(5_000_000).bytes, 60_000_000),
    "k",
    "the arrays of the header have more than 4194304 values",
  ],
  ["a tensor count of 2^64 - 1", header(2n ** 64n - 1n, 0).bytes, "tensor count", "out of range"],
  ["a tensor count of 2^40", header(2n ** 40n, 0).bytes, "tensor count", "is above"],
  ["a metadata count above the file", header(0, 9).bytes, "metadata count", "bytes are needed"],
  ["a key longer than the file", header(0, 1).uint64(99).uint64(0).bytes, "metadata key 0", "99"],
  [
    "a key of 2^63 bytes",
    header(0, 1).uint64(2n ** 63n).uint64(0).bytes,
    "metadata key 0",
    "range",
  ],
  ["an unknown value type", pair((value) => value.uint32(13).uint64(0)), "k", "type 13"],
  [
    "a string longer than the file",
    pair((value) => value.uint32(8).uint64(5).uint32(0)),
    "k",
    "5 bytes are needed",
  ],
  ["a string of 2^40 bytes", pair((value) => value.uint32(8).uint64(2n ** 40n)), "k", "is above"],
  ["a boolean of 2", pair((value) => value.uint32(7).number("uint8", 2)), "k", "not a boolean"],
  [
    "an array of an unknown type",
    pair((value) => value.uint32(9).uint32(77).uint64(0)),
    "k",
    "type 77",
  ],
  [
    "an array longer than the file",
    pair((value) => value.uint32(9).uint32(6).uint64(1000)),
    "k",
    "4000 bytes are needed",
  ],
  [
    "an array of 2^40 strings",
    pair((value) => value.uint32(9).uint32(8).uint64(2n ** 40n)),
    "k",
    "is above",
  ],
  ["arrays nested 5 deep", nested(5), "k", "nested over 4"],
  [
    "a key that occurs twice",
    header(0, 2).string("k").uint32(0).number("uint8", 1).string("k").uint32(0)
      .number("uint8", 1).bytes,
    "k",
    "twice",
  ],
  ["an alignment of zero", alignment(0), "general.alignment", "0 is not a power of two"],
  ["an alignment of 48", alignment(48), "general.alignment", "48 is not a power of two"],
  [
    "an alignment that is a string",
    header(0, 1).string("general.alignment").uint32(8).string("32").bytes,
    "general.alignment",
    "is not a whole number",
  ],
  ["an unknown tensor type", tensors({ type: 99 }), 'tensor "t"', "unknown tensor type 99"],
  ["a removed tensor type", tensors({ type: 31 }), 'tensor "t"', "unknown tensor type 31"],
  ["five dimensions", tensors({ shape: [1, 1, 1, 1, 1] }), 'tensor "t"', "5 dimensions"],
  ["a dimension of zero", tensors({ shape: [8, 0] }), 'tensor "t"', "dimension 1 is zero"],
  ["a negative dimension", tensors({ shape: [2n ** 64n - 8n] }), 'tensor "t"', "out of range"],
  [
    "dimensions whose product overflows",
    tensors({ shape: [2n ** 40n, 2n ** 40n] }),
    'tensor "t"',
    "is too large",
  ],
  ["a row of part of a block", tensors({ shape: [48], type: 8 }), 'tensor "t"', "blocks of 32"],
  ["a misaligned offset", tensors({ offset: 8 }), 'tensor "t"', "not a multiple of 32"],
  ["a tensor past the end", tensors({ shape: [17] }), 'tensor "t"', "pass the end"],
  ["an offset past the end", tensors({ offset: 2n ** 50n }), 'tensor "t"', "pass the end"],
  ["an offset of 2^63", tensors({ offset: 2n ** 63n }), 'tensor "t"', "out of range"],
  ["a tensor name that occurs twice", tensors({}, { offset: 32 }), 'tensor "t"', "twice"],
  [
    "overlapping tensors",
    tensors({ name: "b", offset: 32 }, { name: "a", shape: [9] }),
    'tensor "b"',
    'overlaps tensor "a"',
  ],
];

for (const [name, bytes, field, state] of DEFECTS) {
  Deno.test(`readGguf() rejects ${name}`, async () => {
    const error = await assertRejects(() => readBytes(bytes), GgufError);
    assertEquals(error.field, field);
    assertStringIncludes(error.message, state);
    assertStringIncludes(error.message, error.file);
  });
}

Deno.test("readGguf() takes what is one step away from a defect", async () => {
  await readBytes(alignment(64));
  await readBytes(nested(4));
  await readBytes(tensors({ shape: [16] }));
  await readBytes(tensors({ name: "b", offset: 32 }, { name: "a", shape: [8] }));
});

Deno.test("readGguf() leaves a missing file to Deno's own error", async () => {
  await assertRejects(() => readGguf("no/such/file.gguf"), Deno.errors.NotFound);
});
