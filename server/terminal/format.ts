// Numbers, times and tables as the commands print them. Pure.

/** Decimal size in two or three digits: 912 B, 1.9 GB, 815 MB. */
export function formatBytes(bytes: number): string {
  for (const [unit, name] of [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "KB"]] as const) {
    const value = bytes / unit;
    if (value >= 1) return `${value >= 10 ? Math.round(value) : value.toFixed(1)} ${name}`;
  }
  return `${bytes} B`;
}

const TIME_UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

/** "2 minutes ago", "4 minutes from now", or "Forever" for what lies more than a century ahead. */
export function formatRelative(time: Date, now: Date): string {
  const seconds = (time.getTime() - now.getTime()) / 1000;
  const distance = Math.abs(seconds);
  if (seconds > 100 * 31_536_000) return "Forever";
  const [unit, size] = TIME_UNITS.find(([, size]) => distance >= size) ?? ["second", 1];
  const count = Math.floor(distance / size);
  if (count === 0) return "Now";
  return `${count} ${unit}${count === 1 ? "" : "s"} ${seconds < 0 ? "ago" : "from now"}`;
}

/** Milliseconds as a person reads them: 812.4ms, 12.30s. */
export function formatDuration(milliseconds: number): string {
  return milliseconds < 1000
    ? `${milliseconds.toFixed(1)}ms`
    : `${(milliseconds / 1000).toFixed(2)}s`;
}

/** Rows under their heads, columns four spaces apart, no borders; ends with a line feed. */
export function formatTable(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column]!)).join("    ").trimEnd()
  );
  return lines.join("\n") + "\n";
}
