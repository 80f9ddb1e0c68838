// Servers that benchmarks ask over HTTP: Quern's, with one model under the name "measured", and
// llama.cpp's llama-server with the same file, both on the CPU. They end with the benchmark.

/** The name of the model. llama-server takes any. */
export const MODEL_NAME = "measured";

/** A server that answers, until it is disposed of. */
export interface RunningServer extends Disposable {
  readonly name: string;
  /** Without a slash at the end. */
  readonly url: string;
}

/** Ports for servers, one after the other: one that a server had is not free at once. */
let lastPort = 18_070;

/**
 * Starts Quern's server, with V8's flags as it sets them itself.
 *
 * @param folder for its models
 * @param env more of its settings
 */
export async function startQuern(
  file: string,
  { folder, threads, env }: { folder: string; threads: number; env?: Record<string, string> },
): Promise<RunningServer> {
  const port = ++lastPort;
  await Deno.symlink(await Deno.realPath(file), `${folder}/${MODEL_NAME}.gguf`);
  const main = new URL("../mod.ts", import.meta.url).href;
  const args = ["run", "-A", "--no-check", "--no-lock", main, "serve"];
  return await start("quern", Deno.execPath(), args, port, {
    OLLAMA_HOST: `127.0.0.1:${port}`,
    QUERN_MODELS: folder,
    QUERN_DEVICE: "cpu",
    QUERN_THREADS: String(threads),
    ...env,
  });
}

/** Starts llama-server. @param program its path @param options more arguments */
export function startLlamaServer(
  program: string,
  file: string,
  { threads, options = [] }: { threads: number; options?: readonly string[] },
): Promise<RunningServer> {
  const port = ++lastPort;
  const args = ["-m", file, "-t", String(threads), "--port", String(port), ...options];
  return start("llama-server", program, args, port);
}

/** Starts a program and waits until it answers. Errors: Error if it does not within a minute. */
async function start(
  name: string,
  command: string,
  args: string[],
  port: number,
  env: Record<string, string> = {},
): Promise<RunningServer> {
  const process = new Deno.Command(command, { args, env, stdout: "null", stderr: "null" }).spawn();
  let isRunning = true;
  const stop = () => {
    if (isRunning) process.kill("SIGTERM");
    isRunning = false;
  };
  addEventListener("unload", stop);
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 240; tries++) {
    const answer = await fetch(`${url}/v1/models`).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) return { name, url, [Symbol.dispose]: stop };
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`Cannot measure ${name}: it has not answered within a minute`);
}
