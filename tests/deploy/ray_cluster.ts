// The real Ray Serve with deploy/ray on this machine: a virtual environment of Python with what its
// requirements name, one node of Ray, and an application on a port of its own. QUERN_RAY_PYTHON is a
// Python that has the requirements already.

import { PROJECT_ROOT } from "../source_files.ts";

const DEPLOY = new URL("deploy/ray/", PROJECT_ROOT).pathname;
/** By which the processes of the models are found. */
const MARK = "QUERN_RAY_TEST=1";

async function run(program: string, args: string[], env: Record<string, string>): Promise<string> {
  const command = new Deno.Command(program, { args, env, stdout: "piped", stderr: "piped" });
  const { success, stdout, stderr } = await command.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) throw new Error(`Cannot run ${program} ${args.join(" ")}: ${text(stderr)}`);
  return text(stdout);
}

/** A Python that has Ray. */
async function findPython(folder: string): Promise<string> {
  const given = Deno.env.get("QUERN_RAY_PYTHON");
  if (given) return given;
  await run("python3", ["-m", "venv", `${folder}/venv`], {});
  const python = `${folder}/venv/bin/python`;
  await run(python, ["-m", "pip", "install", "-q", "-r", `${DEPLOY}requirements.txt`], {});
  return python;
}

/** What an application of the tests says otherwise than the default. */
export interface AppConfig {
  routing?: "prefix" | "balanced";
  models: {
    name: string;
    min_replicas?: number;
    max_replicas?: number;
    downscale_delay?: number;
    requests_per_replica?: number;
    tokens_per_replica?: number;
    threads?: number;
  }[];
}

/** One node of Ray. */
export class RayCluster implements AsyncDisposable {
  readonly #folder: string;
  readonly #python: string;
  readonly #env: Record<string, string>;
  readonly url: string;
  readonly #port: number;

  private constructor(folder: string, python: string, port: number) {
    this.#folder = folder;
    this.#python = python;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#env = {
      PYTHONPATH: DEPLOY,
      RAY_USAGE_STATS_ENABLED: "0",
      RAY_AUTH_MODE: "disabled",
      // On a machine that does other work, Ray takes long to start.
      RAY_raylet_start_wait_time_s: "300",
      OLLAMA_MODELS: `${folder}/models`,
      QUERN_CACHE: `${folder}/cache`,
      ...Object.fromEntries([MARK.split("=")]),
    };
  }

  static async start(): Promise<RayCluster> {
    const folder = await Deno.makeTempDir({ prefix: "quern-ray-" });
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const python = await findPython(folder);
    const cluster = new RayCluster(folder, python, listener.addr.port);
    await cluster.#tool("ray", ["stop", "--force"]);
    await cluster.#tool("ray", ["start", "--head", "--num-cpus=8", "--include-dashboard=true"]);
    return cluster;
  }

  async #tool(name: string, args: string[]): Promise<string> {
    return await run(this.#python.replace(/python3?$/, name), args, this.#env);
  }

  /** Puts an application in the place of the former one, and waits until it answers. */
  async deploy({ models, ...config }: AppConfig): Promise<void> {
    const flags = await run(Deno.execPath(), ["run", "server/cli/setup/v8_flags.ts"], {});
    const args = {
      ...config,
      program: [
        Deno.execPath(),
        "run",
        `--v8-flags=${flags.trim()}`,
        "-A",
        "--no-check",
        new URL("mod.ts", PROJECT_ROOT).pathname,
      ],
      models: models.map(({ threads = 1, ...model }) => ({
        ...model,
        cpus: 0.5,
        env: { QUERN_DEVICE: "cpu", QUERN_THREADS: `${threads}`, ...this.#env },
      })),
    };
    const file = `${this.#folder}/app.json`; // JSON is YAML.
    await Deno.writeTextFile(
      file,
      JSON.stringify({
        http_options: { host: "127.0.0.1", port: this.#port },
        applications: [{ name: "quern", route_prefix: "/", import_path: "quern_ray:build", args }],
      }),
    );
    await this.#tool("serve", ["deploy", file]);
    for (;;) {
      const status = await this.#tool("serve", ["status"]);
      if (/^ {4}status: RUNNING/m.test(status)) return;
      if (status.includes("DEPLOY_FAILED")) throw new Error(`Cannot deploy: ${status}`);
      await new Promise((done) => setTimeout(done, 1000));
    }
  }

  /** The processes of Quern that run, which Ray's replicas have started. */
  processes(): number[] {
    return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
      try {
        const command = Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0");
        return command.includes("serve") && command.some((word) => word.endsWith("mod.ts")) &&
          Deno.readTextFileSync(`/proc/${pid}/environ`).includes(MARK);
      } catch {
        return false; // It is none, or has just ended.
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tool("ray", ["stop", "--force"]);
    for (const pid of this.processes()) Deno.kill(pid, "SIGKILL");
    await Deno.remove(this.#folder, { recursive: true });
  }
}
