// Numbers as people read them.

/** 5640032 -> "5.6 MB". */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** 1234567 -> "1,234,567". */
export function formatCount(count: number): string {
  return count.toLocaleString("en-GB");
}

/** 0.0371 -> "3.7 %"; what is nearly nothing or all does not become it. */
export function formatPercent(share: number): string {
  const percent = 100 * share;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  if (percent < 100 && percent > 99.9) return "> 99.9 %";
  return `${percent >= 99.95 || percent === 0 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}

/** Seconds as "0.42 s" or "3 min 5 s". */
export function formatSeconds(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long ago, roughly. */
export function formatAge(time: number, now = Date.now()): string {
  const days = Math.floor((now - time) / 86_400_000);
  if (days < 1) {
    return new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  }
  if (days < 7) return new Date(time).toLocaleDateString("en-GB", { weekday: "short" });
  return new Date(time).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

/** A token as it is shown: white space that would not be seen gets a sign. */
export function showToken(token: string): string {
  return token.replaceAll("\n", "↵").replaceAll("\t", "⇥").replaceAll(" ", "·") || "∅";
}
