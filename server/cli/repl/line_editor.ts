// The text that is being typed: takes keys, and holds text and cursor. A line feed is part of the
// message; the owner decides whether Enter ends it. Draws nothing.
// Keys are those of GNU Readline's Emacs mode: https://tiswww.case.edu/php/chet/readline/rluserman.html

import { dirname } from "node:path";
import { withoutControls } from "../terminal/format.ts";
import type { Key } from "./keys.ts";

/**
 * What the owner has to do after a key: take the text, forget it, end, clear the screen, or stop
 * the process.
 */
export type EditorAction = "submit" | "cancel" | "end" | "clear" | "suspend";

/** The parts of an editor. */
export interface LineEditorOptions {
  /** Earlier texts, the oldest first. */
  history?: readonly string[];
  /** Whether Enter submits this text; else it puts in a line feed. Default: always. */
  isComplete?: (text: string) => boolean;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const LETTER = /[\p{L}\p{M}\p{N}_]/u;
const NOT_SPACE = /\S/u;

/** One text from the first key to the last. */
export class LineEditor {
  readonly #history: readonly string[];
  readonly #isComplete: (text: string) => boolean;
  #text = "";
  /** UTF-16 units before the cursor; always between two graphemes. */
  #cursor = 0;
  /** Index in the history of the text that is shown; its length stands for the text being typed. */
  #entry: number;
  #draft = "";
  #killed = "";
  #search: ReverseSearch | undefined;

  constructor({ history = [], isComplete = () => true }: LineEditorOptions = {}) {
    this.#history = history;
    this.#isComplete = isComplete;
    this.#entry = history.length;
  }

  get text(): string {
    return this.#search ? this.#search.match ?? "" : this.#text;
  }

  get cursor(): number {
    return this.#search ? this.text.length : this.#cursor;
  }

  /** The text that is searched for in the history; undefined without a search. */
  get query(): string | undefined {
    return this.#search?.query;
  }

  /** Takes a key; returns what the owner has to do, if anything. */
  press(key: Key): EditorAction | void {
    if (this.#search) {
      const outcome = this.#search.press(key);
      if (outcome === "searching") return;
      if (outcome === "found") this.#replace(this.#search.match ?? this.#text);
      this.#search = undefined;
      if (outcome === "given up") return;
    }
    if (key.text !== "") {
      return this.#insert(withoutControls(key.text.replace(/\r\n?/g, "\n")));
    }
    return this.#bindings[key.name]?.();
  }

  readonly #bindings: Record<string, () => EditorAction | void> = {
    "enter": () => this.#isComplete(this.#text) ? "submit" : this.#insert("\n"),
    "alt+enter": () => this.#insert("\n"),
    "left": () => this.#move(this.#before()),
    "ctrl+b": () => this.#move(this.#before()),
    "right": () => this.#move(this.#after()),
    "ctrl+f": () => this.#move(this.#after()),
    "home": () => this.#move(this.#lineStart()),
    "ctrl+a": () => this.#move(this.#lineStart()),
    "end": () => this.#move(this.#lineEnd()),
    "ctrl+e": () => this.#move(this.#lineEnd()),
    "alt+b": () => this.#move(this.#wordStart(LETTER)),
    "alt+left": () => this.#move(this.#wordStart(LETTER)),
    "ctrl+left": () => this.#move(this.#wordStart(LETTER)),
    "alt+f": () => this.#move(this.#wordEnd()),
    "alt+right": () => this.#move(this.#wordEnd()),
    "ctrl+right": () => this.#move(this.#wordEnd()),
    "up": () => this.#moveLine(-1),
    "ctrl+p": () => this.#moveLine(-1),
    "down": () => this.#moveLine(1),
    "ctrl+n": () => this.#moveLine(1),
    "backspace": () => this.#delete(this.#before(), this.#cursor),
    "delete": () => this.#delete(this.#cursor, this.#after()),
    "ctrl+d": () => this.#text === "" ? "end" : this.#delete(this.#cursor, this.#after()),
    "ctrl+u": () => this.#kill(this.#lineStart(), this.#cursor),
    // At the end of a line, the line feed is deleted.
    "ctrl+k": () => this.#kill(this.#cursor, Math.max(this.#lineEnd(), this.#after())),
    "ctrl+w": () => this.#kill(this.#wordStart(NOT_SPACE), this.#cursor),
    "alt+backspace": () => this.#kill(this.#wordStart(LETTER), this.#cursor),
    "alt+d": () => this.#kill(this.#cursor, this.#wordEnd()),
    "ctrl+y": () => this.#insert(this.#killed),
    "ctrl+r": () => void (this.#search = new ReverseSearch(this.#history)),
    "ctrl+c": () => "cancel",
    "ctrl+l": () => "clear",
    "ctrl+z": () => "suspend",
  };

  #move(cursor: number): void {
    this.#cursor = cursor;
  }

  #insert(text: string): void {
    this.#text = this.#text.slice(0, this.#cursor) + text + this.#text.slice(this.#cursor);
    this.#cursor += text.length;
  }

  #delete(start: number, end: number): void {
    this.#text = this.#text.slice(0, start) + this.#text.slice(end);
    this.#cursor = start;
  }

  #kill(start: number, end: number): void {
    if (start === end) return;
    this.#killed = this.#text.slice(start, end);
    this.#delete(start, end);
  }

  #replace(text: string): void {
    this.#text = text;
    this.#cursor = text.length;
  }

  /** Start of the grapheme before the cursor. */
  #before(): number {
    if (this.#cursor === 0) return 0;
    return graphemes.segment(this.#text).containing(this.#cursor - 1)!.index;
  }

  /** End of the grapheme after the cursor. */
  #after(): number {
    const found = graphemes.segment(this.#text).containing(this.#cursor);
    return found ? found.index + found.segment.length : this.#cursor;
  }

  #lineStart(): number {
    return this.#text.slice(0, this.#cursor).lastIndexOf("\n") + 1;
  }

  #lineEnd(): number {
    const end = this.#text.indexOf("\n", this.#cursor);
    return end < 0 ? this.#text.length : end;
  }

  /** The beginning of the word before the cursor. */
  #wordStart(isInWord: RegExp): number {
    let index = this.#cursor;
    while (index > 0 && !isInWord.test(this.#text[index - 1]!)) index--;
    while (index > 0 && isInWord.test(this.#text[index - 1]!)) index--;
    return index;
  }

  /** The end of the word after the cursor. */
  #wordEnd(): number {
    let index = this.#cursor;
    while (index < this.#text.length && !LETTER.test(this.#text[index]!)) index++;
    while (index < this.#text.length && LETTER.test(this.#text[index]!)) index++;
    return index;
  }

  /** To the line above or below; beyond the first and the last one, to another text. */
  #moveLine(step: -1 | 1): void {
    const start = this.#lineStart();
    const end = this.#lineEnd();
    const column = this.#cursor - start;
    if (step < 0 && start > 0) {
      this.#cursor = start - 1;
      this.#moveInto(Math.min(this.#lineStart() + column, start - 1));
    } else if (step > 0 && end < this.#text.length) {
      this.#cursor = end + 1;
      this.#moveInto(Math.min(end + 1 + column, this.#lineEnd()));
    } else {
      this.#recall(this.#entry + step);
    }
  }

  /** To the start of the grapheme there. */
  #moveInto(index: number): void {
    this.#cursor = graphemes.segment(this.#text).containing(index)?.index ?? index;
  }

  #recall(entry: number): void {
    if (entry < 0 || entry > this.#history.length) return;
    if (this.#entry === this.#history.length) this.#draft = this.#text;
    this.#entry = entry;
    this.#replace(this.#history[entry] ?? this.#draft);
  }
}

// Ctrl-R: a search backwards through the history that narrows with each key. Pure.

/** Whether the search continues, ended with a match, or was cancelled. */
type SearchOutcome = "searching" | "found" | "given up";

/** One search, from the newest text to the oldest. */
class ReverseSearch {
  readonly #history: readonly string[];
  /** The index of the match in the history; at first, the index after the newest entry. */
  #entry: number;
  #query = "";

  constructor(history: readonly string[]) {
    this.#history = history;
    this.#entry = history.length;
  }

  get query(): string {
    return this.#query;
  }

  /** The text found, if one was. */
  get match(): string | undefined {
    return this.#history[this.#entry];
  }

  /** Takes a key; one that is none of the search ends it, and then has its own effect. */
  press(key: Key): SearchOutcome {
    if (key.name === "ctrl+g" || key.name === "ctrl+c" || key.name === "escape") return "given up";
    if (key.name === "text") this.#narrow(this.#query + key.text);
    else if (key.name === "backspace") this.#restart([...this.#query].slice(0, -1).join(""));
    else if (key.name === "ctrl+r") this.#find(this.#entry - 1);
    else return "found";
    return "searching";
  }

  #narrow(query: string): void {
    this.#query = query;
    this.#find(Math.min(this.#entry, this.#history.length - 1));
  }

  #restart(query: string): void {
    this.#entry = this.#history.length;
    this.#narrow(query);
  }

  /** Stays where it is if there is no older match. */
  #find(from: number): void {
    const found = this.#history.findLastIndex((text, entry) =>
      entry <= from && text.includes(this.#query)
    );
    if (found >= 0) this.#entry = found;
  }
}

// The history of inputs, across runs: a file with a text per line, the oldest first. Line feeds and
// backslashes within a text are escaped by a backslash. Only its owner can read the file.
// Concurrent runs append to it, so that none loses what another has written.

/** Texts that are kept. */
const LIMIT = 1000;

/** The history of a person's prompts. */
export class History {
  /** The oldest first. */
  readonly entries: string[];
  /** Whether new texts are kept. */
  enabled: boolean;
  readonly #path: string | undefined;

  /** @param path of the file; without one, texts live as long as the history */
  constructor(path?: string, entries: readonly string[] = [], enabled = true) {
    this.#path = path;
    this.entries = [...entries];
    this.enabled = enabled;
  }

  /** Reads the file, which may be missing, and cuts it to the newest entries if it is too long. */
  static async load(path: string): Promise<History> {
    const lines = await readLines(path);
    const kept = lines.slice(-LIMIT);
    if (kept.length < lines.length) await rewrite(path, kept);
    return new History(path, kept.map(unescape));
  }

  /** Adds a text, unless it is empty or the last one again. */
  async add(text: string): Promise<void> {
    if (!this.enabled || text.trim() === "" || text === this.entries.at(-1)) return;
    this.entries.push(text);
    if (this.entries.length > LIMIT) this.entries.shift();
    if (this.#path === undefined) return;
    await Deno.mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await Deno.writeTextFile(this.#path, `${escape(text)}\n`, { append: true, mode: 0o600 });
  }
}

async function readLines(path: string): Promise<string[]> {
  try {
    return (await Deno.readTextFile(path)).split("\n").filter((line) => line !== "");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

async function rewrite(path: string, lines: readonly string[]): Promise<void> {
  const temporary = `${path}.${Deno.pid}`;
  await Deno.writeTextFile(temporary, lines.map((line) => `${line}\n`).join(""), { mode: 0o600 });
  await Deno.rename(temporary, path);
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function unescape(line: string): string {
  return line.replace(/\\([\\n])/g, (_, character) => character === "n" ? "\n" : character);
}
