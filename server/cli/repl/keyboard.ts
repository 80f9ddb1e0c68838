// The bytes of keys of this process's terminal, one by one instead of by lines. Behind an interface, so
// that tests can type. keys.ts decodes them.

/**
 * How the terminal treats input: `keys` gives each key to the program, including Ctrl-C; `silent` shows
 * nothing, and Ctrl-C is a signal; `lines` is the mode of a shell.
 */
export type KeyboardMode = "keys" | "silent" | "lines";

/** The source of keys. */
export interface Keyboard {
  setMode(mode: KeyboardMode): void;
  /** The next input; undefined when the terminal is gone. */
  read(): Promise<Uint8Array | undefined>;
  /** Calls back when the window has another size, until the returned function is called. */
  onResize(callback: () => void): () => void;
  /** Stops the process, as Ctrl-Z does; returns when it goes on. */
  suspend(): void;
}

/** The keyboard of this process. */
export function systemKeyboard(): Keyboard {
  const hasJobControl = Deno.build.os !== "windows";
  return {
    setMode(mode) {
      Deno.stdin.setRaw(mode !== "lines", { cbreak: mode === "silent" && hasJobControl });
    },
    async read() {
      const buffer = new Uint8Array(65_536);
      const length = await Deno.stdin.read(buffer);
      return length === null ? undefined : buffer.subarray(0, length);
    },
    onResize(callback) {
      if (!hasJobControl) return () => {};
      Deno.addSignalListener("SIGWINCH", callback);
      return () => Deno.removeSignalListener("SIGWINCH", callback);
    },
    suspend() {
      if (hasJobControl) Deno.kill(Deno.pid, "SIGTSTP");
    },
  };
}
