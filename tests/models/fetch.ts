// Fetches the trained models that tests use, as far as they can be had, and says which could not.

import { fetchModel, MODEL_NAMES } from "./files.ts";

const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text + "\n"));

for (const name of MODEL_NAMES) {
  try {
    await fetchModel(name);
    print(`${name} is there`);
  } catch (error) {
    print(`${name} could not be fetched, and its tests do not run: ${(error as Error).message}`);
  }
}
