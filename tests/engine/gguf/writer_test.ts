// The writer and the tensor reader against each other, with data whose every byte is known.
// The format itself is checked in read_gguf_test.ts and oracle_test.ts.

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { GgufError } from "../../../engine/errors.ts";
import {
  type GgufFile,
  readGguf,
  TensorReader,
  type WritableMetadata,
  type WritableTensor,
  writeGguf,
} from "../../../engine/gguf/mod.ts";

/** `length` bytes that differ from their neighbours. */
function pattern(length: number, seed: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 7 + seed) & 0xff);
}

const METADATA: WritableMetadata = {
  "general.architecture": "llama",
  "general.alignment": { uint32: 128 },
  "a.float": { float32: 0.25 },
  "a.long": { uint64: 2n ** 63n },
  "a.flag": true,
  "a.strings": ["<|im_start|>", "Ġ"],
  "a.none": [],
  "a.flags": [false, true],
  "a.floats": Float32Array.of(1, -2.5),
};

const DATA = { first: pattern(34 * 10, 1), second: pattern(40, 2), third: pattern(144 * 6, 3) };

const TENSORS: WritableTensor[] = [
  { name: "first", shape: [64, 5], type: "Q8_0", data: () => [DATA.first] },
  { name: "second", shape: [10], type: "F32", data: () => [DATA.second] },
  {
    name: "third",
    shape: [256, 3, 2],
    type: "Q4_K",
    data: () => [DATA.third.subarray(0, 100), DATA.third.subarray(100)],
  },
];

async function withFile(
  tensors: WritableTensor[],
  run: (file: GgufFile) => Promise<void>,
): Promise<void> {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeGguf(path, METADATA, tensors);
    await run(await readGguf(path));
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("writeGguf() writes what readGguf() and TensorReader read", async () => {
  await withFile(TENSORS, async (file) => {
    assertEquals({ ...file.metadata }, {
      "general.architecture": "llama",
      "general.alignment": 128,
      "a.float": 0.25,
      "a.long": 2n ** 63n,
      "a.flag": true,
      "a.strings": ["<|im_start|>", "Ġ"],
      "a.none": [],
      "a.flags": [false, true],
      "a.floats": Float32Array.of(1, -2.5),
    });
    assertEquals([...file.tensors.keys()], ["first", "second", "third"]);
    using reader = await TensorReader.open(file);
    for (const [name, data] of Object.entries(DATA)) {
      const [chunk, ...rest] = reader.chunks(file.tensors.get(name)!);
      assertEquals([chunk.offset, chunk.bytes, rest.length], [0, data, 0]);
    }
  });
});

Deno.test("writeGguf() refuses data, rows and types that do not fit", async () => {
  const defects: [Partial<WritableTensor>, string][] = [
    [{ data: () => [new Uint8Array(39)] }, "it has 39 bytes, its shape 40"],
    [{ type: "Q8_0" }, "not whole blocks"],
    [{ type: "Q9" }, "unknown type Q9"],
  ];
  for (const [defect, message] of defects) {
    const tensors = [{ ...TENSORS[1], ...defect }];
    await assertRejects(() => withFile(tensors, () => Promise.resolve()), RangeError, message);
  }
});

Deno.test("TensorReader gives whole blocks, any range, and no more than the tensor", async () => {
  await withFile(TENSORS, async (file) => {
    const tensor = file.tensors.get("third")!;
    using reader = await TensorReader.open(file, 300);
    const chunks = [...reader.chunks(tensor)].map(({ offset }) => offset);
    assertEquals(chunks, [0, 288, 576]);

    const joined: number[] = [];
    for (const { bytes } of reader.chunks(tensor, 144, 800)) joined.push(...bytes);
    assertEquals(Uint8Array.from(joined), DATA.third.subarray(144, 800));

    const target = new Uint8Array(10);
    reader.read(tensor, 500, target);
    assertEquals(target, DATA.third.subarray(500, 510));

    assertThrows(() => reader.read(tensor, 144 * 6 - 9, target), RangeError, "not within its 864");
    assertThrows(() => reader.read(tensor, -1, target), RangeError);
    using small = await TensorReader.open(file, 100);
    assertThrows(() => [...small.chunks(tensor)], RangeError, "below one unit of 144");
  });
});

Deno.test("TensorReader raises GgufError if the file became shorter", async () => {
  await withFile(TENSORS, async (file) => {
    await Deno.truncate(file.path, file.fileSize - 200);
    using reader = await TensorReader.open(file);
    const tensor = file.tensors.get("third")!;
    const error = assertThrows(() => [...reader.chunks(tensor)], GgufError, "shorter");
    assertEquals(error.field, 'tensor "third"');
  });
});
