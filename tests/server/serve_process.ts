// `quern serve` as a process of its own that a shell starts, for what only a process shows: limits of the
// system, and where its output goes.

import { assertEquals } from "@std/assert";
import { basename } from "node:path";
import { freePort } from "../free_port.ts";
import { PROJECT_ROOT } from "../source_files.ts";

/** What a shell does before and with the server. */
export interface ServeOptions {
  /** Commands that come first, such as "ulimit -n 40". */
  before?: string;
  /** Where its output goes. Default: the log into a pipe that is not read. */
  redirection?: string;
  /** A file of a model that is in its store. */
  model?: string;
  /** Its environment, beside what it has of ours and where its files and its port are. */
  environment?: Record<string, string>;
}

/** Runs a server while the test does; in the end it must stop in good order. */
export async function withServeProcess(
  { before = ":", redirection = "", model, environment = {} }: ServeOptions,
  test: (url: string, process: Deno.ChildProcess) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  if (model !== undefined) await Deno.copyFile(model, `${folder}/${basename(model)}`);
  const port = freePort();
  const serve = [Deno.execPath(), "run", "-A", "--no-check", "mod.ts", "serve"];
  const process = new Deno.Command("sh", {
    args: ["-c", `${before}; exec "$@" ${redirection}`, "sh", ...serve],
    cwd: PROJECT_ROOT,
    env: {
      ...environment,
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
