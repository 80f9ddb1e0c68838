// How threads count each other at the end of a phase, for more of them than this machine has.

import { assert, assertEquals } from "@std/assert";
import { arrive, CONTROL_WORDS, GROUP_THREADS } from "../../../kernels/cpu/control.ts";
import { ownedItems } from "../../../kernels/cpu/share.ts";

Deno.test("of any number of threads in any order, the last one ends the phase, and no word is changed by many", () => {
  let state = 7;
  const random = (below: number) => (state = Math.imul(state, 1103515245) + 12345 >>> 8) % below;
  for (const threads of [2, 3, 7, 8, 9, 16, 17, 63, 64, 65, 128, 500, 1024]) {
    const control = new Int32Array(CONTROL_WORDS);
    for (let phase = 0; phase < 3; phase++) {
      const order = Array.from({ length: threads }, (_, i) => i);
      for (let i = threads - 1; i > 0; i--) {
        const j = random(i + 1);
        [order[i], order[j]] = [order[j]!, order[i]!];
      }
      const changes = new Map<number, number>();
      const before = control.slice(0, 3000);
      order.forEach((index, arrived) => {
        assertEquals(arrive(control, index, threads), arrived === threads - 1, `${threads}`);
        for (const [word, value] of before.entries()) {
          if (control[word] === value) continue;
          changes.set(word, (changes.get(word) ?? 0) + 1);
          before[word] = control[word]!;
        }
      });
      const most = Math.max(GROUP_THREADS, Math.ceil(threads / GROUP_THREADS));
      assert(Math.max(...changes.values()) <= most, `${threads} threads`);
      assertEquals(control.slice(0, 3000).every((value) => value === 0), true, "it begins anew");
    }
  }
});

Deno.test("threads own whole takes of an operation, all where there are few, and leave some of many", () => {
  for (const threads of [1, 2, 3, 8, 9, 64, 1024]) {
    for (const items of [0, 1, 2, 3, 7, 64, 72, 1000, 5000, 500_000]) {
      for (const multiple of [1, 4]) {
        const owned = ownedItems({ items, threads, multiple, isBrief: true });
        // Two threads leave some of few, too: one of them may come late.
        const isFew = threads > 2 && items <= 4 * multiple * threads;
        if (threads === 1 || items <= 1) assertEquals(owned, 0);
        else if (isFew) assertEquals(owned, items);
        else {
          assert(owned < items && owned % multiple === 0, `${owned} of ${items}`);
          assert(owned > 0 || items < 2 * multiple, `${owned} of ${items}`);
        }
      }
      const long = ownedItems({ items, threads, isBrief: false });
      assertEquals(long, threads > 8 && items <= threads && items > 1 ? items : 0);
    }
  }
});
