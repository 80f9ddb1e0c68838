// What Linux tells of a processor: how many cores of which kinds, on how many sockets. Reports of speed by
// threads begin with it, since threads of unlike cores, or with memory of another socket, differ.

/** A kind of core, such as performance cores: those that the system lists together, or rates alike. */
export interface CoreKind {
  readonly name: string;
  /** Logical cores. */
  readonly cores: number;
}

export interface Processor {
  readonly sockets: number;
  /** Physical cores: those with more than one thread count once. */
  readonly physical: number;
  /** The fastest ones first; one kind where the system tells no difference. */
  readonly kinds: readonly CoreKind[];
}

const CPU = "/sys/devices/system/cpu";

/**
 * Reads the processor.
 *
 * @param read gives the text of a file of the system, or undefined where there is none
 * @returns undefined where the system does not tell, as outside of Linux
 */
export function readProcessor(
  read: (path: string) => string | undefined,
): Processor | undefined {
  const online = read(`${CPU}/online`);
  if (online === undefined) return undefined;
  const cores = readList(online);
  const topology = (core: number, name: string) => read(`${CPU}/cpu${core}/topology/${name}`);
  const socketOf = (core: number) => topology(core, "physical_package_id")?.trim() ?? "0";
  const coreOf = (core: number) => `${socketOf(core)} ${topology(core, "core_id")?.trim() ?? core}`;
  return {
    sockets: new Set(cores.map(socketOf)).size,
    physical: new Set(cores.map(coreOf)).size,
    kinds: kindsOf(cores, read),
  };
}

/** Intel's hybrid processors have lists of their kinds; ARM's rate the capacity of each core. */
function kindsOf(
  cores: readonly number[],
  read: (path: string) => string | undefined,
): CoreKind[] {
  const lists = [["performance", "cpu_core"], ["efficiency", "cpu_atom"]] as const;
  const listed = lists.flatMap(([name, device]) => {
    const list = read(`/sys/devices/${device}/cpus`);
    const count = list === undefined ? 0 : readList(list).length;
    return count > 0 ? [{ name, cores: count }] : [];
  });
  if (listed.length > 0) return listed;
  const capacities = cores.map((core) => Number(read(`${CPU}/cpu${core}/cpu_capacity`) ?? 0));
  const rated = [...new Set(capacities)].sort((a, b) => b - a);
  return rated.map((capacity) => ({
    name: rated.length > 1 ? `capacity ${capacity}` : "alike",
    cores: capacities.filter((other) => other === capacity).length,
  }));
}

/** The numbers of a list as the kernel writes it, such as "0-3,8". */
function readList(text: string): number[] {
  return text.trim().split(",").filter(Boolean).flatMap((range) => {
    const [first, last] = range.split("-").map(Number);
    return Array.from({ length: (last ?? first!) - first! + 1 }, (_, i) => first! + i);
  });
}

/** In words, such as "8 cores of 16 threads, 1 socket, 8 performance and 8 efficiency". */
export function describeProcessor({ sockets, physical, kinds }: Processor): string {
  const logical = kinds.reduce((sum, { cores }) => sum + cores, 0);
  const several = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const unlike = kinds.length > 1
    ? `; of the threads ${kinds.map(({ name, cores }) => `${cores} ${name}`).join(", ")}`
    : "";
  return `${several(physical, "core")} with ${several(logical, "thread")}, ` +
    `${several(sockets, "socket")}${unlike}`;
}
