// The packages of this layer, with their versions. They are not in the import map of deno.json,
// because programs that import the library do not use that.

export { Ajv, type ValidateFunction } from "npm:ajv@8.20.0";

/**
 * Opus's decoder: libopus as WebAssembly (MIT and BSD licences), of 90 kB, which is loaded when a sound
 * needs it. The packages for MP3 and Ogg of its author are not used: they contain code under the LGPL.
 */
export const loadOpusDecoder = () => import("npm:opus-decoder@0.7.12");
