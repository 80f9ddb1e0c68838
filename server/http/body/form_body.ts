// The fields and the file of a multipart form (RFC 7578): fields as the values that a JSON body would have,
// so that the same schemas check them, and the file on a disk, where it may be larger than memory.

import { type BodyAllowance, type BodyBudget, bodyPieces, tooLarge } from "./bodies.ts";
import { isJsonObject } from "../../../engine/mod.ts";
import { HttpError } from "../errors.ts";
import { parseBytes } from "./json_body.ts";
import { readParts } from "./multipart.ts";

/** A form. */
export interface FormBody {
  /** Its fields but the file: texts, and numbers, booleans and objects where the schema wants them. */
  fields: Record<string, unknown>;
  /** The field `file`. */
  file: UploadedFile;
}

/** The part of a body's schema that tells how fields are read. */
export interface FormSchema {
  readonly properties: Readonly<Record<string, object>>;
}

/** The part of a field's schema that tells how it is read. */
interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly object[];
  readonly properties?: Readonly<Record<string, object>>;
}

/** How large a file may be. */
export interface UploadLimits {
  /** Most bytes of a form with its file. */
  readonly maxBytes: number;
  /** What all files together may take of the disk. */
  readonly disk: BodyBudget;
}

/** A file of a request, in the system's folder for temporary files. Disposal removes it. */
export class UploadedFile implements AsyncDisposable {
  readonly #disk: BodyBudget;
  readonly #file: Deno.FsFile;
  #size = 0;
  #isRemoved = false;

  private constructor(readonly path: string, file: Deno.FsFile, disk: BodyBudget) {
    this.#file = file;
    this.#disk = disk;
  }

  static async create(disk: BodyBudget): Promise<UploadedFile> {
    const path = await Deno.makeTempFile({ prefix: "quern-upload-" });
    return new UploadedFile(path, await Deno.open(path, { write: true }), disk);
  }

  /** Writes further bytes. Errors: HttpError 503 if other files take the room. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#disk.take(bytes.length);
    this.#size += bytes.length;
    for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    this.#disk.give(this.#size);
    this.#file.close();
    await Deno.remove(this.path).catch(() => {});
  }
}

/**
 * Reads a form. A field that is there several times, or whose name ends with "[]", is a list; one named
 * `a[b]` is the member `b` of the object `a`, which may also be there as JSON.
 *
 * @param context that of a route
 * @returns the form, whose file has to be disposed of
 * @throws {HttpError} 400 for what is no form, has no file, or JSON that is damaged; what `bodyPieces` throws
 */
export async function readForm(
  { req, var: { body } }: { req: { raw: Request }; var: { body: BodyAllowance } },
  schema: FormSchema,
  { maxBytes, disk }: UploadLimits,
): Promise<FormBody> {
  const type = req.raw.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\b/i.test(type)) {
    throw new HttpError(
      400,
      `the request has to be a form: its content type is "${type}", not multipart/form-data`,
    );
  }
  await using upload = new AsyncDisposableStack();
  const texts = new Map<string, FieldText[]>();
  let file: UploadedFile | undefined;
  let field: FieldText | undefined;
  for await (const event of readParts(bodyPieces(req.raw, maxBytes), type)) {
    if (event.kind === "bytes") {
      if (field) field.add(event.bytes, body);
      else await file!.write(event.bytes);
      continue;
    }
    field = undefined;
    const { name, isFile } = event;
    if (isFile && name !== "file") {
      throw new HttpError(400, `${name} is a file: only "file" can be one`, name);
    }
    if (name === "file" && (!isFile || file)) {
      throw new HttpError(400, "file has to be one file", "file");
    }
    if (isFile) file = upload.use(await UploadedFile.create(disk));
    else texts.set(name, [...texts.get(name) ?? [], field = new FieldText()]);
  }
  if (!file) throw new HttpError(400, "file is missing", "file");
  const fields: Record<string, unknown> = {};
  for (const [key, values] of texts) {
    const name = key.replace(/\[\]$/, "");
    const [, outer = "", inner = ""] = /^(\w+)\[(\w+)\]$/.exec(name) ?? [];
    const member = memberOf(memberOf(schema, outer), inner);
    const types = typesOf(member ?? memberOf(schema, name));
    const read: unknown[] = [];
    for (const { text } of values) read.push(await readValue(text, types, body));
    const [object, at] = member ? [objectIn(fields, outer), inner] : [fields, name];
    const isList = types.includes("array") || key !== name || read.length > 1;
    if (!isList && Object.hasOwn(object, at)) throw twice(name);
    object[at] = isList ? [...(object[at] as unknown[] | undefined) ?? [], ...read] : read[0];
  }
  upload.move();
  return { fields, file };
}

/** The text of a field, which arrives in pieces. */
class FieldText {
  readonly #decoder = new TextDecoder();
  #text = "";
  #size = 0;

  /** Errors: HttpError if it is larger than a body may be. */
  add(bytes: Uint8Array, allowance: BodyAllowance): void {
    allowance.hold(bytes.length);
    this.#size += bytes.length;
    if (this.#size > allowance.maxBytes) throw tooLarge(allowance.maxBytes);
    this.#text += this.#decoder.decode(bytes, { stream: true });
  }

  get text(): string {
    return this.#text + this.#decoder.decode();
  }
}

/** The types that a field may have. */
function typesOf(schema: object | undefined): readonly string[] {
  const { type = [], anyOf = [] }: FieldSchema = schema ?? {};
  return [type, ...anyOf.map(typesOf)].flat();
}

/** The schema of an object's member, if it names that. */
function memberOf(schema: object | undefined, name: string): object | undefined {
  const { properties = {}, anyOf = [] }: FieldSchema = schema ?? {};
  if (Object.hasOwn(properties, name)) return properties[name];
  return anyOf.map((each) => memberOf(each, name)).find((found) => found);
}

/** The object that a field is, so far. Errors: HttpError if it is something else, too. */
function objectIn(fields: Record<string, unknown>, name: string): Record<string, unknown> {
  const object = fields[name] ??= {};
  if (isJsonObject(object)) return object;
  throw twice(name);
}

function twice(name: string): HttpError {
  return new HttpError(400, `${name} is there in two forms: give one`, name);
}

/** The value that a field stands for; its text where it is none of that type. */
async function readValue(
  text: string,
  types: readonly string[],
  allowance: BodyAllowance,
): Promise<unknown> {
  if (types.includes("object") && text.trimStart().startsWith("{")) {
    return await parseBytes(new TextEncoder().encode(text), allowance);
  }
  const isNumber = types.includes("number") || types.includes("integer");
  if (isNumber && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  if (types.includes("boolean") && /^(true|false)$/i.test(text)) return /^true$/i.test(text);
  return text;
}
