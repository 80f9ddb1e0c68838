// The engines whose masks are compared, behind one interface: ours, and llguidance as a WebAssembly
// module. Its package is named here, so that users do not install it.

import { compileSchema } from "../engine/grammar/mod.ts";
import type { Metadata, Tokenizer } from "../tokenizer/mod.ts";

/** One document while it is written. */
export interface MaskDocument {
  /** Makes the mask and tells whether a token is in it. */
  allows(token: number): boolean;
  accept(token: number): void;
}

/** An engine that makes masks. */
export interface MaskEngine {
  /** Whether a grammar can be used for several documents. */
  readonly keepsGrammars: boolean;
  /**
   * Compiles a schema and returns a function that begins a document. Throws if it cannot be
   * enforced.
   */
  compile(schema: unknown): () => MaskDocument;
}

const LLGUIDANCE = "npm:transformers-llguidance@0.2.1";

/** Types of `tokenizer.ggml.token_type`: control and user-defined. */
const SPECIAL_TYPES = [3, 4];

/** Ours, with white space anywhere and keys in the order of the schema, as llguidance has them. */
export function openOwn(tokenizer: Tokenizer): MaskEngine {
  return {
    keepsGrammars: true,
    compile: (schema) => {
      const compiled = compileSchema(schema, tokenizer, { whitespace: "free", anyNumbers: true });
      return () => {
        const matcher = compiled.matcher();
        return {
          allows: (token) => (matcher.mask()[token >>> 5]! >>> (token & 31) & 1) === 1,
          accept: (token) => void matcher.accept(token),
        };
      };
    },
  };
}

/** llguidance, with the vocabulary of a GGUF file; its set-up is not part of compiling. */
export async function openLlguidance(
  metadata: Metadata,
  tokenizer: Tokenizer,
): Promise<MaskEngine> {
  const package_ = await import(LLGUIDANCE);
  await package_.__tla;
  const pieces = metadata["tokenizer.ggml.tokens"] as readonly string[];
  const types = metadata["tokenizer.ggml.token_type"] as ArrayLike<number>;
  const vocab: Record<string, number> = {};
  const added: Record<string, unknown>[] = [];
  pieces.forEach((content, id) => {
    if (!SPECIAL_TYPES.includes(types[id]!)) vocab[spell(tokenizer.tokenBytes(id))] = id;
    else {
      const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
      added.push({ id, content, ...flags, special: true });
    }
  });
  const parser = await package_.GuidanceParser.create({ type: "json_schema", schema: {} }, {
    vocab,
    merges: metadata["tokenizer.ggml.merges"],
    added_tokens: added,
    model_type: "bpe",
    eos_token_id: metadata["tokenizer.ggml.eos_token_id"],
  });
  return {
    keepsGrammars: false,
    compile: (schema) => {
      parser.reset({ type: "json_schema", schema });
      return () => ({
        // Makes the whole mask, but does not copy it out of the module's memory.
        allows: (token) => parser.isTokenAllowed(token),
        accept: (token) => parser.advance(token),
      });
    },
  };
}

/**
 * The bytes of a token as text that llguidance reads correctly: it takes letters from U+0100 on for
 * bytes, and misreads those of Latin-1.
 */
function spell(bytes: Uint8Array): string {
  return [...bytes].map((byte) =>
    String.fromCharCode(byte > 0x20 && byte < 0x7f ? byte : 0x100 + byte)
  ).join("");
}
