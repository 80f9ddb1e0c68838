// The version of this package, as /api/version and --version tell it.

import config from "../deno.json" with { type: "json" };

export const VERSION: string = config.version;
