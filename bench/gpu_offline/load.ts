// The work of the host for loading, on the null GPU: a file of 0.5 to 1 GB that the system has in
// memory is loaded several times. Prints JSON. Run by main.ts.

import process from "node:process";
import { loadModel } from "../../engine/mod.ts";
import { type LlamaShape, writeSyntheticLlama } from "../synthetic_model.ts";

/** The cost of loading files of one format. */
export interface LoadReport {
  readonly format: string;
  readonly bytes: number;
  /** Bytes per second of the best load, from the call until the last weight is handed over. */
  readonly bytesPerSecond: number;
  /** Processor time of all threads, in nanoseconds for a byte. */
  readonly cpu: number;
  /** Most additional memory of the process during a load, in bytes. */
  readonly peak: number;
}

const SHAPE: LlamaShape = {
  layers: 16,
  embedding: 2048,
  heads: 16,
  keyValueHeads: 4,
  feedForward: 8192,
  vocabulary: 1024,
  context: 2048,
  ropeBase: 500_000,
  tiedEmbedding: true,
};

const LOADS = 4;

const [format = "Q4_K"] = Deno.args;
const path = await Deno.makeTempFile({ suffix: ".gguf" });
try {
  await writeSyntheticLlama(path, SHAPE, { type: format });
  const { size } = await Deno.stat(path);
  let [best, cpu, peak] = [Infinity, Infinity, 0];
  for (let load = 0; load < LOADS; load++) {
    const before = { memory: process.memoryUsage().rss, cpu: process.cpuUsage() };
    const started = performance.now();
    let [last, used] = [started, before.cpu];
    const options = {
      ...{ contextLength: 512, maxSequences: 1, cacheWindows: 1 },
      onProgress() {
        peak = Math.max(peak, process.memoryUsage().rss - before.memory);
        last = performance.now();
        used = process.cpuUsage(before.cpu);
      },
    };
    await using _ = await loadModel(path, options);
    best = Math.min(best, last - started);
    cpu = Math.min(cpu, (used.user + used.system) * 1000 / size);
  }
  const report: LoadReport = {
    format,
    bytes: size,
    bytesPerSecond: size / best * 1000,
    cpu,
    peak,
  };
  await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(report)));
} finally {
  await Deno.remove(path);
}
Deno.exit(0);
