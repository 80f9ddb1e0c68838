// A shell in a window of tmux, in which a test types, and sees what a user would see.

/** Why tests that need tmux cannot run; undefined if they can. */
export const NO_TMUX = await isInstalled() ? undefined : "tmux is not installed";

const PROJECT_ROOT = new URL("../../../../", import.meta.url).pathname;

/** How long a program may take to show what is waited for. */
const PATIENCE_MILLISECONDS = 30_000;

/** A window with a shell whose prompt is "$ ", and in which `quern` is the program. */
export class Tmux implements AsyncDisposable {
  readonly #socket: string;

  private constructor(socket: string) {
    this.#socket = socket;
  }

  /** Opens a window of that many columns. */
  static async open(columns: number, environment: Record<string, string>): Promise<Tmux> {
    const tmux = new Tmux(`quern-${crypto.randomUUID()}`);
    const shell = ["env", "PS1=$ ", ...variables(environment), "sh"];
    const size = ["-x", String(columns), "-y", "24"];
    await tmux.#call("-f", "/dev/null", "new-session", "-d", ...size, "-c", PROJECT_ROOT, ...shell);
    await tmux.#call("set-option", "-g", "status", "off");
    await tmux.type(`quern() { ${program()} "$@"; }; clear`);
    await tmux.until((lines) => lines.length === 1);
    return tmux;
  }

  /** Types a line. */
  async type(line: string): Promise<void> {
    await this.#call("send-keys", "-l", line);
    await this.press("Enter");
  }

  /** Presses a key by tmux's name of it, such as C-c. */
  async press(key: string): Promise<void> {
    await this.#call("send-keys", key);
  }

  async resize(columns: number): Promise<void> {
    await this.#call("resize-window", "-x", String(columns));
  }

  /** The rows of the window, without the empty ones at its end. */
  async lines(): Promise<string[]> {
    const text = await this.#call("capture-pane", "-p");
    return text.trimEnd().split("\n");
  }

  /** Waits until the window shows what is expected, and gives it. */
  async until(isExpected: (lines: string[]) => boolean): Promise<string[]> {
    const deadline = Date.now() + PATIENCE_MILLISECONDS;
    let lines = await this.lines();
    while (!isExpected(lines)) {
      if (Date.now() > deadline) throw new Error(`The window shows:\n${lines.join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 30));
      lines = await this.lines();
    }
    return lines;
  }

  async isCursorShown(): Promise<boolean> {
    return (await this.#call("display-message", "-p", "#{cursor_flag}")).trim() === "1";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#call("kill-server");
  }

  async #call(...args: string[]): Promise<string> {
    const command = new Deno.Command("tmux", { args: ["-u", "-L", this.#socket, ...args] });
    const { success, stdout, stderr } = await command.output();
    if (!success) throw new Error(`tmux ${args[0]}: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout);
  }
}

/** The command line that runs the program from its source. */
export function program(): string {
  return `'${Deno.execPath()}' run -A --no-lock '${PROJECT_ROOT}mod.ts'`;
}

function variables(environment: Record<string, string>): string[] {
  return Object.entries(environment).map(([name, value]) => `${name}=${value}`);
}

async function isInstalled(): Promise<boolean> {
  try {
    return (await new Deno.Command("tmux", { args: ["-V"] }).output()).success;
  } catch {
    return false;
  }
}
