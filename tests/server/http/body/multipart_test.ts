// Multipart forms part by part: however the bytes are cut, the parts are the same; what is damaged is
// refused; and the file of a form is on the disk while its request runs, and no longer.

import { assertEquals, assertRejects } from "@std/assert";
import { BodyAllowance, BodyBudget } from "../../../../server/http/body/bodies.ts";
import { readForm } from "../../../../server/http/body/form_body.ts";
import { readParts } from "../../../../server/http/body/multipart.ts";
import { HttpError } from "../../../../server/http/errors.ts";

const TYPE = 'multipart/form-data; boundary="a b"';
const FORM = [
  "preamble\r\n--a b\r\n",
  'Content-Disposition: form-data; name="one"\r\n\r\nfirst\r\n--a \r\n\r\n--a b\r\n',
  "content-type: audio/wav\r\n",
  'content-disposition: form-data; filename="x;y.wav"; name="fi%22le"\r\n\r\n\r\n--a b\r\n',
  "Content-Disposition: form-data; name=empty\r\n\r\n\r\n--a b--\r\nepilogue",
].join("");

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function partsOf(text: string, size = text.length, type = TYPE): Promise<string[]> {
  const parts: string[] = [];
  for await (const event of readParts(pieces(text, size), type)) {
    if (event.kind === "part") parts.push(`${event.name}${event.isFile ? " (file)" : ""}: `);
    else parts[parts.length - 1] += new TextDecoder().decode(event.bytes);
  }
  return parts;
}

Deno.test("parts are alike, however a form is cut into pieces", async () => {
  for (const size of [FORM.length, 1, 2, 7, 64]) {
    assertEquals(
      await partsOf(FORM, size),
      ["one: first\r\n--a \r\n", 'fi"le (file): ', "empty: "],
      `${size}`,
    );
  }
});

Deno.test("damaged forms are refused", async () => {
  const refused: [form: string, type: string, message: string][] = [
    [FORM.slice(0, -20), TYPE, "before its last delimiter"],
    [FORM, "multipart/form-data", "names no boundary"],
    ["--a b\r\nx: y\r\n\r\nz\r\n--a b--", TYPE, "has no name"],
    [`--a b\r\n${"x".repeat(20_000)}`, TYPE, "do not end"],
    ["", TYPE, "before its last delimiter"],
  ];
  for (const [form, type, message] of refused) {
    await assertRejects(() => partsOf(form, 100, type), HttpError, message);
  }
});

function contextOf(fields: Record<string, string | Blob>) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  const raw = new Request("http://localhost/", { method: "POST", body });
  return { req: { raw }, var: { body: new BodyAllowance(new BodyBudget(1e6), 1e5) } };
}

const SCHEMA = { properties: { n: { type: "number" } } };

Deno.test("a file is on the disk until it is disposed of, and gives its room back", async () => {
  const disk = new BodyBudget(1e6);
  const bytes = new Uint8Array(300_000).map((_, i) => i * i);
  const context = contextOf({ n: "4", file: new Blob([bytes]) });
  const { fields, file } = await readForm(context, SCHEMA, { maxBytes: 1e6, disk });
  assertEquals([fields, disk.held], [{ n: 4 }, 300_000]);
  assertEquals(await Deno.readFile(file.path), bytes);
  await file[Symbol.asyncDispose]();
  await assertRejects(() => Deno.stat(file.path), Deno.errors.NotFound);
  assertEquals(disk.held, 0);
});

Deno.test("files and fields that are too large are refused, and nothing stays on the disk", async () => {
  const disk = new BodyBudget(1e6);
  const file = new Blob([new Uint8Array(300_000)]);
  const refused: [fields: Record<string, string | Blob>, maxBytes: number, status: number][] = [
    [{ file }, 200_000, 413],
    [{ file: new Blob([file, file, file, file]) }, 9e6, 503],
    [{ file, n: "x".repeat(100_001) }, 9e6, 413],
    [{ file, other: file }, 9e6, 400],
    [{ n: "1" }, 9e6, 400],
  ];
  for (const [fields, maxBytes, status] of refused) {
    const error = await assertRejects(
      () => readForm(contextOf(fields), SCHEMA, { maxBytes, disk }),
      HttpError,
    );
    assertEquals([(error as HttpError).status, disk.held], [status, 0]);
  }
});
