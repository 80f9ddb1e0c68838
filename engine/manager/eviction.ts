// Chooses which idle models are evicted so that another fits into memory. A pure function.

/** A model that takes memory. */
export interface Occupant {
  readonly bytes: number;
  /** Bytes of the system's memory beside a GPU. Default 0. */
  readonly systemBytes?: number;
  /** Whether it has no user, so that it can be closed at once. */
  readonly isIdle: boolean;
  /** Time of its last use, and how long it would stay, in milliseconds. */
  readonly lastUsed: number;
  readonly keepAlive: number;
}

/** Limits that all loaded models share. */
export interface MemoryLimits {
  /** Bytes of the device for all models. */
  bytes: number;
  /** Bytes of the system beside a GPU for all models. Default: unlimited. */
  systemBytes?: number;
  /** Most models at a time. */
  count: number;
}

/**
 * The idle models to evict before a model of this size fits: the least recently used first, and of
 * those the ones that would expire first. Empty if it fits already. Undefined if evicting all idle
 * models is not enough; then nothing is evicted, and the load waits for models in use.
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
