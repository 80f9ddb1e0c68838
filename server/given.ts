// Members of objects that may or may not be there: what bodies of requests leave out, and what is left
// out of bodies that are sent. Pure.

/** The members of an object that have a value. */
export type GivenMembers<T> = { [Name in keyof T]?: NonNullable<T[Name]> };

/** The members that are neither null nor undefined. */
export function given<T extends object>(members: T): GivenMembers<T> {
  return withMembers(members, (value) => value !== null && value !== undefined);
}

/** The members that say something: an empty text says as little as null. */
export function filled<T extends object>(members: T): GivenMembers<T> {
  return withMembers(members, (value) => value !== null && value !== undefined && value !== "");
}

function withMembers<T extends object>(
  members: T,
  has: (value: unknown) => boolean,
): GivenMembers<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => has(value)),
  ) as GivenMembers<T>;
}
