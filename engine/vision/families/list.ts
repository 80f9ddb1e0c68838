// The families of image encoders. A new one is a file beside this one and a line here.

export { gemma3, gemma4 } from "./gemma.ts";
export { idefics3 } from "./idefics3.ts";
export { llama4 } from "./llama4.ts";
export { llava } from "./llava.ts";
export { pixtral } from "./pixtral.ts";
export { qwen25vl, qwen3vl } from "./qwen_vl.ts";
