// Split models: their shards read as one file, byte for byte, and one test for each way in which
// a set of shards can be incomplete or not belong together.

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { GgufError } from "../../../engine/errors.ts";
import {
  type GgufFile,
  parseShardName,
  readGguf,
  shardPath,
  TensorReader,
  type WritableMetadata,
  writeGguf,
} from "../../../engine/gguf/mod.ts";
import { describeModel } from "../../../engine/load/inspect.ts";

/** What a shard says of itself, and the names of its tensors. */
interface Shard {
  no?: number;
  count?: number;
  total?: number;
  tensors?: string[];
  metadata?: WritableMetadata;
}

/** Three shards as they should be; the second is aligned to 64, whatever the first is. */
const SOUND: Record<string, Shard> = {
  "m-00001-of-00003.gguf": { no: 0, tensors: ["a"], metadata: { "general.architecture": "llama" } },
  "m-00002-of-00003.gguf": {
    no: 1,
    tensors: ["b", "c"],
    metadata: { "general.alignment": { uint32: 64 } },
  },
  "m-00003-of-00003.gguf": { no: 2, tensors: ["d"] },
};

/** The four values of a tensor: what its name says, so that each differs. */
function valuesOf(name: string): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: 4 }, (_, index) => name.charCodeAt(0) + index / 8);
}

/** Runs with a folder of shards, written by writeGguf(). */
async function withShards(
  shards: Record<string, Shard>,
  test: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [file, { no, count = 3, total = 4, tensors = [], metadata }] of entries(shards)) {
      const split: WritableMetadata = no === undefined ? {} : {
        "split.no": { uint16: no },
        "split.count": { uint16: count },
        "split.tensors.count": { int32: total },
      };
      const written = tensors.map((name) => ({
        name,
        shape: [4],
        type: "F32",
        data: () => [new Uint8Array(valuesOf(name).buffer)],
      }));
      await writeGguf(`${folder}/${file}`, { ...metadata, ...split }, written);
    }
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const entries = Object.entries<Shard>;

/** The bytes of every tensor by its name. */
async function contents(gguf: GgufFile): Promise<Map<string, Uint8Array>> {
  using reader = await TensorReader.open(gguf);
  return new Map(
    Array.from(gguf.tensors.values(), (tensor) => {
      const bytes = new Uint8Array(tensor.byteLength);
      reader.read(tensor, 0, bytes);
      return [tensor.name, bytes];
    }),
  );
}

Deno.test("parseShardName() and shardPath() take names apart and put them together", () => {
  const name = parseShardName("models/a-1-00012-of-00300.GGUF")!;
  assertEquals(name, { base: "models/a-1", number: 12, count: 300, extension: ".GGUF" });
  assertEquals(shardPath(name, 12), "models/a-1-00012-of-00300.GGUF");
  for (const other of ["m.gguf", "m-1-of-3.gguf", "-00001-of-00003.gguf", "m-00001-of-00003"]) {
    assertEquals(parseShardName(other), undefined, other);
  }
});

Deno.test("readGguf() reads the shards of a model as one file", async () => {
  await withShards(SOUND, async (folder) => {
    const gguf = await readGguf(`${folder}/m-00001-of-00003.gguf`);
    const sizes = Object.keys(SOUND).map((file) => Deno.statSync(`${folder}/${file}`).size);
    assertEquals(gguf.fileSize, sizes[0] + sizes[1] + sizes[2]);
    assertEquals(gguf.shards, Object.keys(SOUND).map((file) => `${folder}/${file}`));
    assertEquals([...gguf.tensors.values()].map(({ name, shard }) => [name, shard]), [
      ["a", 0],
      ["b", 1],
      ["c", 1],
      ["d", 2],
    ]);
    for (const [name, bytes] of await contents(gguf)) {
      assertEquals(new Float32Array(bytes.buffer), valuesOf(name), name);
    }
    const { fileSize, parameterCount } = describeModel(gguf);
    assertEquals([fileSize, parameterCount], [gguf.fileSize, 16]);
  });
});

Deno.test("readGguf() takes a first shard that holds metadata only", async () => {
  const shards = {
    "m-00001-of-00002.gguf": { no: 0, count: 2, total: 1 },
    "m-00002-of-00002.gguf": { no: 1, count: 2, total: 1, tensors: ["a"] },
  };
  await withShards(shards, async (folder) => {
    const gguf = await readGguf(`${folder}/m-00001-of-00002.gguf`);
    assertEquals(gguf.tensors.get("a")?.shard, 1);
  });
});

Deno.test("readGguf() takes a file that is split in one for whole, whatever its name", async () => {
  const shard = { no: 0, count: 1, total: 1, tensors: ["a"] };
  await withShards({ "m-00001-of-00001.gguf": shard, "other.gguf": shard }, async (folder) => {
    for (const file of ["m-00001-of-00001.gguf", "other.gguf"]) {
      assertEquals((await readGguf(`${folder}/${file}`)).shards, [`${folder}/${file}`]);
    }
  });
});

const [FIRST, SECOND, THIRD] = Object.keys(SOUND);

/** What is changed, the file opened, the file and field at fault, and parts of the message. */
const DEFECTS: [
  name: string,
  change: Record<string, Shard | undefined>,
  opened: string,
  at: [file: string, field: string],
  parts: string[],
][] = [
  ["a missing shard", { [SECOND]: undefined }, FIRST, [FIRST, "split.count"], [
    "1 of its 3 shards",
    SECOND,
  ]],
  [
    "two missing shards",
    { [SECOND]: undefined, [THIRD]: undefined },
    FIRST,
    [FIRST, "split.count"],
    ["2 of its 3 shards", `fetch from where this file came: ${SECOND}, ${THIRD}`],
  ],
  ["another shard than the first", {}, SECOND, [SECOND, "split.no"], [
    "shard 2 of 3: open the first,",
    FIRST,
  ]],
  [
    "another shard under the name of the first",
    { [FIRST]: SOUND[SECOND] },
    FIRST,
    [FIRST, "split.no"],
    ["1, but shard 1 of 3 has 0"],
  ],
  ["a first shard under another name", { "x.gguf": SOUND[FIRST] }, "x.gguf", [
    "x.gguf",
    "split.count",
  ], ["not named as NAME-00001-of-00003.gguf"]],
  [
    "a count that its name does not have",
    { [FIRST]: { ...SOUND[FIRST], count: 2 } },
    FIRST,
    [FIRST, "split.count"],
    ["not named as NAME-00001-of-00002.gguf"],
  ],
  [
    "shards in another order",
    { [SECOND]: SOUND[THIRD], [THIRD]: SOUND[SECOND] },
    FIRST,
    [SECOND, "split.no"],
    ["2, but shard 2 of 3 has 1"],
  ],
  [
    "a shard of another split",
    { [THIRD]: { ...SOUND[THIRD], count: 4 } },
    FIRST,
    [THIRD, "split.count"],
    ["4, but shard 3 of 3 has 3"],
  ],
  ["a whole file among the shards", { [THIRD]: { tensors: ["d"] } }, FIRST, [THIRD, "split.no"], [
    "the key is missing",
  ]],
  [
    "fewer tensors than there should be",
    { [THIRD]: { no: 2 } },
    FIRST,
    [FIRST, "split.tensors.count"],
    ["4, but the shards have 3"],
  ],
  [
    "a tensor count that differs",
    { [SECOND]: { ...SOUND[SECOND], total: 9 } },
    FIRST,
    [SECOND, "split.tensors.count"],
    ["9, but the shards have 4"],
  ],
  [
    "a tensor that is in two shards",
    { [THIRD]: { no: 2, tensors: ["b"] } },
    FIRST,
    [THIRD, 'tensor "b"'],
    [`it is in "${SECOND}" too`],
  ],
];

for (const [name, change, opened, [file, field], parts] of DEFECTS) {
  Deno.test(`readGguf() rejects ${name}`, async () => {
    const shards = entries({ ...SOUND, ...change } as Record<string, Shard>);
    const left = Object.fromEntries(shards.filter(([, shard]) => shard !== undefined));
    await withShards(left, async (folder) => {
      const error = await assertRejects(() => readGguf(`${folder}/${opened}`), GgufError);
      assertEquals([error.file, error.field], [`${folder}/${file}`, field]);
      for (const part of parts) assertStringIncludes(error.message, part);
    });
  });
}

const shared = new URL("../../../../shared/data/models/split/", import.meta.url);
const ignore = await Deno.stat(shared).then(() => false, () => true);

Deno.test({
  name: "split files of llama.cpp have the metadata and the bytes of the whole file (shared data)",
  ignore,
  async fn() {
    const whole = await readGguf(new URL("whole.gguf", shared));
    const expected = await contents(whole);
    for (const first of ["model-00001-of-00003.gguf", "nofirst-00001-of-00004.gguf"]) {
      const split = await readGguf(new URL(first, shared));
      assertEquals(new Map([...await contents(split)].sort()), new Map([...expected].sort()));
      for (const [key, value] of Object.entries(whole.metadata)) {
        assertEquals(split.metadata[key], value, `${first}: ${key}`);
      }
      const { fileSize: _, ...facts } = describeModel(split);
      const { fileSize: __, ...expectedFacts } = describeModel(whole);
      assertEquals(facts, expectedFacts);
    }
  },
});
