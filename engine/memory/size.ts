// Sizes of memory for people, in the binary units in which GPUs are sold.

/** "8.0 GiB", or below one of those "512.0 MiB". */
export function formatSize(bytes: number): string {
  const [unit, name] = bytes >= 2 ** 30 ? [2 ** 30, "GiB"] : [2 ** 20, "MiB"];
  return `${(bytes / unit).toFixed(1)} ${name}`;
}
