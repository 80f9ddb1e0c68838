// Contents of messages, which are texts or lists of parts, -> text with images and sounds; and the arguments
// of calls, which are JSON text, -> objects. Pure.

import { isJsonObject, parseExactJson, type ValueBudget } from "../../../../engine/mod.ts";
import { composeContent, type ComposedContent, type MediaPiece } from "../../../text/image_mark.ts";
import type { MediaReaders } from "../media.ts";
import type { Given } from "../../body/schema.ts";
import { refusal } from "./errors.ts";
import type { Content, ContentPart } from "./schema.ts";

const TEXT_TYPES = ["text", "input_text", "output_text", "summary_text", "reasoning_text"];

/** Separates the texts of the parts of a content. */
const SEPARATOR = "\n";

const DATA_URL = /^data:[^,]*;base64,/i;

/**
 * The text, the images and the sounds of a content.
 *
 * @param path where it stands, such as "messages[0].content"
 * @throws {HttpError} 400 for what is neither
 */
export function readContent(
  content: Content,
  path: string,
  read: MediaReaders,
): ComposedContent {
  if (content === undefined || content === null) return { content: "" };
  if (typeof content === "string") return { content };
  const pieces = content.map((part, index) => readPart(part, `${path}[${index}]`, read));
  return composeContent(pieces, (texts) => texts.join(SEPARATOR));
}

function readPart(part: ContentPart, path: string, read: MediaReaders): MediaPiece {
  if (TEXT_TYPES.includes(part.type)) return part.text ?? "";
  if (part.type === "refusal") return part.refusal ?? "";
  if (part.type === "input_audio") return { audio: readSound(part, path, read) };
  if (part.type !== "image_url" && part.type !== "input_image") {
    throw refusal(`${path}: parts of type "${part.type}" are not supported`, path);
  }
  const { image_url: image } = part;
  const url = (typeof image === "string" ? image : image?.url) ?? "";
  if (url !== "" && !DATA_URL.test(url)) {
    throw refusal(
      "image URLs are not currently supported, please use base64 encoded data instead: " +
        `${path} takes only data URLs, such as "data:image/png;base64,…"`,
      path,
    );
  }
  return { image: read.image(url.replace(DATA_URL, ""), path) };
}

/** The bytes of a sound, whose format the engine finds out itself. */
function readSound(
  { input_audio: sound }: ContentPart,
  path: string,
  read: MediaReaders,
): Uint8Array {
  if (sound?.data) return read.audio(sound.data.replace(DATA_URL, ""), `${path}.input_audio.data`);
  throw refusal(`${path} lacks "input_audio": {"data": …, "format": …}`, path);
}

/**
 * The arguments of a call that was made earlier.
 *
 * @param path where they stand
 * @param budget of the arguments of all calls of a request
 * @throws {HttpError} 400 if they are no JSON object, or too much together
 */
export function readArguments(
  given: Given<string | Record<string, unknown>>,
  path: string,
  budget: ValueBudget,
): Record<string, unknown> {
  if (given === undefined || given === null || given === "") return {};
  if (typeof given === "object") return given;
  let value: unknown;
  try {
    value = parseExactJson(given, budget);
  } catch (error) {
    throw refusal(`${path}: invalid JSON: ${(error as Error).message}`, path);
  }
  if (isJsonObject(value)) return value;
  throw refusal(`${path} must be the JSON text of an object`, path);
}
