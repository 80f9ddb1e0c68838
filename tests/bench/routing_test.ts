// The simulation of routing: that its nodes keep, evict and count as they say, and that a trace is one.

import { assert, assertEquals } from "@std/assert";
import { blocksOf, lengthOf, Node, type NodeKind, simulate } from "../../bench/routing/cluster.ts";
import { POLICIES } from "../../bench/routing/policies.ts";
import { AGENTS, type Arrival, makeTrace } from "../../bench/routing/trace.ts";

const KIND: NodeKind = {
  name: "test",
  prefill: 1000,
  step: 0.01,
  sequence: 0.001,
  slots: 2,
  cache: 1600,
};

function arrival(at: number, conversation: string, lengths: number[], answer = 4): Arrival {
  const pieces = lengths.map((length, i) => ({ id: `${conversation} ${i}`, length }));
  return { at, conversation, pieces, answer: { id: `${conversation} answer`, length: answer } };
}

Deno.test("a request alone takes what its node's figures say", () => {
  const [outcome] = simulate([arrival(1, "a", [500])], KIND, 1, POLICIES["in turns"]!());
  // One step reads the prompt and gives the first token.
  assertEquals(Math.round(1000 * outcome!.first), 510);
  assertEquals(Math.round(1000 * outcome!.whole), 540);
  assertEquals([outcome!.prompt, outcome!.cached], [500, 0]);
});

Deno.test("a prompt finds whole blocks of what was read before, as long as they are kept", () => {
  const again = (at: number) => arrival(at, "a", [500]);
  const others = [2, 4, 6].map((at) => arrival(at, `other ${at}`, [500]));
  const outcomes = simulate(
    [again(0), again(1), ...others, again(8)],
    KIND,
    1,
    POLICIES["in turns"]!(),
  );
  // Each of the others leaves 31 of the 100 blocks, so that 7 remain of the first prompt.
  assertEquals(outcomes.map(({ cached }) => cached), [0, 496, 0, 0, 0, 7 * 16]);
});

Deno.test("blocks are named by all that comes before them", () => {
  assertEquals(blocksOf([{ id: "a", length: 20 }, { id: "b", length: 20 }]), ["a:0", "b:1"]);
  const node = new Node(KIND);
  assertEquals(node.match(["a:0"]), 0);
});

Deno.test("a trace has its rate, and conversations whose prompts grow", () => {
  const trace = makeTrace({ ...AGENTS, rate: 2, seconds: 3000 }, 5);
  assert(trace.length > 3000 && trace.length < 9000, `${trace.length}`);
  const turns = Map.groupBy(trace, ({ conversation }) => conversation);
  for (const [, [first, second]] of [...turns].slice(0, 20)) {
    if (!second) continue;
    assertEquals(second.pieces.slice(0, first!.pieces.length), [...first!.pieces]);
    assert(lengthOf(second) > lengthOf(first!));
  }
  assertEquals(makeTrace({ ...AGENTS, rate: 2, seconds: 3000 }, 5), trace);
});

Deno.test("every policy answers every request", () => {
  const trace = makeTrace({ ...AGENTS, rate: 1, seconds: 60 }, 3);
  for (const [name, create] of Object.entries(POLICIES)) {
    assertEquals([name, simulate(trace, KIND, 3, create()).length], [name, trace.length]);
  }
});
