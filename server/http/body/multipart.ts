// Multipart forms (RFC 7578) as they arrive, part by part, without holding any: who asks takes the fields
// as texts, and files as bytes. Pure.

import { Buffer } from "node:buffer";
import { HttpError } from "../errors.ts";

/** What a part of a form begins with, or a piece of its content. */
export type FormEvent =
  | { kind: "part"; name: string; isFile: boolean }
  | { kind: "bytes"; bytes: Uint8Array };

/** Most bytes of the headers of a part. */
const MOST_HEADER = 16 * 2 ** 10;

/** Most parts of a form. */
const MOST_PARTS = 1000;

/** Text of a boundary (RFC 2046, section 5.1.1). */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";,]{1,70}))/i;

/**
 * Reads a form.
 *
 * @param chunks its bytes
 * @param type its content type, with the boundary between the parts
 * @throws {HttpError} 400 for a form that is damaged or cut off
 */
export async function* readParts(
  chunks: AsyncIterable<Uint8Array>,
  type: string,
): AsyncGenerator<FormEvent, void> {
  const boundary = BOUNDARY.exec(type);
  if (!boundary) throw damaged("its content type names no boundary");
  const delimiter = Buffer.from(`\r\n--${boundary[1] ?? boundary[2]}`);
  // The first delimiter needs no line before it.
  let bytes = Buffer.from("\r\n");
  let state: "content" | "header" | "end" = "content";
  let parts = 0;
  for await (const chunk of chunks) {
    if (state === "end") continue; // what follows the last delimiter has no meaning
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      if (state === "content") {
        const at = bytes.indexOf(delimiter);
        const content = bytes.subarray(
          0,
          at >= 0 ? at : Math.max(0, bytes.length - delimiter.length),
        );
        // What is before the first delimiter has no meaning either.
        if (parts > 0 && content.length > 0) yield { kind: "bytes", bytes: content };
        bytes = bytes.subarray(content.length);
        if (at < 0) break;
        bytes = bytes.subarray(delimiter.length);
        state = "header";
      }
      if (bytes.length >= 2 && bytes.subarray(0, 2).toString() === "--") {
        state = "end";
        break;
      }
      const end = bytes.indexOf("\r\n\r\n");
      if (end < 0 && bytes.length <= MOST_HEADER) break;
      if (end < 0 || end > MOST_HEADER) throw damaged("the headers of a part do not end");
      if (++parts > MOST_PARTS) throw damaged(`it has more than ${MOST_PARTS} parts`);
      yield { kind: "part", ...readHeader(bytes.subarray(0, end).toString()) };
      bytes = bytes.subarray(end + 4);
      state = "content";
    }
  }
  if (state !== "end") throw damaged("it ends before its last delimiter");
}

/** The name of a part, and whether it is a file. Errors: HttpError. */
function readHeader(text: string): { name: string; isFile: boolean } {
  const line = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(text)?.[1];
  const name = line && /(?:^|[;\s])name="((?:[^"\\]|\\.)*)"|(?:^|[;\s])name=([^\s;"]+)/i.exec(line);
  if (!name) throw damaged("a part has no name");
  // Browsers write quotes and line ends as %22, %0D and %0A.
  const plain = (name[1] ?? name[2]).replaceAll(/\\(.)/g, "$1")
    .replaceAll(/%(22|0D|0A)/gi, (code) => decodeURIComponent(code));
  return { name: plain, isFile: /(?:^|[;\s])filename\*?=/i.test(line!) };
}

function damaged(state: string): HttpError {
  return new HttpError(400, `the form is damaged: ${state}`);
}
