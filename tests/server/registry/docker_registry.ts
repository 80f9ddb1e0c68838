// Debian's docker-registry, started for a test: a real program at the other end of pull and push.

import { join } from "node:path";
import { freePort } from "../../free_port.ts";

const PROGRAM = "docker-registry";

/** Whether the program is installed; tests that need it are ignored otherwise. */
export const HAS_DOCKER_REGISTRY = await isInstalled();

/** Ends the names of such tests, with the reason. */
export const IGNORED_WITHOUT = HAS_DOCKER_REGISTRY ? "" : ` (ignored: ${PROGRAM} is not installed)`;

/** A running registry with an empty storage of its own. */
export class DockerRegistry implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  /** Host and port. */
  readonly host: string;

  private constructor(process: Deno.ChildProcess, host: string) {
    this.#process = process;
    this.host = host;
  }

  /** Starts one that keeps its files in a folder, and waits until it answers. */
  static async start(folder: string): Promise<DockerRegistry> {
    const host = `127.0.0.1:${freePort()}`;
    const config = join(folder, "config.yml");
    await Deno.writeTextFile(
      config,
      [
        "version: 0.1",
        "log: { level: error, accesslog: { disabled: true } }",
        `storage: { filesystem: { rootdirectory: ${join(folder, "storage")} } }`,
        `http: { addr: "${host}" }`,
      ].join("\n"),
    );
    const process = new Deno.Command(PROGRAM, {
      args: ["serve", config],
      stdout: "null",
      stderr: "null",
    }).spawn();
    const registry = new DockerRegistry(process, host);
    await registry.#untilItAnswers();
    return registry;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
  }

  async #untilItAnswers(): Promise<void> {
    for (let attempt = 0; attempt < 2000; attempt++) {
      const answer = await fetch(`http://${this.host}/v2/`).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer?.ok) return;
      await new Promise((done) => setTimeout(done, 25));
    }
    await this[Symbol.asyncDispose]();
    throw new Error(`Cannot start ${PROGRAM}: it does not answer on ${this.host}`);
  }
}

async function isInstalled(): Promise<boolean> {
  try {
    return (await new Deno.Command(PROGRAM, { args: ["--version"], stdout: "null" }).output())
      .success;
  } catch {
    return false;
  }
}
