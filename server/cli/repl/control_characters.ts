// Text from elsewhere must not steer the terminal: neither what is pasted nor what a model says.

/** All but tab and line feed. */
const CONTROLS = /(?![\t\n])\p{Cc}/gu;

/** The text without its control characters, but for tabs and line feeds. */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, "");
}
