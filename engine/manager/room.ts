// Who has to leave so that a model fits. Pure.

/** A model that takes memory. */
export interface Occupant {
  readonly bytes: number;
  /** Of the system's memory beside a GPU. Default 0. */
  readonly systemBytes?: number;
  /** Whether it could leave at once. */
  readonly isIdle: boolean;
  /** When it was last used, and how long it would stay, in milliseconds. */
  readonly lastUsed: number;
  readonly keepAlive: number;
}

/** How much there is. */
export interface Room {
  /** Bytes for all models. */
  bytes: number;
  /** Bytes of the system beside a GPU. Default: as many as wanted. */
  systemBytes?: number;
  /** Models at a time. */
  count: number;
}

/**
 * The idle models that have to leave before one that needs so much fits: those used longest ago, of
 * these the ones that would stay the shortest. None if it fits; undefined if all idle ones together
 * are not enough, so that it has to wait for the others and nobody has to leave yet.
 */
export function whoLeaves<T extends Occupant>(
  occupants: readonly T[],
  need: Pick<Occupant, "bytes" | "systemBytes">,
  room: Room,
): T[] | undefined {
  const all = [need, ...occupants];
  let bytes = all.reduce((sum, one) => sum + one.bytes, 0);
  let systemBytes = all.reduce((sum, one) => sum + (one.systemBytes ?? 0), 0);
  const { systemBytes: systemRoom = Infinity } = room;
  let count = occupants.length + 1;
  const idle = occupants.filter(({ isIdle }) => isIdle).sort((a, b) =>
    a.lastUsed - b.lastUsed || a.keepAlive - b.keepAlive
  );
  const leaving: T[] = [];
  while (bytes > room.bytes || systemBytes > systemRoom || count > room.count) {
    const next = idle[leaving.length];
    if (!next) return undefined;
    leaving.push(next);
    bytes -= next.bytes;
    systemBytes -= next.systemBytes ?? 0;
    count--;
  }
  return leaving;
}
