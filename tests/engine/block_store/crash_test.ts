// A process is killed at random moments while it writes blocks to disk: the next one finds whole files
// alone, and none of its answers is another one for them. QUERN_KILLS is how often.

import { DiskStore } from "../../../engine/block_store/mod.ts";
import { continuation } from "../run/fake_runner.ts";
import { add, start } from "../run/scheduler_runs.ts";
import { KILLED_SIZES, KILLED_TALKS } from "./killed_talks.ts";
import { assert, assertEquals } from "@std/assert";

const KILLS = Number(Deno.env.get("QUERN_KILLS") ?? 4);
/** Turns of all conversations that victims live for at most, and longest that they live on; milliseconds. */
const TURNS = 4;
const LIFE = 100;
/** Little enough that files go while others come. */
const BYTES = 120_000;

async function killVictim(folder: string, kill: number): Promise<void> {
  const script = new URL("kill_victim.ts", import.meta.url).pathname;
  const args = ["run", "-A", "--no-lock", "--no-check", script, folder, `${kill * 10}`, `${BYTES}`];
  const process = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  // It writes a line when it begins, and one after each turn.
  for (let lines = 0; lines <= kill % TURNS;) {
    const { value, done } = await reader.read();
    assert(!done, "the victim lives");
    lines += value.split("\n").length - 1;
  }
  await new Promise((resolve) => setTimeout(resolve, Math.random() * LIFE));
  process.kill("SIGKILL");
  await reader.cancel();
  assertEquals((await process.status).signal, "SIGKILL");
}

Deno.test(`${KILLS} kills while blocks are written leave nothing that is wrong`, async () => {
  const folder = await Deno.makeTempDir();
  const warnings: string[] = [];
  let found = 0;
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      await killVictim(folder, kill);
      const disk = await DiskStore.open(
        "one",
        { folder, bytes: BYTES },
        (text) => warnings.push(text),
      );
      const { scheduler } = start(KILLED_SIZES, { model: "one", disk });
      for (const prompt of KILLED_TALKS) {
        const run = add(scheduler, prompt, 5);
        assertEquals(await run.ended, "length");
        assertEquals(run.tokens, continuation(prompt, 5));
        found += run.cachedTokens()!;
      }
      await scheduler.close();
      assertEquals(warnings, [], `kill ${kill}`);
    }
    assert(found > KILLS * 300, `${found} tokens came back from disk`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
