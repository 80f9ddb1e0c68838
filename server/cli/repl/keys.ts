// Bytes of a terminal in raw mode -> keys. Knows the sequences of xterm and compatible terminals, and
// bracketed paste. A sequence or character that is split between two reads is joined again.
// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html

/**
 * A key. `text` and `paste` carry what is to be inserted; all others are named for what they are:
 * `left`, `enter`, `ctrl+a`, `alt+b`.
 */
export interface Key {
  readonly name: string;
  /** Empty except for `text` and `paste`. */
  readonly text: string;
}

const ESCAPE = "\x1b";
const PASTE_START = `${ESCAPE}[200~`;
const PASTE_END = `${ESCAPE}[201~`;

const TEXT = /^\P{Cc}+/u;
// What comes behind an escape: parameters and the final character, or what may still become that.
const SEQUENCE = /^(?:\[([\d;:<=>?]*)([@-~])|O([A-Za-z]))/;
const BEGINNING = /^(?:\[[\d;:<=>?]*|O)?$/;

/** Names by final character; `~` has its number instead. */
const FINALS: Record<string, string> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  "1~": "home",
  "3~": "delete",
  "4~": "end",
  "7~": "home",
  "8~": "end",
};

const CONTROLS: Record<string, string> = {
  "\t": "tab",
  "\r": "enter",
  // Programs that type into a terminal end lines with it.
  "\n": "enter",
  "\b": "backspace",
  "\x7f": "backspace",
  [ESCAPE]: "escape",
};

/** Decodes reads one after the other. */
export class KeyDecoder {
  readonly #utf8 = new TextDecoder();
  #rest = "";

  /** The keys that these bytes complete. */
  push(bytes: Uint8Array): Key[] {
    this.#rest += this.#utf8.decode(bytes, { stream: true });
    const keys: Key[] = [];
    while (this.#rest !== "") {
      const found = nextKey(this.#rest);
      if (!found) break;
      this.#rest = this.#rest.slice(found.length);
      keys.push(found.key);
    }
    return keys;
  }
}

/** The first key and how much of the input it is; undefined if more must come. */
function nextKey(input: string): { key: Key; length: number } | undefined {
  const named = (name: string, length: number) => ({ key: { name, text: "" }, length });
  const text = TEXT.exec(input)?.[0];
  if (text) return { key: { name: "text", text }, length: text.length };
  if (!input.startsWith(ESCAPE)) return named(controlName(input[0]!), 1);
  if (input.startsWith(PASTE_START)) return nextPaste(input);

  const rest = input.slice(ESCAPE.length);
  const sequence = SEQUENCE.exec(rest);
  if (sequence) return named(sequenceName(sequence), ESCAPE.length + sequence[0].length);
  if (BEGINNING.test(rest)) return undefined;
  if (rest.startsWith(ESCAPE)) return named("escape", ESCAPE.length);
  const [character = ""] = rest;
  return named(`alt+${controlName(character)}`, ESCAPE.length + character.length);
}

function nextPaste(input: string): { key: Key; length: number } | undefined {
  const end = input.indexOf(PASTE_END);
  if (end < 0) return undefined;
  const text = input.slice(PASTE_START.length, end);
  return { key: { name: "paste", text }, length: end + PASTE_END.length };
}

function sequenceName([, parameters = "", final = "", applicationFinal]: RegExpExecArray): string {
  const [number = "", modifier = "1"] = parameters.split(";");
  const name = FINALS[applicationFinal ?? (final === "~" ? `${number}~` : final)];
  if (!name) return "unknown";
  // The modifier is one more than a sum of 1 for Shift, 2 for Alt, 4 for Ctrl.
  const held = Number(modifier) - 1;
  return (held & 4 ? "ctrl+" : "") + (held & 2 ? "alt+" : "") + name;
}

function controlName(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 0x20 && code !== 0x7f) return character;
  return CONTROLS[character] ?? `ctrl+${String.fromCharCode(code + 0x60)}`;
}

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
