// The cases of bench/kernels: words choose them, and each is what its reference says.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { allCases, chooseCases, type KernelCase, measure } from "../../bench/kernels/mod.ts";
import { openDevice } from "../../kernels/mod.ts";

const named = (cases: readonly KernelCase[]) => cases.map(({ words }) => words.join(" "));

Deno.test("words choose kernels, whole and in any case", () => {
  const chosen = named(chooseCases(["linear", "q4_k", "8b"]));
  assert(chosen.includes("linear Q4_K 8b down 4096x14336 16rows"));
  assert(chosen.every((name) => /^linear Q4_K 8b /.test(name)));
  const sizes = new Set(chooseCases(["attention"]).map(({ words }) => words.at(-2)));
  assertEquals([...sizes], ["256positions", "1024positions", "4096positions"]);
  // Without a word for it, a product is measured in the usual formats.
  const formats = new Set(chooseCases(["linear", "1b"]).map(({ words }) => words[1]));
  assertEquals([...formats].sort(), ["F16", "Q4_K", "Q8_0"]);
  assertEquals(new Set(chooseCases(["linear", "q6_k"]).map(({ words }) => words[1])).size, 1);
  assertThrows(() => chooseCases(["liner"]), RangeError, "operations are linear, experts, ");
  const names = named(allCases());
  assertEquals(new Set(names).size, names.length);
});

/** One case of every operation, the smallest; products with a format of each kind. */
function smallest(): KernelCase[] {
  const cases = [...chooseCases(["q4_k", "down"]), ...chooseCases(["f16", "output"])]
    .concat(chooseCases([]).filter(({ words: [name] }) => !/linear|experts/.test(name!)));
  const first = new Map<string, KernelCase>();
  for (const each of cases.filter(({ words }) => words.at(-1) === "4rows")) {
    const [name, second] = each.words;
    const key = name === "linear" || name === "experts" ? `${name} ${second}` : name!;
    if (!first.has(key)) first.set(key, each);
  }
  return [...first.values()];
}

Deno.test({
  name: "kernels give what their references say at the sizes of real models",
  // The plain references take their time: test:kernels has it.
  ignore: !Deno.env.has("QUERN_SWEEP"),
  async fn() {
    using device = await openDevice({ kind: "cpu", threads: 1 });
    for (const each of smallest()) {
      for await (const { variant, error, bytes } of measure(device, each, { timed: false })) {
        assert(error <= 1, `${each.words.join(" ")}, ${variant}: ${error} of what it may be`);
        assert(bytes > 0, each.words.join(" "));
      }
    }
  },
});
