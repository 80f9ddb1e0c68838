// What clients send, cut to a bound before it is kept, logged or answered: a request may hold megabytes
// of text in any of its parts, and any number of them may come. Pure.

/** The text, or its beginning and how long it is. The result is a little longer than `most`. */
export function bounded(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}… (${text.length} characters)`;
}

/** Sets an entry of a map that has at most so many: beyond, the oldest one goes. */
export function setBounded<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  most: number,
): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most) map.delete(oldest!);
}
