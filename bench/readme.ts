// `deno task readme`: brings README's table of architectures up to date.

import { withArchitectureTable } from "../engine/models/table.ts";

const path = new URL("../README.md", import.meta.url);
await Deno.writeTextFile(path, withArchitectureTable(await Deno.readTextFile(path)));
