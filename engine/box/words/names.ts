// Names of people and cities: real ones, of which every fifth is held out, and for training also
// made-up ones, so that the model learns to copy any spelling and not to know a list.

import type { Random } from "../random.ts";
import type { Split } from "../types.ts";

const FIRST_NAMES =
  ("Ada Alan Alice Amara Ana Andre Anita Anna Arthur Astrid Aya Ben Bianca Boris Bruno Carla Carlos " +
    "Cecilia Chen Clara Daniel Dario Diana Dmitri Edith Elena Elias Emil Emma Erik Esther Eva Fatima " +
    "Felix Fiona Frank Freya Gabriel Georg Grace Greta Hana Hannah Hassan Hector Helen Henry Hugo Ida " +
    "Igor Ines Ingrid Irene Isabel Ivan Jack Jamal James Jana Jasmin Javier Jean Jin Joan Johan Jonas " +
    "Jorge Judith Julia Karim Karl Katia Kenji Kofi Lars Laura Lea Leila Lena Leo Liam Lina Linus Lucas " +
    "Lucia Luis Magda Malik Marco Maria Marta Martin Mateo Maya Mei Mia Milan Mina Mohamed Nadia Naomi " +
    "Nick Nils Nina Noah Nora Olga Oliver Omar Oscar Otto Pablo Paul Paula Pedro Petra Pierre Priya " +
    "Quentin Rachel Rafael Raj Rebecca Renata Robert Rosa Ruth Sam Samira Sandra Sara Sasha Selma Simon " +
    "Sofia Stefan Susan Sven Tanja Tara Theo Thomas Tim Tom Ulla Uma Vera Victor Viola Walter Wendy " +
    "Xavier Yara Yuki Yusuf Zara Zoe Agnes Albert Bella Cyril Dora Ella Fabian Gustav Heidi Jules Kira " +
    "Louis Monica Nelson Pavel Ravi Silvia Tobias Ursula Vincent Wanda Yvonne").split(" ");

const LAST_NAMES =
  ("Smith Meyer Garcia Rossi Novak Silva Dubois Kim Tanaka Ivanov Larsen Costa Weber Moreau Lopez Khan " +
    "Ali Singh Chen Wang Berg Lind Hansen Nielsen Keller Fischer Wagner Becker Schulz Hoffmann Koch " +
    "Bauer Richter Klein Wolf Neumann Schwarz Braun Zimmer Hofer Martin Bernard Petit Roland Richard " +
    "Durand Leroy Simon Laurent Lefebvre Michel Bertrand Roux Vincent Fournier Morel Girard Andre Mercier " +
    "Blanc Guerin Boyer Garnier Faure Rousseau Brown Jones Taylor Wilson Evans Walker White Green Hall " +
    "Wood Harris Clark Lewis Young King Wright Hill Scott Baker Adams Carter Mitchell Turner Parker Cook " +
    "Bell Bailey Cooper Reed Kelly Howard Ward Cox Diaz Ramos Ortiz Gomez Torres Reyes Cruz Flores " +
    "Rivera Vargas Castro Romero Suzuki Sato Ito Mori Abe Kowalski Nowak Horvat Popov Petrov Sokolov")
    .split(" ");

const CITIES =
  ("Paris London Berlin Madrid Rome Lisbon Vienna Prague Warsaw Athens Oslo Stockholm Helsinki Dublin " +
    "Brussels Zurich Geneva Milan Turin Naples Lyon Marseille Nice Lille Bordeaux Hamburg Munich Cologne " +
    "Leipzig Dresden Porto Seville Valencia Bilbao Krakow Budapest Bucharest Plovdiv Belgrade Zagreb " +
    "Boston Chicago Denver Seattle Austin Dallas Houston Miami Toronto Montreal Vancouver Lima Bogota " +
    "Santiago Quito Havana Tokyo Osaka Kyoto Seoul Beijing Shanghai Delhi Mumbai Hanoi Bangkok Manila " +
    "Jakarta Sydney Perth Melbourne Auckland Cairo Tunis Lagos Accra Nairobi Dakar Casablanca Algiers " +
    "Istanbul Ankara Tehran Dubai Doha Riga Vilnius Tallinn Bergen Malmo Aarhus Utrecht Antwerp Ghent " +
    "Bruges Basel Graz Linz Salzburg Verona Genoa Palermo Bologna Florence Venice Nantes Toulouse " +
    "Rennes Dijon Reims Bristol Leeds Glasgow Cardiff Belfast Cork Galway").split(" ");

const ONSETS = ("b c d f g h j k l m n p r s t v w z br ch dr fl gr kl kr pl pr sh st th tr").split(
  " ",
);
const VOWELS = "a e i o u ai ea ia io ou".split(" ");
const CODAS = ["", "", "", "l", "n", "r", "s", "t", "m", "x", "nd", "rk", "ck"];

/** All real names: none of them is made up by chance. */
const ALL = new Set([...FIRST_NAMES, ...LAST_NAMES, ...CITIES]);

/** Half of the names to learn from are made up. */
const MADE_UP = 0.5;

export function firstName(random: Random, split: Split): string {
  return nameFrom(FIRST_NAMES, random, split, 2);
}

export function lastName(random: Random, split: Split): string {
  return nameFrom(LAST_NAMES, random, split, 2);
}

/** First and last name. */
export function fullName(random: Random, split: Split): string {
  return `${firstName(random, split)} ${lastName(random, split)}`;
}

export function city(random: Random, split: Split): string {
  return nameFrom(CITIES, random, split, 3);
}

function nameFrom(list: string[], random: Random, split: Split, syllables: number): string {
  if (split === "heldOut" || !random.chance(MADE_UP)) return random.pickOf(list, split);
  for (;;) {
    const name = madeUpName(random, random.integer(2, syllables + 1));
    if (!ALL.has(name)) return name;
  }
}

function madeUpName(random: Random, syllables: number): string {
  let name = "";
  for (let i = 0; i < syllables; i++) name += random.pick(ONSETS) + random.pick(VOWELS);
  name += random.pick(CODAS);
  return name[0]!.toUpperCase() + name.slice(1);
}
