// The form of most answers: an object whose members are all known.

/** An object with these members and no others, all of them required but for the optional ones. */
export function record(members: Record<string, object>, optional: Record<string, object> = {}) {
  return {
    type: "object",
    required: Object.keys(members),
    properties: { ...members, ...optional },
    additionalProperties: false,
  };
}
