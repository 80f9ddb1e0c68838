// What users tell about themselves: each fact with the patterns of sentences that tell it and ask for
// it. {value} is the fact; every fifth wording is held out. Favourites, people and places of things
// come in families (fact_families.ts).

import {
  type Fact,
  favourite,
  hidden,
  number,
  of,
  RECALL,
  RECALL_HOW,
  relative,
} from "./fact_families.ts";
import { city, firstName } from "./names.ts";
import { COLOURS, COUNTRIES, DISHES, HOBBIES, INSTRUMENTS, JOBS, PETS } from "./things.ts";
import { company, withArticle } from "./values.ts";

export const FACTS: readonly Fact[] = [
  {
    make: firstName,
    tells: [
      "[My name is|I am|I'm|I am called|Please call me|You can call me|People call me] {value}.",
      "[My friends|Most people|They] call me {value}.",
      "[The name is|You are talking to|This is] {value}.",
    ],
    noted: "Nice to meet you, {value}!",
    asks: [
      `${RECALL} my name?`,
      "[What am I called|Who am I|How am I called|Which name did I give you|What do people call me]?",
      `${RECALL_HOW} [who I am|what I am called]?`,
    ],
    recalled: "Your name is {value}.",
    untold: "Your name is not known to me.",
  },
  {
    make: city,
    tells: [
      "I [live|am living|am at home|have a flat|have a house|have lived for years] in {value}.",
      "My [home|flat|house] is [|now |still ]in {value}.",
      "[My city|The city I live in|My home] is {value}.",
    ],
    noted: "You live in {value}, noted.",
    asks: [
      "[Where|In which city|In what city] do I live?",
      "[Where|In which city] is my [home|house|flat]?",
      `${RECALL} my city?`,
      `${RECALL_HOW} [where|in which city] I live?`,
    ],
    recalled: "You live in {value}.",
    untold: "You live in a place I do not know.",
  },
  {
    make: (random, split) => withArticle(JOBS.pick(random, split)),
    tells: [
      "I [work|earn my money|have a job|am working|make my living] as {value}.",
      "[By profession|At work|By trade][,|] I am {value}.",
      "My job[:| is this:] I am {value}.",
    ],
    noted: "You work as {value}, noted.",
    asks: [
      `${RECALL} my [job|profession]?`,
      "[What|Which] [job|profession] do I have?",
      "What do I [work as|do for a living|do at work]?",
    ],
    recalled: "You work as {value}.",
    untold: "You work as something I do not know.",
  },
  {
    make: (random, split) => withArticle(PETS.pick(random, split)),
    tells: [
      "[I have|I keep|At home I have|At home I keep|I own] {value}[| as a pet].",
      "My pet is {value}.",
      "There is {value} [in my house|in my flat|at my home].",
    ],
    noted: "You have {value}, how nice!",
    asks: [
      "[Which|What|What kind of] [pet|animal] do I [have|keep|own]?",
      `${RECALL} my pet?`,
    ],
    recalled: "You have {value}.",
    untold: "You have no pet that I know of.",
  },
  {
    make: number(18, 99),
    tells: [
      "[I am|I'm|I am now|I am already|I just turned] {value} years old.",
      "[My age is|I turned|This year I turned|Last month I turned|Today I turned] {value}.",
    ],
    noted: "You are {value} years old, noted.",
    asks: [
      "How old am I[| now| today]?",
      `${RECALL} my age?`,
      `${RECALL_HOW} how old I am?`,
      "What age [did I tell you|am I|do I have]?",
    ],
    recalled: "You are {value} years old.",
    untold: "You are of an age I do not know.",
  },
  {
    make: of(HOBBIES),
    tells: [
      "[My hobby is|My new hobby is|My hobby was always] {value}.",
      "[In my free time|On weekends|In the evening][,|] I [love|enjoy|like] {value}.",
      "[I spend my weekends with|I spend my free time with|What I enjoy is|I really enjoy] {value}.",
    ],
    noted: "Your hobby is {value}, noted.",
    asks: [
      `${RECALL} my hobby?`,
      "[Which|What] hobby do I have?",
      "What do I [do in my free time|love to do|enjoy|like to do]?",
    ],
    recalled: "Your hobby is {value}.",
    untold: "Your hobby is not known to me.",
  },
  {
    make: of(INSTRUMENTS),
    tells: [
      "I [play|can play|love to play|learn to play|am learning to play|often play] the {value}.",
      "My instrument is the {value}.",
      "[Every evening|On weekends|At home|Every day][,|] I play the {value}.",
    ],
    noted: "You play the {value}, how nice!",
    asks: [
      "[Which|What] instrument [do I play|can I play|am I learning]?",
      `${RECALL} my instrument?`,
      `${RECALL_HOW} [which|what] instrument I play?`,
    ],
    recalled: "You play the {value}.",
    untold: "You play no instrument that I know of.",
  },
  {
    make: company,
    tells: [
      "I [work for|am employed at|work at|have a job at|am with] {value}.",
      "My [company|employer|firm] is [|called |now ]{value}.",
      "The [firm|company] I work for is [|called ]{value}.",
    ],
    noted: "You work for {value}, noted.",
    asks: [
      "[Which|What] [company|firm] do I work for?",
      `${RECALL} my [company|employer|firm]?`,
      "[Who is my employer|Where do I work|Who do I work for]?",
    ],
    recalled: "You work for {value}.",
    untold: "You work for someone I do not know.",
  },
  favourite("colour", of(COLOURS)),
  favourite("food", of(DISHES)),
  favourite("number", number(2, 99)),
  favourite("country", of(COUNTRIES)),
  favourite("city", city),
  relative("sister"),
  relative("brother"),
  relative("cousin"),
  relative("boss"),
  relative("neighbour"),
  relative("dog"),
  relative("cat"),
  hidden("keys", "are"),
  hidden("glasses", "are"),
  hidden("passport", "is"),
  hidden("umbrella", "is"),
  hidden("wallet", "is"),
];
