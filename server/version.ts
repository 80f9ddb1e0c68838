// The versions that the server tells of itself: this package's, and that of Ollama's API, which
// clients compare with the least one that they need.

import config from "../deno.json" with { type: "json" };

/** The version of this package: `quern --version`, /health, the header `Server`. */
export const VERSION: string = config.version;

/** The version of Ollama whose API is implemented: /api/version. */
export const OLLAMA_API_VERSION = "0.34.0";
