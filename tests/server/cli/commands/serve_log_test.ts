// `quern serve` as a process whose log has no reader or no disk: it answers all the same, and counts
// what it could not write.

import { assert, assertEquals } from "@std/assert";
import { PROJECT_ROOT } from "../../../source_files.ts";

/** Enough to fill a pipe, of 64 KiB, several times. */
const REQUESTS = 400;

/** A port that is free. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Runs a server whose log goes where a shell sends it, or into a pipe that is not read. */
async function withServer(
  redirection: string,
  test: (url: string, process: Deno.ChildProcess) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const port = freePort();
  const serve = [Deno.execPath(), "run", "-A", "--no-check", "mod.ts", "serve"];
  const process = new Deno.Command("sh", {
    args: ["-c", `exec "$@" ${redirection}`, "sh", ...serve],
    cwd: PROJECT_ROOT,
    env: {
      QUERN_MODELS: folder,
      QUERN_CACHE: `${folder}/cache`,
      OLLAMA_HOST: `127.0.0.1:${port}`,
      NO_COLOR: "1",
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const url = `http://127.0.0.1:${port}`;
  try {
    await untilUp(url);
    await test(url, process);
    process.kill("SIGTERM");
    assertEquals((await process.status).code, 0);
  } finally {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await process.status;
    await process.stderr.cancel();
    await Deno.remove(folder, { recursive: true });
  }
}

async function untilUp(url: string): Promise<void> {
  for (const deadline = Date.now() + 60_000;;) {
    try {
      return await (await fetch(`${url}/health`)).body!.cancel();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

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
    await withServer("", flood);
    await withServer("", async (url, process) => {
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
    await withServer("2>/dev/full", async (url) => {
      for (let count = 0; count < 20; count++) {
        const response = await fetch(`${url}/nothing`);
        assertEquals((await response.text(), response.status), 404);
      }
      await wait(100);
      assert(await lostLines(url) >= 20);
    });
  },
});
