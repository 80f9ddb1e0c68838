// The user's key of Ollama, ~/.ollama/id_ed25519, and signatures with it.
// The format is OpenSSH's (PROTOCOL.key in its sources), unencrypted, Ed25519 only.

import { Buffer } from "node:buffer";
import { createPrivateKey, sign } from "node:crypto";

const PEM = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]+)-----END OPENSSH PRIVATE KEY-----/;
const MAGIC = "openssh-key-v1\0";
const KEY_TYPE = "ssh-ed25519";
const SEED_BYTES = 32;
/** The bytes before the seed in the PKCS #8 form of an Ed25519 key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** An Ed25519 key that can sign. */
export interface SigningKey {
  /** The public half in base64, as it stands in authorized_keys. */
  readonly publicKey: string;
  /** The signature of a text in base64. */
  sign(text: string): string;
}

/**
 * Reads an unencrypted OpenSSH private key.
 *
 * @throws {SyntaxError} if the text is none, or the key is encrypted or of another kind
 */
export function parseSshKey(text: string): SigningKey {
  const reader = new Reader(Buffer.from(PEM.exec(text)?.[1] ?? "", "base64"));
  if (reader.take(MAGIC.length).toString("latin1") !== MAGIC) {
    throw new SyntaxError("Cannot read the private key: it is not in OpenSSH's format");
  }
  const cipher = reader.string().toString();
  if (cipher !== "none") {
    throw new SyntaxError(`Cannot read the private key: it is encrypted with ${cipher}`);
  }
  reader.string(); // name of the key derivation, "none"
  reader.string(); // its options
  if (reader.number() !== 1) {
    throw new SyntaxError("Cannot read the private key: the file holds several keys");
  }
  const publicKey = reader.string().toString("base64");
  const secret = new Reader(reader.string());
  secret.take(8); // two equal numbers that tell whether decryption went well
  const type = secret.string().toString();
  if (type !== KEY_TYPE) {
    throw new SyntaxError(`Cannot read the private key: it is of type ${type}, not ${KEY_TYPE}`);
  }
  secret.string(); // the public half again
  const seed = secret.string().subarray(0, SEED_BYTES);
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return {
    publicKey,
    sign: (message) => sign(null, Buffer.from(message), key).toString("base64"),
  };
}

/** Reads numbers and length-prefixed strings, both big-endian. */
class Reader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(count: number): Buffer {
    const end = this.#offset + count;
    if (end > this.#bytes.length) {
      throw new SyntaxError("Cannot read the private key: it is not in OpenSSH's format");
    }
    const taken = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return taken;
  }

  number(): number {
    return this.take(4).readUInt32BE();
  }

  string(): Buffer {
    return this.take(this.number());
  }
}
