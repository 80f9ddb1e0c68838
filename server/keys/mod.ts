// API keys: the file that names them, their limits, and what each has used.

export { KeyAccount, type KeyUsage, type LimitState } from "./account.ts";
export { createKey, encodeKeys, type KeyEntry, KeyFileError, parseKeys } from "./key_file.ts";
export { KeyRing, OWNER } from "./key_ring.ts";
