// POST /api/create: the body -> what the engine is to make. Pure.
// Format: https://github.com/ollama/ollama/blob/main/docs/api.md

import type { CreateRequest } from "../../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";
import type { CreateBody } from "./schema.ts";

/**
 * Translates the body.
 *
 * @param model name of the new model
 * @throws {HttpError} 400 for what this version does not do
 */
export function toCreateRequest(body: CreateBody, model: string): CreateRequest {
  if (Object.keys(body.draft_files ?? {}).length > 0) {
    throw new HttpError(400, "draft_files: draft models are not available", "draft_files");
  }
  const { license } = body;
  const rest = given({
    from: body.from,
    files: body.files,
    adapters: body.adapters,
    quantize: body.quantize || body.quantization,
    template: body.template,
    system: body.system,
    parameters: body.parameters,
    messages: body.messages?.map(({ role, content }) => ({ role, content: content ?? "" })),
    license: typeof license === "string" ? [license] : license,
    requires: body.requires,
    renderer: body.renderer,
    parser: body.parser,
    info: body.info,
    remoteHost: body.remote_host,
  });
  return { model, ...rest };
}

/** The members that say something. */
function given<T extends object>(members: T): Given<T> {
  const isGiven = (value: unknown) => value !== undefined && value !== null && value !== "";
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => isGiven(value)),
  ) as Given<T>;
}

type Given<T> = { [Name in keyof T]?: NonNullable<T[Name]> };
