// A worker from which Deno and Node are taken away before it imports modules, as if it ran in a browser.
// It answers with the errors of the imports.

// Deno needs itself to load packages of npm, which a bundle has in it.
import "../../engine/dependencies.ts";

// deno-lint-ignore no-explicit-any
const world = globalThis as any;
const TAKEN = ["Deno", "process", "Buffer", "global", "setImmediate", "clearImmediate"];
for (const name of TAKEN) delete world[name];

world.onmessage = async ({ data }: MessageEvent<string[]>) => {
  const errors = TAKEN.filter((name) => name in world).map((name) => `${name} is still there`);
  for (const module of data) {
    await import(module).catch((error) => errors.push(`${module}: ${error}`));
  }
  world.postMessage(errors);
};
