// JSON as the model writes it: on one line, with a space after each colon and comma.

/** The value as JSON text. */
export function writeJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) =>
    `${JSON.stringify(key)}: ${writeJson(member)}`
  );
  return `{${members.join(", ")}}`;
}
