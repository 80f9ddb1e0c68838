// Contents of messages and arguments of calls: texts, or lists of parts, as plain text; and JSON text
// as the object that the engine takes. Pure.

import type { Given } from "../ollama_types.ts";
import { refusal } from "./error.ts";
import type { Content, ContentPart } from "./request_types.ts";

const TEXT_TYPES = ["text", "input_text", "output_text", "summary_text", "reasoning_text"];

/** Between the texts of a content's parts. */
const SEPARATOR = "\n";

/**
 * The text of a content.
 *
 * @param place where it stands, such as "messages[0].content"
 * @throws {HttpError} 400 for what is no text
 */
export function readContent(content: Content, place: string, model: Given<string>): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  return content.map((part, index) => readPart(part, `${place}[${index}]`, model)).join(SEPARATOR);
}

function readPart(part: ContentPart, place: string, model: Given<string>): string {
  if (TEXT_TYPES.includes(part.type)) return part.text ?? "";
  if (part.type === "refusal") return part.refusal ?? "";
  if (part.type !== "image_url" && part.type !== "input_image") {
    throw refusal(`${place}: parts of type "${part.type}" are not supported`, place);
  }
  const { image_url: image } = part;
  const url = typeof image === "string" ? image : image?.url;
  throw refusal(
    /^https?:/i.test(url ?? "")
      ? "image URLs are not currently supported, please use base64 encoded data instead"
      : `"${model}" does not support image input`,
    place,
  );
}

/**
 * The arguments of a call that was made earlier.
 *
 * @param place where they stand
 * @throws {HttpError} 400 if they are no JSON object
 */
export function readArguments(
  given: Given<string | Record<string, unknown>>,
  place: string,
): Record<string, unknown> {
  if (given === undefined || given === null || given === "") return {};
  if (typeof given === "object") return given;
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch (error) {
    throw refusal(`${place}: invalid JSON: ${(error as Error).message}`, place);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw refusal(`${place} must be the JSON text of an object`, place);
}
