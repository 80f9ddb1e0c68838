// The areas of the attack set, in the order in which they run.

import type { Area } from "../trial.ts";
import { bodies } from "./bodies.ts";
import { clients } from "./clients.ts";
import { connections } from "./connections.ts";
import { conversations } from "./conversations.ts";
import { disks } from "./disks.ts";
import { doors } from "./doors.ts";
import { files } from "./files.ts";
import { images } from "./images.ts";
import { lifecycles } from "./lifecycles.ts";
import { numbers } from "./numbers.ts";
import { options } from "./options.ts";
import { responses } from "./responses.ts";
import { schemas } from "./schemas.ts";
import { templates } from "./templates.ts";

/** All of them: those that may have more to do than there is time for come last. */
export const areas: readonly Area[] = [
  doors,
  images,
  options,
  numbers,
  clients,
  disks,
  connections,
  bodies,
  conversations,
  responses,
  templates,
  schemas,
  lifecycles,
  files,
];
