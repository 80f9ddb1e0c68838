// `deno task bench:kernels [WORD...] [--threads 2]`: every operation over the shapes of real models,
// checked against its plain reference and then timed; on WebGPU all tiles near the chosen one beside it.
// Words choose cases: `linear q4_k`, `attention 8b 1rows`, `experts 16rows`. QUERN_DEVICE=cpu or webgpu
// says what computes. OF READ is the share of what a plain read of the memory reaches.

import { parseArgs } from "node:util";
import { openDevice } from "../../kernels/mod.ts";
import { load, print } from "../report.ts";
import { chooseCases, measure } from "./mod.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { threads: { type: "string" } },
});
const { threads } = options;
const open = () => openDevice(threads === undefined ? {} : { threads: Number(threads) });

const cases = chooseCases(positionals);
using device = await open();
const isCpu = device.profile.platform.name === "cpu";
const readBandwidth = await device.readBandwidth();
print(
  `${device.profile.description}; a plain read: ${(readBandwidth / 1e9).toFixed(1)} GB/s; ` +
    `load ${load()}; ${cases.length} cases`,
);
print("     µs     GB/s  OF READ   GFLOP/s  kernel");
let wrong = 0;
for (const each of cases) {
  const name = each.words.join(" ");
  // A CPU device returns the memory of weights only when it is closed.
  using own = isCpu ? await open() : device.share();
  await own.prepare();
  try {
    for await (const { variant, error, seconds, bytes, flops } of measure(own, each)) {
      const label = variant ? `${name}, ${variant}` : name;
      if (error > 1) wrong++;
      if (!(error <= 1)) {
        print(`  WRONG by ${error.toFixed(1)} times what it may be: ${label}`);
        continue;
      }
      const rate = bytes / seconds;
      const cells = [
        (1e6 * seconds).toFixed(1).padStart(9),
        (rate / 1e9).toFixed(2).padStart(7),
        `${(100 * rate / readBandwidth).toFixed(1)}%`.padStart(8),
        (flops / seconds / 1e9).toFixed(2).padStart(9),
      ];
      print(`${cells.join(" ")}  ${label}`);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    print(`  left out, ${error.message}: ${name}`);
  }
}
if (wrong > 0) print(`${wrong} are wrong`);
Deno.exit(wrong > 0 ? 1 : 0);
