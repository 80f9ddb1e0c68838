// The errors of the tokenizer layer: faults of a vocabulary, and failures of chat templates.

/** The error of a vocabulary that cannot be used: unsupported, broken, or without text. */
export class TokenizerError extends Error {
  /** Name of the class. */
  override name = "TokenizerError";
}

/**
 * Why a chat template gave no prompt. "syntax": it does not parse. "refused": it called
 * `raise_exception`, because the caller's messages do not suit it. "failed": it failed while it
 * ran. "limit": it needs more work or memory for these messages than a rendering may take.
 */
export type ChatTemplateFault = "syntax" | "refused" | "failed" | "limit";

/** The error of a chat template that gave no prompt. */
export class ChatTemplateError extends Error {
  /** Name of the class. */
  override name = "ChatTemplateError";

  /**
   * The message is the caller's, which knows the template.
   *
   * @param fault why there is no prompt
   */
  constructor(readonly fault: ChatTemplateFault, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}
