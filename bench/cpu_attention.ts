// `deno task bench:attention [--threads 1] [--heads 9] [--kv-heads 3] [--size 64] [--contexts 256,4096] [--type q8_0] [--layers 1]`:
// attention of the CPU device over random keys and values: a prompt's last 256 rows, one row that
// decodes, and eight, by how many positions they see. Multiply-adds of scores and values per second,
// the best of several runs. With --layers, each has keys and values of its own, so that they come from
// memory as in a model; then one row is measured alone, with the bytes that it reads a nanosecond, beside a
// loop of one thread that only reads them.

import { cpuUsage } from "node:process";
import { parseArgs } from "node:util";
import {
  BLOCK,
  type CacheType,
  type Device,
  encodeCache,
  layerCacheBytes,
  openDevice,
  QUERY_TILE,
  STEP_ROW,
  typesOf,
} from "../kernels/mod.ts";
import { SharedMemory } from "../kernels/cpu/memory.ts";
import { i32, i32x4, IMPORTS, ModuleBuilder, v128 } from "../kernels/cpu/wasm/mod.ts";

const { values: options } = parseArgs({
  options: {
    threads: { type: "string", default: "1" },
    heads: { type: "string", default: "9" },
    "kv-heads": { type: "string", default: "3" },
    size: { type: "string", default: "64" },
    contexts: { type: "string", default: "256,1024,4096,8192" },
    type: { type: "string", default: "f16" },
    runs: { type: "string", default: "20" },
    layers: { type: "string", default: "1" },
  },
});
const threads = Number(options.threads);
const heads = Number(options.heads);
const kvHeads = Number(options["kv-heads"]);
const headDim = Number(options.size);
const type = options.type as CacheType;
const layers = Number(options.layers);
const shape = { heads, kvHeads, headDim };
const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text + "\n"));

function cpuMilliseconds(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/** Seconds for rows of sequences, which are at the end of this many positions. */
function secondsOf(device: Device, context: number, sequences: number, rows: number): number {
  const maxBlocks = Math.ceil(context / BLOCK);
  const blocks = sequences * maxBlocks;
  const count = sequences * rows;
  const buffer = (bytes: number) => device.buffer("bench", bytes, "bench");
  const words = (values: Uint32Array | Float32Array | Float16Array) => {
    const to = buffer(values.byteLength);
    device.write(to, 0, values);
    return to;
  };
  const random = (length: number) => Float32Array.from({ length }, () => Math.random() - 0.5);
  const encoded = encodeCache(type, headDim, random(blocks * BLOCK * kvHeads * headDim));
  const cached = () => {
    const to = buffer(layerCacheBytes(shape, blocks, typesOf(type)));
    device.write(to, 0, encoded);
    return to;
  };
  const columns = (heads + 2 * kvHeads) * headDim;
  const qkv = { columns, stride: columns, floats: words(random(count * columns)) };
  const width = heads * headDim;
  const y = { columns: width, stride: width, floats: buffer(count * width * 4) };
  const tileRows = rows === 1 ? 1 : device.mostTileRows(shape);
  const places = STEP_ROW.list(count);
  const tiles = QUERY_TILE.list();
  for (let sequence = 0; sequence < sequences; sequence++) {
    for (let row = 0; row < rows; row += tileRows) {
      const own = Math.min(tileRows, rows - row);
      tiles.add({ firstRow: sequence * rows + row, rows: own, end: context, imageEnd: 0 });
    }
    for (let row = 0; row < rows; row++) {
      const position = context - rows + row;
      places.add({ token: 0, position, slot: sequence, time: 0, height: 0, width: 0 });
    }
  }
  const state = {
    rows: words(places.packed),
    table: words(Uint32Array.from({ length: blocks }, (_, i) => i * 7 % blocks)),
    maxBlocks,
  };
  const tiling = {
    tileRows,
    split: 2 ** 30,
    maxSplits: 1,
    tiles: words(tiles.packed),
    partials: y.floats,
  };
  const attentions = Array.from({ length: layers }, () => {
    const cache = { keys: cached(), values: cached(), types: typesOf(type) };
    const scale = 1 / Math.sqrt(headDim);
    return device.attention(qkv, cache, state, y, { ...shape, scale }, tiling);
  });
  let best = Infinity;
  for (let run = 0; run < Number(options.runs); run++) {
    const recorder = device.record();
    recorder.pass((pass) => {
      for (const attention of attentions) attention.encode(pass, tiles.count, context);
    });
    const commands = recorder.finish();
    // With one thread its own time is measured, which does not depend on other work of the machine.
    const now = () => threads > 1 ? performance.now() : cpuMilliseconds();
    const started = now();
    device.submit(commands);
    best = Math.min(best, now() - started);
  }
  return best / 1000 / layers;
}

/** Bytes a nanosecond that a loop reads of so many, the best of several runs. */
function readingRate(bytes: number): number {
  const module = new ModuleBuilder();
  const memory = module.importMemory("bytes");
  module.function("read", { end: "i32" }, (f, { end }) => {
    const sums = Array.from({ length: 4 }, () => f.let(v128.const(new Uint8Array(16))));
    const at = f.let(i32.const(0));
    f.forUpTo(at, end, 16 * sums.length, () => {
      sums.forEach((sum, i) => f.set(sum, i32x4.add(sum, memory.v128.load(at, 16 * i))));
    });
    return i32x4.extract_lane(sums.reduce((a, b) => f.let(i32x4.add(a, b))), 0);
  });
  const shared = new SharedMemory();
  const end = shared.take(bytes)! + bytes;
  new Uint8Array(shared.memory.buffer).fill(1, 0, end);
  const imports = { [IMPORTS]: { bytes: shared.memory } };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.bytes()), imports);
  const read = exports["read"] as (end: number) => number;
  let best = Infinity;
  for (let run = 0; run < Number(options.runs); run++) {
    const started = performance.now();
    read(end);
    best = Math.min(best, performance.now() - started);
  }
  return bytes / best / 1e6;
}

print(
  `${heads} heads of ${headDim}, ${kvHeads} of keys, cache of ${type}, ` +
    `${threads} threads; ms (GMAC/s)`,
);
if (layers > 1) print(`${layers} layers; one row   read           only read`);
else print("positions   256 rows           1 row              8 sequences");
for (const context of options.contexts.split(",").map(Number)) {
  const cells = [];
  const measured = layers > 1 ? [[1, 1]] : [[1, Math.min(256, context)], [1, 1], [8, 1]];
  for (const [sequences, rows] of measured) {
    using device = await openDevice({ kind: "cpu", threads });
    const seconds = secondsOf(device, context, sequences!, rows!);
    const seen = sequences! * rows! * (context - (rows! - 1) / 2);
    const rate = seen * heads * 2 * headDim / seconds / 1e9;
    cells.push(`${(1000 * seconds).toFixed(3)} (${rate.toFixed(1)})`.padEnd(18));
    if (layers === 1) continue;
    const bytes = 2 * layerCacheBytes(shape, context / BLOCK, typesOf(type));
    const [own, plain] = [bytes / seconds / 1e9, readingRate(layers * bytes)];
    cells.push(...[own, plain].map((read) => `${read.toFixed(1)} bytes/ns`.padEnd(14)));
  }
  print(`${String(context).padEnd(11)} ${cells.join(" ")}`);
}
