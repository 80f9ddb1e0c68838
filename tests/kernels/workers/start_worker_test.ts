// Workers where the system gives few open files: an error, where the runtime would end the process.

import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";

/** What a program says that starts a worker with so many free files, of 100 that it may have. */
async function startWith(free: number): Promise<string> {
  const program = fileURLToPath(new URL("few_files.ts", import.meta.url));
  const run = `exec "${Deno.execPath()}" run -A --no-check --no-lock "${program}" ${free}`;
  const args = ["-c", `ulimit -n 100; ${run}`];
  const { stdout, success } = await new Deno.Command("sh", { args, stderr: "null" }).output();
  return success ? new TextDecoder().decode(stdout) : "it ended";
}

Deno.test({
  name: "a worker starts where there are files for it, and else is an error, never a panic",
  ignore: Deno.build.os === "windows",
  async fn() {
    const refused = "Cannot work: the system gives no more open files (ulimit -n)";
    const said = await Promise.all([0, 3, 5, 6, 7, 8, 20].map(startWith));
    assertEquals(said, [refused, refused, refused, refused, refused, "started", "started"]);
  },
});
