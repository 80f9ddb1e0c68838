// Progress on a terminal: a line for each state and each count, redrawn in place a few times a second
// and fitted to the window as it is then. The cursor is hidden meanwhile, and comes back at the end,
// also when that is Ctrl-C. The control sequences are those of ECMA-48 and DEC's cursor mode.

import { formatBar } from "./bar.ts";
import { RateMeter } from "./rate_meter.ts";
import type { Terminal } from "./terminal.ts";
import { truncate, widthOf } from "./width.ts";

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
