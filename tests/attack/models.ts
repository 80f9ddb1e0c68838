// The models of the server under attack, all with random weights but the one in the box: `tiny`, a Llama
// with tools and thinking; `sees`, one that reads images; and files that areas add for themselves.

import { createVisionApp } from "../server/http/api/vision_app.ts";
import { TOOL_TEMPLATE, writeTinyLlama } from "../tiny_model.ts";

/** Window of `tiny`, in tokens. */
export const WINDOW = 512;

/**
 * Writes them.
 *
 * @returns the folder of the models, which goes away with the process
 */
export async function writeModels(): Promise<string> {
  const { folder } = await createVisionApp("attack");
  await writeTinyLlama(`${folder}/tiny.gguf`, { context: WINDOW, template: TOOL_TEMPLATE });
  return folder;
}

/** A small model for faults of files: 110 kB, so that a thousand of them are soon written. */
export function writeSmallest(path: string, template?: string): Promise<void> {
  return writeTinyLlama(path, {
    layers: 1,
    embedding: 32,
    heads: 2,
    keyValueHeads: 1,
    feedForward: 64,
    vocabulary: 260,
    context: 256,
    ...(template !== undefined && { template }),
  });
}
