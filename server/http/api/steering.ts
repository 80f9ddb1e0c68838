// The option control_vectors of requests, and its way, and that of a model's own, to the hooks of the
// engine.

import {
  type HookChange,
  type ModelStore,
  RequestError,
  steer,
  type StoreEntry,
} from "../../../engine/mod.ts";
import { type BodyOf, closed, list, number } from "../body/schema.ts";
import { HttpError } from "../errors.ts";

/** The member of requests. */
export const steeringMembers = {
  control_vectors: {
    ...list(closed({
      name: { type: "string", description: "Name of a vector of /api/control_vectors." },
      scale: { ...number, description: "Factor; negative ones steer the other way. Default 1." },
      layers: {
        type: ["array", "null"],
        items: { type: "integer" },
        description: "First and last layer, both included. Default: all of the vector's.",
      },
      positions: {
        anyOf: [
          { type: "null" },
          { enum: ["all", "last"] },
          { type: "array", items: { type: "integer" } },
        ],
        description: 'Which to steer: "all" (default), "last" of the prompt, or a list.',
      },
    }, "name")),
    description:
      "Directions that are added inside the model, for this answer alone. Default: the model's own; " +
      "an empty list is none.",
  },
} as const;

const schema = closed(steeringMembers);

/** Vectors that a request names. */
export type SteeringWish = NonNullable<BodyOf<typeof schema>["control_vectors"]>;

/**
 * The changes of the vectors that a request names.
 *
 * @throws {HttpError} 400 for a vector that is not there, or does not have what is asked for
 */
export async function changesOf(
  wishes: SteeringWish,
  { controlVectors }: Pick<ModelStore, "controlVectors">,
): Promise<HookChange[]> {
  const changes: HookChange[] = [];
  for (const [index, { name, scale, layers, positions }] of wishes.entries()) {
    const param = `control_vectors[${index}]`;
    const [first, last, ...more] = layers ?? [1, Infinity];
    if (first === undefined || last === undefined || more.length > 0) {
      throw new HttpError(400, `${param}.layers: it is not a first and a last layer`, param);
    }
    try {
      changes.push(...steer(await controlVectors.find(name), {
        scale: scale ?? 1,
        ...(layers && { layers: [first, last] }),
        ...(positions && { positions }),
      }));
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      throw new HttpError(400, `${param}: ${error.message}`, param);
    }
  }
  return changes;
}

/** The changes of a model's own vectors, for requests that name none. */
export async function ownChangesOf(
  { defaults: { controlVectors: vectors = [] } }: Pick<StoreEntry, "defaults">,
  { controlVectors }: Pick<ModelStore, "controlVectors">,
): Promise<HookChange[]> {
  const changes = vectors.map(async ({ path, scale }) =>
    steer(await controlVectors.read(path), { scale })
  );
  return (await Promise.all(changes)).flat();
}
