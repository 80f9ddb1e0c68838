// Checksums and texts as a browser gets them, beside those of Node.

import { assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { crc32 as zlibCrc32 } from "node:zlib";
import { crc32, latin1Reader, sha256 } from "../../host/mod.ts";
import { plainCrc32, plainLatin1, PlainSha256 } from "../../host/bytes.ts";

/** Lengths around those at which a block and its padding end. */
const LENGTHS = [0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 70_000];

const bytesOf = (length: number) => Uint8Array.from({ length }, (_, i) => i * 31 + (i >> 8));

Deno.test("a plain SHA-256 is Node's, however the bytes come", () => {
  for (const length of LENGTHS) {
    const bytes = bytesOf(length);
    const expected = createHash("sha256").update(bytes).digest("hex");
    for (const piece of [length || 1, 1, 7, 64, 100]) {
      const [plain, fast] = [new PlainSha256(), sha256()];
      for (let at = 0; at < length; at += piece) {
        plain.update(bytes.subarray(at, at + piece));
        fast.update(bytes.subarray(at, at + piece));
      }
      assertEquals([plain.digest("hex"), fast.digest("hex")], [expected, expected]);
    }
  }
});

Deno.test("a SHA-256 of a text is that of its UTF-8, and its bytes are those of the hex", () => {
  const expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  assertEquals(new PlainSha256().update("abc").digest("hex"), expected);
  assertEquals(Uint8Array.from(sha256().update("abc").digest()).toHex(), expected);
  assertEquals(Uint8Array.from(new PlainSha256().update("abc").digest()).toHex(), expected);
  const accents = createHash("sha256").update("héllo").digest("hex");
  assertEquals(new PlainSha256().update("héllo").digest("hex"), accents);
});

Deno.test("a plain CRC-32 is zlib's", () => {
  for (const length of LENGTHS) {
    const bytes = bytesOf(length);
    const expected = zlibCrc32(bytes);
    assertEquals([plainCrc32(bytes), crc32(bytes)], [expected, expected]);
    const [first, rest] = [bytes.subarray(0, 2), bytes.subarray(2)];
    for (const sum of [plainCrc32, crc32]) assertEquals(sum(rest, sum(first)), expected);
  }
});

Deno.test("texts of Latin-1 have a character for each byte", () => {
  const bytes = bytesOf(20_000);
  const expected = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  assertEquals(plainLatin1(bytes), expected);
  assertEquals(latin1Reader(bytes.subarray(5))(2, 9_000), expected.slice(7, 9_005));
});
