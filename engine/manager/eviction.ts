// Which idle models are evicted so that another fits into memory. Pure.

/** A model that takes memory. */
export interface Occupant {
  readonly bytes: number;
  /** Of the system's memory beside a GPU. Default 0. */
  readonly systemBytes?: number;
  /** Whether nobody uses it, so that it can be closed at once. */
  readonly isIdle: boolean;
  /** When it was last used, and how long it would stay, in milliseconds. */
  readonly lastUsed: number;
  readonly keepAlive: number;
}

/** Limits that all loaded models share. */
export interface MemoryLimits {
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
export function chooseEvictions<T extends Occupant>(
  occupants: readonly T[],
  need: Pick<Occupant, "bytes" | "systemBytes">,
  limits: MemoryLimits,
): T[] | undefined {
  const all = [need, ...occupants];
  let bytes = all.reduce((sum, one) => sum + one.bytes, 0);
  let systemBytes = all.reduce((sum, one) => sum + (one.systemBytes ?? 0), 0);
  const { systemBytes: systemRoom = Infinity } = limits;
  let count = occupants.length + 1;
  const idle = occupants.filter(({ isIdle }) => isIdle).sort((a, b) =>
    a.lastUsed - b.lastUsed || a.keepAlive - b.keepAlive
  );
  const evicted: T[] = [];
  while (bytes > limits.bytes || systemBytes > systemRoom || count > limits.count) {
    const next = idle[evicted.length];
    if (!next) return undefined;
    evicted.push(next);
    bytes -= next.bytes;
    systemBytes -= next.systemBytes ?? 0;
    count--;
  }
  return evicted;
}
