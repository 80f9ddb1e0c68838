// `quern serve` as a process whose log has no reader or no disk: it answers all the same, and counts
// what it could not write.

import { assert, assertEquals } from "@std/assert";
import { withServeProcess } from "../../serve_process.ts";

/** Enough to fill a pipe, of 64 KiB, several times. */
const REQUESTS = 400;

async function lostLines(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^quern_log_lines_lost_total (\d+)$/m.exec(metrics)![1]);
}

const isUnix = Deno.build.os !== "windows";

Deno.test({
  name: "serve goes on while nobody reads the pipe of its log, and stops when it is told to",
  ignore: !isUnix,
  async fn() {
    const flood = async (url: string) => {
      const target = `${url}/${"x".repeat(5000)}`;
      for (let count = 0; count < REQUESTS; count++) {
        const signal = AbortSignal.timeout(30_000);
        const response = await fetch(target, { signal });
        assertEquals((await response.text(), response.status), 404);
      }
      assertEquals(await lostLines(url), 0);
    };
    await withServeProcess({}, flood);
    await withServeProcess({}, async (url, process) => {
      await flood(url);
      // What waited is there once somebody reads.
      const reader = process.stderr.getReader();
      let text = "";
      const lines = () => text.match(/ 404 - /g)?.length ?? 0;
      while (lines() < REQUESTS) text += new TextDecoder().decode((await reader.read()).value);
      assertEquals(lines(), REQUESTS);
      reader.releaseLock();
    });
  },
});

Deno.test({
  name: "serve goes on with its log on a full disk, and counts the lines that are lost",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await withServeProcess({ redirection: "2>/dev/full" }, async (url) => {
      for (let count = 0; count < 20; count++) {
        const response = await fetch(`${url}/nothing`);
        assertEquals((await response.text(), response.status), 404);
      }
      // A line is written once its answer has gone out; those of the metrics are none of the twenty.
      for (let looks = 0; await lostLines(url) < 20 + looks; looks++) {
        assert(looks < 1000, `${await lostLines(url)} lines are lost`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
  },
});
