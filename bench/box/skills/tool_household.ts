// Tools that do something in the house: light, heating, music, and what is bought for it.

import type { ToolTemplate } from "./tool_catalog.ts";

export const HOUSEHOLD_TOOLS: readonly ToolTemplate[] = [
  {
    names: "play_music play_song music",
    about: "play a song",
    needs: "title",
    requests: [
      '[play|start|put on] [|the song |the track ][{title}|"{title}"][| now]',
      'I [want to|would like to|want to] [hear|listen to] [|the song ][{title}|"{title}"]',
    ],
    again: '"{title}"',
    says: 'Now playing "{title}".',
    group: "music",
  },
  {
    names: "set_light switch_light lights",
    about: "turn the light in a room on or off",
    needs: "room state",
    requests: [
      "[turn|switch] {state} the [light|lights|lamp] [in|of] the {room}",
      "[turn|switch|put] the [light|lights|lamp] [in|of] the {room} {state}",
      "[turn|switch|put] the {room} [light|lights|lamp] {state}",
    ],
    says: "The light in the {room} is {state}.",
    group: "light",
  },
  {
    names: "set_heating heating thermostat",
    about: "set the heating of a room to a temperature",
    needs: "room warmth",
    requests: [
      "[set|turn|put] the heating [in|of] the {room} to {warmth} degrees",
      "[heat|warm|set|bring] the {room} to {warmth} degrees",
      "I [want|need|would like] {warmth} degrees in the {room}",
      "make [the {room} {warmth} degrees warm|it {warmth} degrees in the {room}]",
    ],
    says: "The {room} is set to {warmth} degrees.",
    group: "heating",
  },
  {
    names: "set_volume volume change_volume",
    about: "set the volume of the sound in percent",
    needs: "percent",
    requests: [
      "[set|turn|change|put|bring] the [volume|sound] to {percent} percent",
      "make the [volume|sound|music] {percent} percent[| loud]",
      "[I want|I need] the [volume|sound|music] at {percent} percent",
    ],
    again: "{percent} percent",
    says: "The volume is at {percent} percent.",
    group: "music",
  },
  {
    names: "order_item order buy",
    about: "order some of a product",
    needs: "item count",
    requests: [
      "[order|buy|get|get me] {count} packs of {item}[| today| now]",
      "[place|make] an order [for|of] {count} packs of {item}",
      "I [want|need|would like] to [order|buy] {count} packs of {item}",
    ],
    says: "{count} packs of {item} are ordered.",
    group: "shop",
  },
  {
    names: "shopping_list add_to_list add_item",
    about: "add a product to the shopping list",
    needs: "item",
    requests: [
      "[put|write] {item} on [the|my|our] shopping list[| now]",
      "add {item} to [the|my|our] shopping list[| now]",
      "we [are out of|need] {item}[, add it to|, put it on] [the|my|our] shopping list",
    ],
    again: "{item}",
    says: "I have put {item} on the shopping list.",
    group: "shop",
  },
];
