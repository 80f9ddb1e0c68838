// Ollama's chat templates, in the language of Go's text/template, for model files without another
// one: createGoTemplate() parses a template, renderGoChat() makes a prompt with it.

export {
  type GoChat,
  type GoFillInMiddle,
  renderGoChat,
  renderGoChatText,
  renderGoFillInMiddle,
} from "./chat.ts";
export { GoTemplateError } from "./errors.ts";
export {
  createGoTemplate,
  type GoTemplate,
  type GoTemplateOptions,
  type GoTemplateValues,
} from "./template.ts";
export { type GoValue, toGoValue } from "./values.ts";
