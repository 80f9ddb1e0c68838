// What is read of this machine: something where it is there, undefined where it is not.

import { assert, assertEquals } from "@std/assert";
import { thisMachine } from "../../../engine/memory/devices.ts";
import { readMemoryBudget } from "../../../engine/memory/mod.ts";
import { folder } from "../harness.ts";

Deno.test("a machine gives what is there and undefined for what is not", async () => {
  await Deno.writeTextFile(`${folder}/fact`, "16\n");
  assertEquals(await thisMachine.readText(`${folder}/fact`), "16\n");
  assertEquals(await thisMachine.readText(`${folder}/none`), undefined);
  assert((await thisMachine.list(folder)).includes("fact"));
  assertEquals(await thisMachine.list(`${folder}/none`), []);
  assertEquals(await thisMachine.run(Deno.execPath(), ["eval", "console.log(6 * 7)"]), "42\n");
  assertEquals(await thisMachine.run(Deno.execPath(), ["eval", "Deno.exit(1)"]), undefined);
  assertEquals(await thisMachine.run(`${folder}/none`, []), undefined);
  assert(thisMachine.availableMemory() > 0);
});

Deno.test("readMemoryBudget() finds some memory here, and says where", async () => {
  const { total, source } = await readMemoryBudget();
  assert(total > 0 && source.length > 0);
  assertEquals((await readMemoryBudget({ total: 5, overhead: 1 })).total, 4);
});
