// Python's strftime for chat templates, which write today's date into system prompts. Names are
// English whatever the locale, because models were trained with them. Local time, as in Python.

const months =
  "January February March April May June July August September October November December"
    .split(" ");
const weekdays = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

function pad(value: number, width = 2): string {
  return String(value).padStart(width, "0");
}

function dayOfYear(date: Date): number {
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  return (Date.UTC(year, month, day) - Date.UTC(year, 0, 0)) / 86_400_000;
}

const directives: Readonly<Record<string, (date: Date) => string>> = {
  Y: (date) => String(date.getFullYear()),
  y: (date) => pad(date.getFullYear() % 100),
  m: (date) => pad(date.getMonth() + 1),
  B: (date) => months[date.getMonth()]!,
  b: (date) => months[date.getMonth()]!.slice(0, 3),
  d: (date) => pad(date.getDate()),
  e: (date) => String(date.getDate()).padStart(2, " "),
  A: (date) => weekdays[date.getDay()]!,
  a: (date) => weekdays[date.getDay()]!.slice(0, 3),
  H: (date) => pad(date.getHours()),
  I: (date) => pad(date.getHours() % 12 || 12),
  p: (date) => date.getHours() < 12 ? "AM" : "PM",
  M: (date) => pad(date.getMinutes()),
  S: (date) => pad(date.getSeconds()),
  j: (date) => pad(dayOfYear(date), 3),
  D: (date) => formatTime(date, "%m/%d/%y"),
  F: (date) => formatTime(date, "%Y-%m-%d"),
  R: (date) => formatTime(date, "%H:%M"),
  T: (date) => formatTime(date, "%H:%M:%S"),
  "%": () => "%",
};

/**
 * Formats `date` by `format`. `%-d` is `%d` without a leading zero; unknown directives stay as they
 * are.
 */
export function formatTime(date: Date, format: string): string {
  return format.replace(/%(-?)([A-Za-z%])/g, (directive, minus: string, letter: string) => {
    const text = Object.hasOwn(directives, letter) ? directives[letter]!(date) : directive;
    return minus === "" ? text : text.replace(/^[0 ]+(?=.)/, "");
  });
}
