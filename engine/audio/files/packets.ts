// What a container such as Ogg or WebM gives a decoder: the packets of one sound, in order.

/** A packet of a codec. */
export interface Packet {
  readonly bytes: Uint8Array;
  /**
   * Samples of each channel up to this packet's last one that are sound, counted from the first one of the
   * file; undefined where the container does not tell. Only the end of a file leaves any out.
   */
  readonly end?: number | undefined;
  /** Samples at the packet's end that are no sound. */
  readonly padding?: number | undefined;
}

/** The sound in a container. */
export interface PacketStream {
  /** Name of the container, for people. */
  readonly container: string;
  /** Name of the codec: "Opus" or "Vorbis". */
  readonly codec: Codec;
  /** The codec's headers, which come before its packets. */
  readonly headers: readonly Uint8Array[];
  /** Samples of each channel in all, if that can be told; before those that are left out at the beginning. */
  readonly length?: number | undefined;
  /** The packets. `undefined` now and then, where there are none for long. Errors: AudioError. */
  packets(): Generator<Packet | undefined, void>;
}

/** Codecs that are decoded. */
export type Codec = "Opus" | "Vorbis";
