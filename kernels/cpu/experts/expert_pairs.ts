// The pairs of a step grouped by expert, so that a product reads an expert's rows once for all tokens
// that it was chosen for. A counting sort by one thread: pairs keep their order, whatever the timing.
//
//     words: experts that have pairs
//            of each possible one: its number, the address of its pairs, how many there are
//            pairs, expert after expert
//            a counter for each expert

import type { ExpertPairs, Routing } from "../../ops/experts.ts";
import type { Buffer } from "../../operation.ts";
import { PAIRS_ENTRY } from "../linear/bands.ts";
import type { CpuCore } from "../core.ts";
import { addKernel, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { workModule } from "../modules.ts";
import { i32, type Memory, type ModuleBuilder } from "../wasm/mod.ts";

/** Pairs on a CPU device. */
export interface CpuExpertPairs extends ExpertPairs {
  readonly buffer: Buffer;
}

/** Bytes for a number of pairs. */
export function pairsBytes(experts: number, pairs: number): number {
  return 4 + PAIRS_ENTRY * experts + 4 * pairs + 4 * experts;
}

const PAIRS_ARGUMENTS = ["ids", "entries", "pairs", "order", "counters", "experts"] as const;

/** Adds `expert_pairs(record, first, last)`, of one item. */
function addExpertPairs(module: ModuleBuilder, work: Memory): void {
  addKernel(module, work, { name: "expert_pairs", takes: PAIRS_ARGUMENTS }, (f, given) => {
    const { ids, entries, pairs, order, counters, experts } = given;
    const end = f.let(i32.add(counters, i32.mul(experts, 4)));
    const counter = f.let(counters);
    f.forUpTo(counter, end, 4, () => f.do(work.i32.store(counter, 0)));
    const pair = f.let(i32.const(0));
    const expertOf = i32.add(
      counters,
      i32.mul(work.i32.load(i32.add(ids, i32.mul(pair, 4))), 4),
    );
    const own = f.local("i32");
    f.forUpTo(pair, pairs, 1, () => {
      f.set(own, expertOf);
      f.do(work.i32.store(own, i32.add(work.i32.load(own), 1)));
    });
    // Counters become the addresses of each expert's next pair.
    const active = f.let(i32.const(0));
    const place = f.let(order);
    const entry = f.let(entries);
    f.set(counter, counters);
    f.forUpTo(counter, end, 4, () => {
      const count = f.let(work.i32.load(counter));
      f.do(work.i32.store(counter, place));
      f.if(count, () => {
        f.do(
          work.i32.store(entry, i32.shr_u(i32.sub(counter, counters), 2), 4),
          work.i32.store(entry, place, 8),
          work.i32.store(entry, count, 12),
        );
        f.increase(entry, PAIRS_ENTRY);
        f.increase(active, 1);
        f.increase(place, i32.mul(count, 4));
      });
    });
    f.do(work.i32.store(entries, active));
    f.set(pair, 0);
    f.forUpTo(pair, pairs, 1, () => {
      f.set(own, expertOf);
      const to = f.let(work.i32.load(own));
      f.do(work.i32.store(to, pair), work.i32.store(own, i32.add(to, 4)));
    });
  });
}

/** Groups the pairs of a number of rows. */
export function expertPairs(core: CpuCore, { ids, experts, topK }: Routing, buffer: Buffer) {
  const kernels = core.kernels("expert pairs", () => workModule(addExpertPairs));
  const entries = cpu(buffer).address;
  return (rows: number) => {
    const pairs = rows * topK;
    const order = entries + 4 + PAIRS_ENTRY * experts;
    const words = inOrder(PAIRS_ARGUMENTS, {
      ...{ ids: cpu(ids).address, entries, pairs, order, experts },
      counters: order + 4 * pairs,
    });
    core.run([{ kernels, name: "expert_pairs", arguments: words, items: 1 }]);
  };
}
