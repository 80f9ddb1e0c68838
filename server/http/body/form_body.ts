// The fields and the file of a multipart form (RFC 7578), as the values that a JSON body would have, so
// that the same schemas check them. The platform parses the form.

import { type BodyAllowance, readBody } from "./bodies.ts";
import { HttpError } from "../errors.ts";

/** A form. */
export interface FormBody {
  /** Its fields but the file: texts, and numbers and booleans where the schema wants them. */
  fields: Record<string, unknown>;
  /** The bytes of the field `file`. */
  file: Uint8Array<ArrayBuffer>;
}

/** The part of a body's schema that tells how fields are read. */
interface FormSchema {
  readonly properties: Readonly<Record<string, object>>;
}

/**
 * Reads a form. A field that is there several times, or whose name ends with "[]", is a list.
 *
 * @param context that of a route
 * @throws {HttpError} 400 for what is no form, or has no file; what `readBody` throws
 */
export async function readForm(
  { req, var: { body } }: { req: { raw: Request }; var: { body: BodyAllowance } },
  schema: FormSchema,
): Promise<FormBody> {
  const type = req.raw.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\b/i.test(type)) {
    throw new HttpError(
      400,
      `the request has to be a form: its content type is "${type}", not multipart/form-data`,
    );
  }
  const form = await parseForm(await readBody(req.raw, body), type);
  const file = form.get("file");
  if (file === null) throw new HttpError(400, "file is missing", "file");
  if (typeof file === "string" || form.getAll("file").length > 1) {
    throw new HttpError(400, "file has to be one file", "file");
  }
  const fields: Record<string, unknown> = {};
  for (const key of new Set(form.keys())) {
    if (key === "file") continue;
    const values = form.getAll(key);
    if (!values.every((value) => typeof value === "string")) {
      throw new HttpError(400, `${key} is a file: only "file" can be one`, key);
    }
    const name = key.replace(/\[\]$/, "");
    const types = typesOf(schema.properties[name]);
    const read = values.map((value) => readValue(value, types));
    const isList = types.includes("array") || key !== name || read.length > 1;
    fields[name] = isList ? [...(fields[name] as unknown[] | undefined) ?? [], ...read] : read[0];
  }
  return { fields, file: new Uint8Array(await file.arrayBuffer()) };
}

async function parseForm(bytes: Uint8Array, type: string): Promise<FormData> {
  try {
    const headers = { "content-type": type };
    return await new Response(bytes as Uint8Array<ArrayBuffer>, { headers }).formData();
  } catch (error) {
    throw new HttpError(400, `the form is damaged: ${(error as Error).message}`);
  }
}

function typesOf(schema: object | undefined): readonly unknown[] {
  return schema && "type" in schema ? [schema.type].flat() : [];
}

/** The value that a field stands for; its text where it is none of that type. */
function readValue(text: string, types: readonly unknown[]): unknown {
  const isNumber = types.includes("number") || types.includes("integer");
  if (isNumber && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  if (types.includes("boolean") && /^(true|false)$/i.test(text)) return /^true$/i.test(text);
  return text;
}
