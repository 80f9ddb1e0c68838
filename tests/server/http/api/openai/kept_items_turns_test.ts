// Others are heard while a request refers to a great many kept items: turns of the event loop are
// counted.

import { assert, assertEquals } from "@std/assert";
import { nextTask } from "../../../../../engine/mod.ts";
import { BodyAllowance, BodyBudget } from "../../../../../server/http/body/bodies.ts";
import { KeptResponses } from "../../../../../server/http/api/openai/responses/kept_responses.ts";
import { ResponseStore } from "../../../../../server/http/response_store.ts";

const MANY = 40_000;

Deno.test("tens of thousands of references to kept items are resolved in many turns", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const bounds = { count: 10, bytes: 1e9, age: 3_600_000 };
    const store = new ResponseStore({ folder, warn() {}, ...bounds });
    const id = "a".repeat(48);
    const input = Array.from({ length: 2000 }, (_, index) => ({ id: `msg_${id}i${index}` }));
    const kept = { response: { output: [] }, input };
    await store.put(id, "owner", new TextEncoder().encode(JSON.stringify(kept)));
    const allowance = new BodyAllowance(new BodyBudget(1e9), 1e9);
    const responses = new KeptResponses({ store, owner: "owner", allowance });
    const reference = (index: number) => ({
      type: "item_reference",
      id: `msg_${id}i${index % 2000}`,
    });
    // The first has it read, which takes turns of its own.
    await responses.resolved([reference(0)]);
    let [turns, isOver] = [0, false];
    const resolved = responses.resolved(
      Array.from({ length: MANY }, (_, index) => reference(index)),
    );
    resolved.finally(() => isOver = true);
    for (; !isOver; turns++) await nextTask();
    assertEquals((await resolved)!.length, MANY);
    assert(turns > 3, `${turns} turns`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
