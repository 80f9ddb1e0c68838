// What a client from npm or PyPI is to this set: the packages that it is made of, what it can do, and how that
// is tried; and how its programs are run, so that nothing of them is left behind.

/** What is tried with the clients that can do it. */
export const CHECKS = ["chat", "stream", "tools", "schema", "overflow", "abort"] as const;

/** What is tried with those that send sounds besides. */
export const HEARING = [...CHECKS, "transcribe"] as const;

/** One thing that is tried. */
export type CheckName = typeof HEARING[number];

/** What came of each: why it failed, or nothing. */
export type Results = Partial<Record<CheckName, { failure?: string }>>;

/** Where a client is tried. */
export interface Place {
  /** Address of the server, without a slash at the end. */
  url: string;
  /** Folder with its node_modules, or a virtual environment of Python. */
  folder: string;
  /** A folder of its own for its settings, where it also works. */
  home: string;
  /** Folder of the program `node`. */
  node: string;
  /** How many answers the server has stopped since their clients left. */
  countStopped(): number;
}

/** A client. */
export interface Client {
  name: string;
  /** Whose packages these are: npm's, or PyPI's. Default: npm's. */
  language?: "node" | "python";
  /** Packages with their versions: `name@1.2.3`, of Python `name==1.2.3`. */
  packages: readonly string[];
  /** What it can do; the rest is no business of its kind. */
  can: readonly CheckName[];
  run(place: Place): Promise<Results>;
}

/** What came of a program. */
export interface Outcome {
  code: number;
  /** What it wrote to either output. */
  text: string;
  timedOut: boolean;
}

/** Runs a program of a client to its end, or ends it when its time is over, in milliseconds. */
export async function runProgram(
  [command, ...args]: [string, ...string[]],
  { home, node }: Pick<Place, "home" | "node">,
  limit: number,
  environment: Record<string, string> = {},
): Promise<Outcome> {
  const child = new Deno.Command(command, {
    args,
    cwd: home,
    clearEnv: true,
    env: { PATH: `${node}:${Deno.env.get("PATH")}`, HOME: home, NO_COLOR: "1", ...environment },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endAllOf(home);
  }, limit);
  const output = child.output();
  await child.status;
  clearTimeout(timer);
  // What it started in the background may hold its outputs open.
  endAllOf(home);
  const { code, stdout, stderr } = await output;
  const decoder = new TextDecoder();
  return { code, text: decoder.decode(stdout) + decoder.decode(stderr), timedOut };
}

/** Ends the processes whose home this is, wherever they went: some clients leave a service running. */
function endAllOf(home: string): void {
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const environment = Deno.readTextFileSync(`/proc/${name}/environ`).split("\0");
      if (environment.includes(`HOME=${home}`)) Deno.kill(Number(name), "SIGKILL");
    } catch {
      // It has ended, or is another user's.
    }
  }
}
