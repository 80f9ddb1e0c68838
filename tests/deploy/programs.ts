// Programs of others that tests run: found by a variable of the environment or in PATH, started with a
// port of their own, and ended with the test.

/** The path of a program: a variable of the environment has it, or else PATH; undefined if neither. */
export function findProgram(name: string, variable: string): string | undefined {
  const given = Deno.env.get(variable);
  if (given) return given;
  const folders = [...(Deno.env.get("PATH") ?? "").split(":"), "/usr/sbin"];
  return folders.map((folder) => `${folder}/${name}`).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** Runs a program to its end. Errors: Error with what it wrote, unless it succeeded. */
export async function run(
  program: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<string> {
  const command = new Deno.Command(program, { args, env, stdout: "piped", stderr: "piped" });
  const { success, stdout, stderr } = await command.output();
  const [out, error] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`Cannot run ${program} ${args.join(" ")}: ${out}${error}`);
  return out!;
}

/** How a program is started. */
export interface Start {
  program: string;
  args: string[];
  env?: Record<string, string>;
  /** Answers with any status below 500 once the program is ready. */
  ready: string;
  /** Milliseconds that this may take. */
  patience?: number;
}

/** A running program. */
export class Program implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #reading: Promise<unknown>;
  /** What it has written. */
  text = "";

  private constructor({ program, args, env = {} }: Start) {
    this.#process = new Deno.Command(program, {
      args,
      env,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const { stdout, stderr } = this.#process;
    this.#reading = Promise.all([stdout, stderr].map((stream) => this.#read(stream)));
  }

  /** Starts one and waits until it is ready. Errors: Error with what it wrote, if it does not become so. */
  static async start(options: Start): Promise<Program> {
    const program = new Program(options);
    let status: Deno.CommandStatus | undefined;
    void program.#process.status.then((ended) => status = ended);
    const deadline = performance.now() + (options.patience ?? 30_000);
    while (!status && performance.now() < deadline) {
      const response = await fetch(options.ready).catch(() => undefined);
      await response?.body?.cancel();
      if (response && response.status < 500) return program;
      await new Promise((done) => setTimeout(done, 100));
    }
    await program[Symbol.asyncDispose]();
    throw new Error(`${options.program} did not become ready:\n${program.text}`);
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) this.text += text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#process.kill("SIGTERM");
    } catch {
      // It has ended.
    }
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 10_000);
    await this.#process.status;
    await this.#reading;
    clearTimeout(timer);
  }
}
