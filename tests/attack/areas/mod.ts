// The areas of the attack set, in the order in which they run.

import type { Area } from "../trial.ts";
import { bodies } from "./bodies.ts";
import { options } from "./options.ts";
import { schemas } from "./schemas.ts";
import { templates } from "./templates.ts";

/** All of them. */
export const areas: readonly Area[] = [bodies, options, schemas, templates];
