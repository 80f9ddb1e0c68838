// The server's log: plain lines with time and level, written through a given function.
// No global state and no configuration file; `serve` writes to stderr.

/** Where the server reports what it does. */
export interface Log {
  debug(text: string): void;
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

/** What a log needs. */
export interface LogOptions {
  /** Takes whole lines, line feed included. */
  write: (line: string) => void;
  /** Whether debug lines are written. Default false. */
  debug?: boolean;
  now?: () => Date;
}

/** A log that writes one line per entry: `2026-11-21T10:00:00.000Z INFO  text`. */
export function createLog({ write, debug = false, now = () => new Date() }: LogOptions): Log {
  const at = (level: string) => (text: string) =>
    write(`${now().toISOString()} ${level.padEnd(5)} ${text}\n`);
  return {
    debug: debug ? at("DEBUG") : () => {},
    info: at("INFO"),
    warn: at("WARN"),
    error: at("ERROR"),
  };
}
