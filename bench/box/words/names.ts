// Names of people and cities: open classes, so that the model learns to copy any spelling and not to
// know a list.

import type { Random } from "../random.ts";
import type { Split } from "../types.ts";
import { OpenClass } from "./open_class.ts";

const FIRST_NAMES = new OpenClass(
  "Ada, Alan, Alice, Amara, Ana, Andre, Anita, Anna, Arthur, Astrid, Aya, Ben, Bianca, " +
    "Boris, Bruno, Carla, Carlos, Cecilia, Chen, Clara, Daniel, Dario, Diana, Dmitri, Edith, " +
    "Elena, Elias, Emil, Emma, Erik, Esther, Eva, Fatima, Felix, Fiona, Frank, Freya, " +
    "Gabriel, Georg, Grace, Greta, Hana, Hannah, Hassan, Hector, Helen, Henry, Hugo, Ida, " +
    "Igor, Ines, Ingrid, Irene, Isabel, Ivan, Jack, Jamal, James, Jana, Jasmin, Javier, " +
    "Jean, Jin, Joan, Johan, Jonas, Jorge, Judith, Julia, Karim, Karl, Katia, Kenji, Kofi, " +
    "Lars, Laura, Lea, Leila, Lena, Leo, Liam, Lina, Linus, Lucas, Lucia, Luis, Magda, " +
    "Malik, Marco, Maria, Marta, Martin, Mateo, Maya, Mei, Mia, Milan, Mina, Mohamed, Nadia, " +
    "Naomi, Nick, Nils, Nina, Noah, Nora, Olga, Oliver, Omar, Oscar, Otto, Pablo, Paul, " +
    "Paula, Pedro, Petra, Pierre, Priya, Quentin, Rachel, Rafael, Raj, Rebecca, Renata, " +
    "Robert, Rosa, Ruth, Sam, Samira, Sandra, Sara, Sasha, Selma, Simon, Sofia, Stefan, " +
    "Susan, Sven, Tanja, Tara, Theo, Thomas, Tim, Tom, Ulla, Uma, Vera, Victor, Viola, " +
    "Walter, Wendy, Xavier, Yara, Yuki, Yusuf, Zara, Zoe, Agnes, Albert, Bella, Cyril, Dora, " +
    "Ella, Fabian, Gustav, Heidi, Jules, Kira, Louis, Monica, Nelson, Pavel, Ravi, Silvia, " +
    "Tobias, Ursula, Vincent, Wanda, Yvonne",
);

const LAST_NAMES = new OpenClass(
  "Smith, Meyer, Garcia, Rossi, Novak, Silva, Dubois, Kim, Tanaka, Ivanov, Larsen, Costa, " +
    "Weber, Moreau, Lopez, Khan, Ali, Singh, Chen, Wang, Berg, Lind, Hansen, Nielsen, " +
    "Keller, Fischer, Wagner, Becker, Schulz, Hoffmann, Koch, Bauer, Richter, Klein, Wolf, " +
    "Neumann, Schwarz, Braun, Zimmer, Hofer, Martin, Bernard, Petit, Roland, Richard, " +
    "Durand, Leroy, Simon, Laurent, Lefebvre, Michel, Bertrand, Roux, Vincent, Fournier, " +
    "Morel, Girard, Andre, Mercier, Blanc, Guerin, Boyer, Garnier, Faure, Rousseau, Brown, " +
    "Jones, Taylor, Wilson, Evans, Walker, White, Green, Hall, Wood, Harris, Clark, Lewis, " +
    "Young, King, Wright, Hill, Scott, Baker, Adams, Carter, Mitchell, Turner, Parker, Cook, " +
    "Bell, Bailey, Cooper, Reed, Kelly, Howard, Ward, Cox, Diaz, Ramos, Ortiz, Gomez, " +
    "Torres, Reyes, Cruz, Flores, Rivera, Vargas, Castro, Romero, Suzuki, Sato, Ito, Mori, " +
    "Abe, Kowalski, Nowak, Horvat, Popov, Petrov, Sokolov",
);

const CITIES = new OpenClass(
  "Paris, London, Berlin, Madrid, Rome, Lisbon, Vienna, Prague, Warsaw, Athens, Oslo, " +
    "Stockholm, Helsinki, Dublin, Brussels, Zurich, Geneva, Milan, Turin, Naples, Lyon, " +
    "Marseille, Nice, Lille, Bordeaux, Hamburg, Munich, Cologne, Leipzig, Dresden, Porto, " +
    "Seville, Valencia, Bilbao, Krakow, Budapest, Bucharest, Plovdiv, Belgrade, Zagreb, " +
    "Boston, Chicago, Denver, Seattle, Austin, Dallas, Houston, Miami, Toronto, Montreal, " +
    "Vancouver, Lima, Bogota, Santiago, Quito, Havana, Tokyo, Osaka, Kyoto, Seoul, Beijing, " +
    "Shanghai, Delhi, Mumbai, Hanoi, Bangkok, Manila, Jakarta, Sydney, Perth, Melbourne, " +
    "Auckland, Cairo, Tunis, Lagos, Accra, Nairobi, Dakar, Casablanca, Algiers, Istanbul, " +
    "Ankara, Tehran, Dubai, Doha, Riga, Vilnius, Tallinn, Bergen, Malmo, Aarhus, Utrecht, " +
    "Antwerp, Ghent, Bruges, Basel, Graz, Linz, Salzburg, Verona, Genoa, Palermo, Bologna, " +
    "Florence, Venice, Nantes, Toulouse, Rennes, Dijon, Reims, Bristol, Leeds, Glasgow, " +
    "Cardiff, Belfast, Cork, Galway",
);

export function firstName(random: Random, split: Split): string {
  return FIRST_NAMES.pick(random, split);
}

export function lastName(random: Random, split: Split): string {
  return LAST_NAMES.pick(random, split);
}

/** First and last name. */
export function fullName(random: Random, split: Split): string {
  return `${firstName(random, split)} ${lastName(random, split)}`;
}

export function city(random: Random, split: Split): string {
  return CITIES.pick(random, split);
}
