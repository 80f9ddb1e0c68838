// Lists of common nouns for the generators. Every fifth entry of a list is held out from training
// (random.ts), so a list has no entry twice and none stands in two lists of the same kind.

const list = (text: string): string[] => text.split(", ");

export const JOBS = list(
  "nurse, teacher, baker, plumber, painter, carpenter, dentist, engineer, lawyer, chef, pilot, " +
    "gardener, driver, waiter, tailor, barber, farmer, librarian, journalist, photographer, " +
    "architect, electrician, mechanic, accountant, pharmacist, surgeon, translator, musician, " +
    "butcher, florist, optician, web designer, software developer, data analyst, sales manager, " +
    "bus driver, tour guide, police officer, firefighter, biologist, chemist, physicist, actor, " +
    "editor, singer, sculptor, bricklayer, roofer, welder, midwife, judge, postman, vet, cook, " +
    "cashier, clerk, coach, taxi driver, project manager, civil engineer",
);

export const COMPANY_KINDS = list(
  "Ltd, Inc, GmbH, Logistics, & Sons, Systems, Foods, Bank, Labs, Motors, Software, Energy, " +
    "Consulting, Media, Partners, Textiles, Pharma, Design, Airlines, Robotics, Group, Books, " +
    "Steel, Studios, Travel",
);

export const MAIL_DOMAINS = list(
  "example.com, mail.com, example.org, post.net, inbox.org, webmail.com, office.eu, letters.net, " +
    "company.com, school.edu, home.org, fastmail.net, work.io, hello.eu, box.com, city.org, " +
    "letterbox.de, mailer.fr, studio.co, library.org",
);

/** What one buys, packs or orders; none needs an article. */
export const ITEMS = list(
  "apples, bread, milk, eggs, cheese, butter, rice, pasta, tomatoes, onions, potatoes, carrots, " +
    "bananas, oranges, pears, flour, sugar, salt, pepper, olive oil, honey, coffee, tea, cocoa, " +
    "yoghurt, cream, chicken, beef, fish, prawns, beans, lentils, spinach, mushrooms, garlic, " +
    "lemons, grapes, cherries, nuts, biscuits, soap, shampoo, towels, candles, batteries, pencils, " +
    "notebooks, envelopes, paper clips, glue, scissors, socks, gloves, hats, boots, shirts, " +
    "blankets, pillows, lamps, chairs, screws, nails, hammers, paint, brushes, ropes, tents, maps, " +
    "matches, knives, forks, spoons, plates, cups, napkins, orange juice, mineral water, ice cream, " +
    "peanut butter, toilet paper",
);

export const COLOURS = list(
  "red, blue, green, yellow, purple, orange, pink, black, white, violet, brown, grey, turquoise, " +
    "gold, silver, beige, crimson, navy blue, olive green, magenta",
);

export const DISHES = list(
  "pizza, sushi, lasagne, curry, paella, soup, pancakes, risotto, couscous, ramen, tacos, stew, " +
    "dumplings, fish and chips, goulash, salad, burgers, noodles, omelettes, falafel, chocolate, " +
    "apple pie, fried rice, mashed potatoes, cheesecake",
);

export const HOBBIES = list(
  "chess, painting, cycling, swimming, gardening, running, cooking, fishing, knitting, hiking, " +
    "photography, sailing, reading, dancing, skiing, climbing, pottery, surfing, baking, judo, " +
    "rowing, yoga, tennis, astronomy, archery, singing, drawing, football, basketball, badminton",
);

export const PETS = list(
  "dog, cat, rabbit, parrot, hamster, goldfish, turtle, horse, pony, lizard, goat, canary, snake, " +
    "ferret, guinea pig, duck, donkey, mouse, kitten, tortoise",
);

/** Where things are put. */
export const SPOTS = list(
  "on the kitchen table, in the drawer, under the sofa, in the coat, on the shelf, in the car, " +
    "behind the door, next to the radio, in the blue bag, under the doormat, in the desk, " +
    "on the window sill, in the cupboard, beside the lamp, on the piano, in the garage, " +
    "under the bed, on the fridge, in the red box, in the backpack",
);

export const INSTRUMENTS = list(
  "piano, violin, guitar, flute, cello, trumpet, drums, harp, clarinet, saxophone, organ, banjo, " +
    "accordion, oboe, mandolin",
);

export const COUNTRIES = list(
  "France, Spain, Italy, Norway, Poland, Japan, Brazil, Canada, Kenya, Peru, Greece, Portugal, " +
    "Sweden, Morocco, Chile, India, Vietnam, Egypt, Ireland, Iceland, Austria, Finland, Turkey, " +
    "Mexico, Denmark",
);

export const LANGUAGES = list(
  "French, Spanish, German, Italian, Portuguese, Dutch, Polish, Greek, Swedish, Japanese, Arabic, " +
    "Turkish, Danish, Korean, Finnish",
);

export const WEEKDAYS = list(
  "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday",
);

/** What one searches for, reads about or plays a quiz on. */
export const TOPICS = list(
  "black holes, garden birds, electric cars, ancient Rome, sourdough bread, solar panels, " +
    "jazz history, deep sea fish, chess openings, coral reefs, city bikes, rock climbing, " +
    "wild mushrooms, steam engines, bee keeping, modern art, old maps, volcanoes, folk music, " +
    "glaciers, heat pumps, robot arms, tea plants, train travel, lighthouses, desert plants, " +
    "medieval castles, film music, night trains, home insulation, stone bridges, whale songs, " +
    "paper planes, rain forests, wind turbines, board games, silk roads, snow storms, bread ovens, " +
    "penguins",
);

/** What one is reminded of or notes down: what follows "to". */
export const CHORES = list(
  "call the dentist, water the plants, pay the rent, feed the cat, book the flight, send the report, " +
    "take out the trash, buy a present, clean the kitchen, return the books, wash the car, " +
    "fix the bike, renew the passport, walk the dog, check the oven, charge the phone, " +
    "order new shoes, cut the grass, print the tickets, pick up the parcel, lock the door, " +
    "write to the bank, iron the shirts, change the tyres, visit the doctor",
);

/** Short messages to send. */
export const MESSAGES = list(
  "I will be late, see you tomorrow, the meeting is cancelled, dinner is ready, happy birthday, " +
    "call me back, I am on my way, the train is late, thank you for the flowers, good luck today, " +
    "the parcel has arrived, we need more milk, I am at the station, the report is done, " +
    "let us meet at noon, the keys are at home, please wait for me, the door is open, " +
    "congratulations, I miss you, the game starts soon, lunch is at one, I found your hat, " +
    "the bus has left, it was a nice evening",
);

/** Things to define, spell or translate. */
export const WORDS = list(
  "house, river, window, mountain, bridge, garden, cloud, mirror, forest, candle, bread, stone, " +
    "winter, ladder, island, button, harbour, feather, pocket, thunder, kettle, meadow, anchor, " +
    "lantern, whisper, velvet, compass, orchard, pebble, glacier",
);

export const ROOMS = list(
  "kitchen, bedroom, living room, bathroom, hall, garage, cellar, office, dining room, attic, " +
    "garden, pantry, study, nursery, porch",
);

export const TITLES = list(
  "Blue River, Silent Moon, Golden Days, Summer Rain, Lost Horizon, Night Train, Paper Boats, " +
    "Morning Light, Broken Glass, Winter Song, Red Balloon, The Long Road, City of Stars, Old Friends, " +
    "Dancing Shadows, Green Fields, Open Sky, Silver Lining, Wild Horses, Quiet Storm, Ocean Drive, " +
    "Yellow Dress, Home Again, Second Chance, Falling Leaves",
);

/** Words of other languages, as translations come back. */
export const FOREIGN_WORDS = list(
  "maison, fenster, ponte, luna, jardin, nuage, spiegel, bosco, vela, brood, piedra, hiver, leiter, " +
    "isla, knopf, puerto, plume, bolsa, donner, chaleira, wiese, ancre, lampe, tesoro, bussola",
);
