// Sizes of memory as people write them: "24GB", "8 GiB", "512m" or bytes. As on the labels of GPUs and
// in Docker, letters alone and those with "iB" are binary; with "B" they are decimal.

const SIZE = /^(\d+\.?\d*|\.\d+)\s*(?:([kmgt])(i?b)?|b)?$/i;
const POWERS = ["k", "m", "g", "t"];

/**
 * Bytes of a size.
 *
 * @throws {RangeError} if the text is no size
 */
export function parseByteSize(text: string): number {
  const [match, number, letter, ending = "iB"] = SIZE.exec(text.trim()) ?? [];
  if (match === undefined) throw new RangeError(`invalid size "${text}"`);
  const base = ending.toLowerCase() === "b" ? 1000 : 1024;
  const power = letter === undefined ? 0 : POWERS.indexOf(letter.toLowerCase()) + 1;
  return Math.floor(Number(number) * base ** power);
}
