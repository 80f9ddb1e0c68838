// The vocabulary of a model folder as GGUF's metadata, from any of the possible files.

import { fileSystem, isSystemError, join } from "../../../host/mod.ts";
import { ConversionError, UnsupportedModelError } from "../../errors.ts";
import type { WritableMetadata } from "../../gguf/mod.ts";
import { addListedTokens, isByteLevel, readByteLevel, Vocabulary } from "./vocabulary.ts";
import { readMarkedBpe, readSentencePieceModel } from "./sentencepiece.ts";
import type { Settings } from "./settings.ts";
import {
  readChatTemplate,
  readTokenizerFiles,
  specialTokenMetadata,
  type TokenizerFiles,
} from "./special_tokens.ts";

const SENTENCEPIECE_FILE = "tokenizer.model";

/**
 * Reads the vocabulary of a folder.
 * @param config config.json
 * @param size number of tokens, which is the rows of the embeddings
 * @throws ConversionError if a file is missing or invalid
 * @throws UnsupportedModelError if the engine does not support this kind of tokenizer
 */
export async function tokenizerMetadata(
  folder: string,
  config: Settings,
  size: number,
): Promise<WritableMetadata> {
  const files = await readTokenizerFiles(folder, config);
  const isBytes = files.tokenizer !== undefined && isByteLevel(files.tokenizer);
  const vocabulary = new Vocabulary(
    files.tokenizer?.file ?? join(folder, SENTENCEPIECE_FILE),
    size,
  );
  const algorithm = isBytes
    ? readByteLevel(bpeOf(files.tokenizer!), vocabulary)
    : await readMarked(files, vocabulary);
  addListedTokens(vocabulary, files.tokenizer, files.config);
  const template = await readChatTemplate(files);
  return {
    ...algorithm,
    ...vocabulary.metadata({ scores: !isBytes }),
    ...specialTokenMetadata(files, vocabulary, !isBytes),
    ...(template !== undefined && { "tokenizer.chat_template": template }),
  };
}

/** Reads SentencePiece, from tokenizer.model if there is one, because it has the scores. */
async function readMarked(
  { folder, tokenizer }: TokenizerFiles,
  vocabulary: Vocabulary,
): Promise<WritableMetadata> {
  const file = join(folder, SENTENCEPIECE_FILE);
  try {
    return readSentencePieceModel(file, await fileSystem().readFile(file), vocabulary);
  } catch (error) {
    if (!isSystemError(error, "NotFound")) throw error;
  }
  if (tokenizer) return readMarkedBpe(bpeOf(tokenizer), vocabulary);
  throw new ConversionError(
    folder,
    "tokenizer.json",
    `it is not there, nor is ${SENTENCEPIECE_FILE}`,
  );
}

/** The tokenizer.json, if it is byte pair encoding. */
function bpeOf(tokenizer: Settings): Settings {
  const model = tokenizer.object("model");
  if (!model) throw tokenizer.error("model", "it is missing");
  const type = model.string("type", "BPE");
  if (type === "BPE") return tokenizer;
  throw new UnsupportedModelError(
    `Cannot convert "${tokenizer.file}": model.type: ${type} is not supported, only BPE`,
  );
}
