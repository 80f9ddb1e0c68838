// Progress on a terminal: a line for each state and each count, redrawn in place a few times a second
// and fitted to the window as it is then. The cursor is hidden meanwhile, and comes back at the end,
// also when that is Ctrl-C. The control sequences are those of ECMA-48 and DEC's cursor mode.

import type { LoadProgress } from "../../../engine/mod.ts";
import type { Environment } from "../../settings/environment.ts";
import { formatBytes, formatRemaining, movesCursor, padEnd, truncate, widthOf } from "./format.ts";
import type { Terminal } from "./terminal.ts";

const HIDE_CURSOR = "\x1b[?25l";

const SHOW_CURSOR = "\x1b[?25h";

const CLEAR_TO_END_OF_LINE = "\x1b[K";

const CLEAR_BELOW = "\x1b[J";

const FRAME_MILLISECONDS = 100;

const SPINNER = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];

/** How lines are shown. */
export interface LiveOptions {
  /** Whether they go away at the end. */
  transient?: boolean;
  /** Milliseconds from any origin. */
  now?: () => number;
}

/** The content of one line. */
interface Line extends ProgressRecord {
  meter: RateMeter;
}

/** Lines that redraw themselves until they are disposed of. */
export class LiveLines implements Progress {
  readonly #terminal: Terminal;
  readonly #transient: boolean;
  readonly #now: () => number;
  readonly #lines = new Map<string, Line>();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #forgetInterrupt: () => void;
  #drawn: string[] = [];
  #frame = 0;
  #isClosed = false;

  constructor(terminal: Terminal, options: LiveOptions = {}) {
    const { transient = false, now = () => performance.now() } = options;
    this.#terminal = terminal;
    this.#transient = transient;
    this.#now = now;
    this.#timer = setInterval(() => this.#draw(), FRAME_MILLISECONDS);
    // Restore the cursor at once, because a second Ctrl-C does not wait for the end of the work.
    this.#forgetInterrupt = terminal.onInterrupt(() => this[Symbol.dispose]());
    terminal.writeError(HIDE_CURSOR);
  }

  /** Takes a record. A new line is drawn at once, a changed one with the next frame. */
  update(record: ProgressRecord): void {
    if (this.#isClosed) return;
    const known = this.#lines.get(record.status);
    const line = { ...record, meter: known?.meter ?? new RateMeter() };
    if (record.total !== undefined) line.meter.add(record.completed ?? 0, this.#now());
    this.#lines.set(record.status, line);
    if (!known) this.#draw();
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#forgetInterrupt();
    if (this.#transient) this.#lines.clear();
    this.#draw();
    this.#terminal.writeError((this.#drawn.length > 0 ? "\r\n" : "") + SHOW_CURSOR);
  }

  #draw(): void {
    const { columns, rows } = this.#terminal.size();
    const back = this.#rowsDrawn(columns) - 1;
    // The last column stays free, since a line that reaches it would wrap on some terminals; and
    // what has left the window at its top cannot be drawn again.
    const lines = [...this.#lines.values()].slice(-Math.max(1, rows - 1));
    this.#drawn = lines.map((line) => this.#format(line, line === lines.at(-1), columns - 1));
    this.#frame++;
    this.#terminal.writeError(
      (back > 0 ? `\x1b[${back}A` : "") + "\r" +
        this.#drawn.map((text) => text + CLEAR_TO_END_OF_LINE).join("\r\n") + CLEAR_BELOW,
    );
  }

  /** How many rows the last frame takes now: a window made narrower has wrapped its lines. */
  #rowsDrawn(columns: number): number {
    const rowsOf = (text: string) => Math.max(1, Math.ceil(widthOf(text) / columns));
    return this.#drawn.reduce((sum, text) => sum + rowsOf(text), 0);
  }

  #format(line: Line, isLast: boolean, columns: number): string {
    const { status, total, completed = 0, meter } = line;
    if (total !== undefined) {
      return formatBar({ label: status, total, completed, rate: meter.rate(this.#now()) }, columns);
    }
    // A state lasts until the next one.
    const isSpinning = isLast && !this.#isClosed && status !== "success";
    return isSpinning
      ? `${truncate(status, columns - 2)} ${SPINNER[this.#frame % SPINNER.length]}`
      : truncate(status, columns);
  }
}

/** A state, or how far a count is, in bytes; records of the same status are about the same thing. */
export interface ProgressRecord {
  status: string;
  total?: number | undefined;
  completed?: number | undefined;
}

/** Shows records until it is disposed of. */
export interface Progress extends Disposable {
  update(record: ProgressRecord): void;
}

// How fast a value grows, over a sliding window: steady enough to read, and quick to show a stall.

const WINDOW_MILLISECONDS = 5000;
/** The shortest time over which a rate is given. */
const SHORTEST_MILLISECONDS = 500;

/** Measures a value that grows. Times are in milliseconds. */
export class RateMeter {
  #samples: { time: number; value: number }[] = [];

  /** Notes what the value is now. A value that has gone back, as by a retry, begins anew. */
  add(value: number, time: number): void {
    const last = this.#samples.at(-1);
    if (last && value < last.value) this.#samples = [];
    this.#samples.push({ time, value });
    this.#forget(time);
  }

  /** Growth per second, undefined while there is too little to tell. */
  rate(time: number): number | undefined {
    this.#forget(time);
    const [first] = this.#samples;
    if (!first || time - first.time < SHORTEST_MILLISECONDS) return undefined;
    return 1000 * (this.#samples.at(-1)!.value - first.value) / (time - first.time);
  }

  /** Keeps the last sample before the window, which says what the value was where it begins. */
  #forget(time: number): void {
    const start = time - WINDOW_MILLISECONDS;
    const inside = this.#samples.findIndex((sample) => sample.time >= start);
    const first = inside === -1 ? this.#samples.length : inside;
    const [before] = this.#samples.splice(0, first).slice(-1);
    if (before) this.#samples.unshift({ time: start, value: before.value });
  }
}

// One line of progress for a window of a given width. Where it is narrow, rate and remaining time go
// first, then the bar, then the sizes, and at last the end of the label. Pure.

/** How far something is; counts in bytes. */
export interface BarState {
  label: string;
  completed: number;
  total: number;
  /** Bytes per second, if it is known. */
  rate?: number | undefined;
}

const SHORTEST_BAR = 8;
/** Columns of "999 MB/999 MB", "999 MB/s" and "59m59s", so that the lines of layers stand in step. */
const COLUMNS = { sizes: 13, rate: 8, remaining: 6 };

/** A line such as `pulling 7cd4618c1faf:  43% ▕████      ▏ 351 MB/815 MB  12 MB/s  38s`. */
export function formatBar(state: BarState, columns: number): string {
  const { label, total } = state;
  const completed = Math.min(state.completed, total);
  const share = total > 0 ? completed / total : 1;
  const percent = `${Math.floor(100 * share)}%`;
  const head = `${label}: ${percent.padStart(4)}`;
  const sizes = share === 1
    ? formatBytes(total)
    : `${formatBytes(completed)}/${formatBytes(total)}`;
  const paddedSizes = padEnd(sizes, COLUMNS.sizes);
  for (const tail of [`${paddedSizes}  ${speedOf(state)}`, paddedSizes]) {
    const length = columns - widthOf(`${head} ▕▏ ${tail}`);
    if (length < SHORTEST_BAR) continue;
    const filled = Math.floor(share * length);
    return `${head} ▕${"█".repeat(filled)}${" ".repeat(length - filled)}▏ ${tail}`.trimEnd();
  }
  const withoutBar = `${head} ${sizes}`;
  if (widthOf(withoutBar) <= columns) return withoutBar;
  return `${truncate(label, columns - widthOf(": 100%"))}: ${percent.padStart(4)}`;
}

/** Rate and remaining time, in columns of their own also while they are not known. */
function speedOf({ completed, total, rate }: BarState): string {
  const isRunning = rate !== undefined && completed < total;
  const text = isRunning ? `${formatBytes(Math.round(rate))}/s` : "";
  const remaining = isRunning && rate > 0 ? formatRemaining((total - completed) / rate) : "";
  return `${padEnd(text, COLUMNS.rate)}  ${padEnd(remaining, COLUMNS.remaining)}`;
}

// The progress of long work, on standard error: on a terminal, lines that are redrawn; elsewhere plain
// lines, one for each state and one for each tenth of a count.

/** Shows the progress of a command as the terminal allows. */
export function showProgress(terminal: Terminal, environment: Environment): Progress {
  return movesCursor(terminal.stderrIsTerminal, environment)
    ? new LiveLines(terminal)
    : new PlainLines(terminal);
}

/** The result of {@linkcode showLoadProgress}: the callback for a load. */
export interface LoadDisplay extends Disposable {
  update(progress: LoadProgress): void;
}

/**
 * Shows how much of the weights is loaded, on a line that disappears at the end. Where standard
 * error is no terminal, nothing is shown, because scripts want only the answer.
 */
export function showLoadProgress(terminal: Terminal, environment: Environment): LoadDisplay {
  if (!movesCursor(terminal.stderrIsTerminal, environment)) {
    return { update: () => {}, [Symbol.dispose]: () => {} };
  }
  const lines = new LiveLines(terminal, { transient: true });
  return {
    update: ({ loaded, total }) => lines.update({ status: "loading", completed: loaded, total }),
    [Symbol.dispose]: () => lines[Symbol.dispose](),
  };
}

/** Progress as a log shows it. */
class PlainLines implements Progress {
  readonly #terminal: Terminal;
  /** The last tenth told of each status; of one without a count, -1. */
  readonly #told = new Map<string, number>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  update({ status, total, completed = 0 }: ProgressRecord): void {
    const share = total === undefined ? undefined : total > 0 ? completed / total : 1;
    const tenth = share === undefined ? -1 : Math.floor(10 * share);
    if (tenth <= (this.#told.get(status) ?? -2)) return;
    this.#told.set(status, tenth);
    const count = share === undefined
      ? ""
      : `: ${Math.floor(100 * share)}% of ${formatBytes(total!)}`;
    this.#terminal.writeError(`${status}${count}\n`);
  }

  [Symbol.dispose](): void {}
}
