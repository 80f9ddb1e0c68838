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

/** A server that can be started: what to run, and where it will answer. */
export interface ServerProgram {
  readonly name: string;
  readonly url: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
}

/**
 * Quern's server, with V8's flags as it sets them itself.
 *
 * @param folder for its models
 * @param env more of its settings
 */
export async function quernProgram(
  file: string,
  { folder, threads, env }: { folder: string; threads: number; env?: Record<string, string> },
): Promise<ServerProgram> {
  const port = freePort();
  await Deno.symlink(await Deno.realPath(file), `${folder}/${MODEL_NAME}.gguf`);
  const main = new URL("../mod.ts", import.meta.url).href;
  return {
    name: "quern",
    url: `http://127.0.0.1:${port}`,
    command: Deno.execPath(),
    args: ["run", "-A", "--no-check", "--no-lock", main, "serve"],
    env: {
      OLLAMA_HOST: `127.0.0.1:${port}`,
      QUERN_MODELS: folder,
      QUERN_DEVICE: "cpu",
      QUERN_THREADS: String(threads),
      ...env,
    },
  };
}

/** llama-server. @param command its path @param options more arguments */
export function llamaProgram(
  command: string,
  file: string,
  { threads, options = [] }: { threads: number; options?: readonly string[] },
): ServerProgram {
  const port = freePort();
  const args = ["-m", file, "-t", String(threads), "--port", String(port), ...options];
  return { name: "llama-server", url: `http://127.0.0.1:${port}`, command, args, env: {} };
}

/** Starts Quern's server: see {@linkcode quernProgram}. */
export async function startQuern(
  ...of: Parameters<typeof quernProgram>
): Promise<RunningServer> {
  return await start(await quernProgram(...of));
}

/** Starts llama-server: see {@linkcode llamaProgram}. */
export function startLlamaServer(...of: Parameters<typeof llamaProgram>): Promise<RunningServer> {
  return start(llamaProgram(...of));
}

/** Starts a program and waits until it answers. Errors: Error if it does not within a minute. */
async function start({ name, url, command, args, env }: ServerProgram): Promise<RunningServer> {
  const process = new Deno.Command(command, {
    args: [...args],
    env,
    stdout: "null",
    stderr: "null",
  }).spawn();
  let isRunning = true;
  const stop = () => {
    if (isRunning) process.kill("SIGTERM");
    isRunning = false;
  };
  addEventListener("unload", stop);
  for (let tries = 0; tries < 240; tries++) {
    const answer = await fetch(`${url}/v1/models`).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) return { name, url, [Symbol.dispose]: stop };
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`Cannot measure ${name}: it has not answered within a minute`);
}

/** A port that nobody listens on. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
