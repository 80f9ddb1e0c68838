// Files that the page hands to the browser.

/** Offers a text as a file. */
export function save(name: string, content: string, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A name that every system takes for a file. */
export function fileName(title: string, ending: string): string {
  const name = title.replaceAll(/[^\p{L}\p{N} _-]/gu, "").trim().replaceAll(/\s+/g, "-").slice(
    0,
    60,
  );
  return `${name || "conversation"}.${ending}`;
}
