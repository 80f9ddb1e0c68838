// The library as other programs than Deno's get it. build.ts bundles it.

import "./recent_javascript.ts";

export * from "../mod.ts";
