// A form with a file (RFC 7578), whose body is made while it is sent, so that the file never lies in
// memory as a whole. Names are escaped as browsers do it.

/** A file of a form. */
export interface FormFile {
  /** Its name, without a folder. */
  readonly name: string;
  /** Its bytes, which are read once. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The request that sends a form: its fields, then the file as the field `file`. */
export function formRequest(
  fields: Readonly<Record<string, string>>,
  file: FormFile,
): RequestInit & { duplex: "half" } {
  const boundary = `quern-${crypto.randomUUID()}`;
  return {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: ReadableStream.from(partsOf(fields, file, boundary)),
    duplex: "half",
  };
}

async function* partsOf(
  fields: Readonly<Record<string, string>>,
  { name, bytes }: FormFile,
  boundary: string,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const head = (name: string, more = "") =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${escaped(name)}"${more}\r\n\r\n`;
  for (const [name, value] of Object.entries(fields)) {
    yield encoder.encode(`${head(name)}${value}\r\n`);
  }
  yield encoder.encode(head("file", `; filename="${escaped(name)}"`));
  yield* bytes;
  yield encoder.encode(`\r\n--${boundary}--\r\n`);
}

function escaped(name: string): string {
  return name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}
