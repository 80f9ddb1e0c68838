// The errors of the tokenizer layer: what is wrong with a vocabulary, and why a chat template
// gave no prompt.

/** A vocabulary that cannot be used as asked: unsupported, broken, or without text. */
export class TokenizerError extends Error {
  /** Name of the class. */
  override name = "TokenizerError";
}

/**
 * Why a chat template gave no prompt: it does not parse, it refused the conversation through
 * `raise_exception` (the caller's messages are at fault), it failed while it ran, or it would have
 * taken more work or memory for these messages than a rendering may.
 */
export type ChatTemplateFault = "syntax" | "refused" | "failed" | "limit";

/** A chat template gave no prompt; `fault` says whose doing it is. */
export class ChatTemplateError extends Error {
  /** Name of the class. */
  override name = "ChatTemplateError";

  /** Says why there is no prompt. @param fault whose doing it is */
  constructor(readonly fault: ChatTemplateFault, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}
