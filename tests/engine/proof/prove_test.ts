// The proof of devices that lie as drivers do, each of which has to be caught, and of those that do not.

import { assert, assertEquals } from "@std/assert";
import { conformanceTest, DATA, namesIn } from "../../conformance/logits.ts";
import { share } from "../../share.ts";
import { faultsOf, tinyFaults } from "./faults.ts";
import { type Lie, lyingDevice } from "./lying_device.ts";

let reads = 0;
let before = new ArrayBuffer(0);

/** Lies, and what has to be named of them. */
const LIES: [name: string, lie: Lie, named: RegExp][] = [
  [
    "a sum over a subgroup that leaves out one of 32 lanes, in norms",
    {
      spoil: {
        norm: ({ rows }) => rows.forEach((row) => scale(row, Math.sqrt(32 / 31))),
      },
    },
    /^norm \(hidden output\), 5 rows$/,
  ],
  [
    "a sum over a subgroup that leaves out one of 32 lanes, in products",
    { spoil: { linear: ({ rows }) => rows.forEach((row) => row[row.length - 1]! *= 31 / 32) } },
    /^linear Q8_0 of layer 0 \(residual\), 5 rows$/,
  ],
  [
    "a store that is lost, of the last value of the last row",
    { spoil: { linear: ({ rows }) => void (rows.at(-1)![rows.at(-1)!.length - 1] = 0) } },
    /^linear Q8_0 of layer 0/,
  ],
  [
    "halves that overflow",
    {
      spoil: {
        attention: ({ rows }) => rows.forEach((row) => overflow(row)),
        activate: ({ rows }) => rows.forEach((row) => overflow(row)),
        linear: ({ rows }) => rows.forEach((row) => overflow(row)),
      },
    },
    /^linear Q8_0 of layer 0/,
  ],
  [
    "a product that is wrong for three rows alone",
    { spoil: { linear: ({ rows }) => rows.length === 3 && scale(rows[1]!, 1.02) } },
    /^linear Q8_0 of layer 0 \(qkv\), 3 rows$/,
  ],
  [
    "a product that is wrong for many rows alone",
    { spoil: { linear: ({ rows }) => rows.length >= 64 && rows[63]!.fill(0) } },
    /^linear Q8_0 of layer 0 \(qkv\), 68 rows$/,
  ],
  [
    "a read that now and then gives what was there before",
    { read: (bytes) => ++reads % 5 === 0 ? withBytes(bytes, before) : (before = bytes) },
    /./,
  ],
  [
    "logits that are wrong in a step of one row",
    {
      spoil: {
        linear: ({ rows }) => rows[0]!.length > 256 && rows.length === 1 && rows[0]!.reverse(),
      },
    },
    /^linear Q8_0 \(logits\), 1 row$/,
  ],
  [
    "a choice of tokens that ignores masks and the best",
    { sample: (tokens) => tokens.forEach((token, i) => tokens[i] = token + 1) },
    /^the choice of a token by a mask$/,
  ],
];

/** Bytes whose beginning is that of others. */
function withBytes(bytes: ArrayBuffer, others: ArrayBuffer): ArrayBuffer {
  const copy = new Uint8Array(bytes.slice());
  copy.set(new Uint8Array(others).subarray(0, copy.length));
  return copy.buffer;
}

function scale(row: Float32Array, factor: number): void {
  row.forEach((value, i) => row[i] = factor * value);
}

/** What is greater than three times the mean is too much. */
function overflow(row: Float32Array): void {
  const mean = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0) / row.length);
  row.forEach((value, i) => Math.abs(value) > 2 * mean && (row[i] = Infinity));
}

for (const [name, lie, named] of LIES) {
  Deno.test(`a device is caught by ${name}`, async () => {
    const faults = await tinyFaults(() => lyingDevice(lie));
    assert(faults.length > 0, "nothing was found");
    assert(named.test(faults[0]!.what), JSON.stringify(faults.slice(0, 3)));
  });
}

/** More tokens than the CPU compares. */
const MANY_TOKENS = 3000;

Deno.test("a device is caught by logits of the last tokens of many, and by a middle embedding", async () => {
  for (
    const [lie, named] of [
      [
        {
          linear: ({ rows }) =>
            rows.forEach((row) => row.length === MANY_TOKENS && row.fill(0, -9)),
        },
        /^linear Q8_0 \(logits\), 5 rows$/,
      ],
      [
        { embed: ({ rows }) => rows.length === 68 && rows[40]!.reverse() },
        /^embed Q8_0 \(residual\)/,
      ],
      [{}, undefined],
    ] satisfies [Lie["spoil"], RegExp | undefined][]
  ) {
    const sizes = { layers: 1, vocabulary: MANY_TOKENS };
    const [fault] = await tinyFaults(() => lyingDevice({ spoil: lie }), "Q8_0", sizes);
    if (named) assert(fault && named.test(fault.what), JSON.stringify(fault));
    else assertEquals(fault, undefined);
  }
});

for (const type of ["F32", "F16", "Q8_0", "Q4_K"]) {
  Deno.test(`a device that does not lie is not refused for a model in ${type}`, async () => {
    assertEquals(await tinyFaults(() => lyingDevice({}), type), []);
  });
}

conformanceTest("a device can be proved by a model of every architecture", async () => {
  const names = await namesIn("architectures");
  const step = share(9, 1);
  for (const name of names.filter((_, i) => i % step === 0)) {
    assertEquals(
      await faultsOf(new URL(`architectures/${name}.gguf`, DATA), () => lyingDevice({})),
      [],
      name,
    );
  }
});
