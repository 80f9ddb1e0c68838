// `deno task bench:many-cores [MACHINE...]`: how the threads of the CPU share the steps of real shapes on
// machines that are not here, simulated (simulation.ts): microseconds of two layers that decode, of the
// logits, and of a layer that reads 512 tokens, beside those of threads that never wait, and how often in a
// phase cores take one line of memory from each other. Then what a barrier takes by the number of threads.

import { print } from "../report.ts";
import { SHAPES } from "../synthetic_model.ts";
import { barrierOf, learned, MACHINES } from "./machines.ts";
import { Simulation, type Step } from "./simulation.ts";
import { decodeLayer, decodeOutput, promptLayer } from "./steps.ts";

const wanted = Deno.args.length > 0 ? Deno.args : Object.keys(MACHINES);
print("                       two layers of decode       logits          a layer of a prompt");
print("shape machine           us of ideal changes   us of ideal changes      us of ideal changes");
for (const [name, shape] of Object.entries(SHAPES)) {
  const steps: readonly Step[] = [
    [...decodeLayer(shape), ...decodeLayer(shape)],
    decodeOutput(shape),
    promptLayer(shape, 512),
  ];
  for (const machine of wanted) {
    const cells = steps.map((step) => {
      const simulation = learned(new Simulation(MACHINES[machine]!));
      const { time, ideal, mostChanges } = simulation.run(step);
      return [
        (time / 1000).toFixed(0).padStart(7),
        (ideal / time).toFixed(2).padStart(8),
        String(mostChanges).padStart(7),
      ].join(" ");
    });
    print(`${name.padEnd(5)} ${machine.padEnd(15)} ${cells.join("  ")}`);
  }
}
print("\nthreads  us of a barrier");
for (const threads of [2, 8, 16, 64, 256, 1024]) {
  print(`${String(threads).padStart(7)} ${(barrierOf(threads) / 1000).toFixed(2).padStart(16)}`);
}
