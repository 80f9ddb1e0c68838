// Open classes of common nouns and short phrases for the generators. Every fifth entry of a class is
// held out from training, so a class has no entry twice.

import { OpenClass } from "./open_class.ts";

export const JOBS = new OpenClass(
  "nurse, teacher, baker, plumber, painter, carpenter, dentist, engineer, lawyer, chef, " +
    "pilot, gardener, driver, waiter, tailor, barber, farmer, librarian, journalist, " +
    "photographer, architect, electrician, mechanic, accountant, pharmacist, surgeon, " +
    "translator, musician, butcher, florist, optician, web designer, software developer, " +
    "data analyst, sales manager, bus driver, tour guide, police officer, firefighter, " +
    "biologist, chemist, physicist, actor, editor, singer, sculptor, bricklayer, roofer, " +
    "welder, midwife, judge, postman, vet, cook, cashier, clerk, coach, taxi driver, " +
    "project manager, civil engineer, weaver, blacksmith, hairdresser, shoemaker, glazier, " +
    "zookeeper, locksmith, watchmaker, beekeeper, bookseller, caretaker, paramedic, economist, " +
    "geologist, interpreter, forester, ship captain, train driver, school principal, " +
    "sound technician, tax adviser, warehouse worker, physiotherapist",
);

export const COMPANY_KINDS = new OpenClass(
  "Ltd, Inc, GmbH, Logistics, & Sons, Systems, Foods, Bank, Labs, Motors, Software, Energy, " +
    "Consulting, Media, Partners, Textiles, Pharma, Design, Airlines, Robotics, Group, Books, " +
    "Steel, Studios, Travel, Holding, Networks, Chemicals, Brothers, Insurance, Press, " +
    "Furniture, Instruments, Shipping, Brewery, Gardens, Solar, Capital, Films, Toys",
);

/** What one buys, packs or orders; none needs an article. */
export const ITEMS = new OpenClass(
  "apples, bread, milk, eggs, cheese, butter, rice, pasta, tomatoes, onions, potatoes, " +
    "carrots, bananas, oranges, pears, flour, sugar, salt, pepper, olive oil, honey, coffee, " +
    "tea, cocoa, yoghurt, cream, chicken, beef, fish, prawns, beans, lentils, spinach, " +
    "mushrooms, garlic, lemons, grapes, cherries, nuts, biscuits, soap, shampoo, towels, " +
    "candles, batteries, pencils, notebooks, envelopes, paper clips, glue, scissors, socks, " +
    "gloves, hats, boots, shirts, blankets, pillows, lamps, chairs, screws, nails, hammers, " +
    "paint, brushes, ropes, tents, maps, matches, knives, forks, spoons, plates, cups, " +
    "napkins, orange juice, mineral water, ice cream, peanut butter, toilet paper, ginger, " +
    "raisins, almonds, cinnamon, vinegar, mustard, cucumbers, cabbage, radishes, apricots, " +
    "plums, melons, sausages, salmon, noodles, jam, magazines, umbrellas, sandals, scarves, " +
    "curtains, buckets, mirrors, kettles, wine glasses, dish soap, light bulbs, cotton socks, " +
    "tomato sauce, garden chairs",
);

export const COLOURS = new OpenClass(
  "red, blue, green, yellow, purple, orange, pink, black, white, violet, brown, grey, " +
    "turquoise, gold, silver, beige, crimson, navy blue, olive green, magenta, indigo, lilac, " +
    "ivory, copper, amber, scarlet, maroon, teal, khaki, pale pink, emerald, dark red, " +
    "mustard yellow, charcoal, sky blue",
);

export const DISHES = new OpenClass(
  "pizza, sushi, lasagne, curry, paella, soup, pancakes, risotto, couscous, ramen, tacos, " +
    "stew, dumplings, fish and chips, goulash, salad, burgers, noodles, omelettes, falafel, " +
    "chocolate, apple pie, fried rice, mashed potatoes, cheesecake, moussaka, gnocchi, " +
    "ravioli, spaghetti, hummus, tabbouleh, kebab, gazpacho, ratatouille, quiche, crepes, " +
    "fondue, raclette, schnitzel, pierogi, borscht, porridge, muesli, scrambled eggs, " +
    "grilled cheese, onion soup, roast beef, meatballs, chili, burritos, nachos, guacamole, " +
    "dim sum, pho, pad thai, bibimbap, tempura, biryani, samosas, waffles, tiramisu, " +
    "lemon tart, carrot cake, brownies, strudel, potato salad, pumpkin soup, baked beans, " +
    "garlic bread, mango rice",
);

export const HOBBIES = new OpenClass(
  "chess, painting, cycling, swimming, gardening, running, cooking, fishing, knitting, " +
    "hiking, photography, sailing, reading, dancing, skiing, climbing, pottery, surfing, " +
    "baking, judo, rowing, yoga, tennis, astronomy, archery, singing, drawing, football, " +
    "basketball, badminton, origami, embroidery, juggling, karate, fencing, bowling, kayaking, " +
    "snorkelling, bird watching, stamp collecting, calligraphy, woodwork, camping, quilting, " +
    "skating, volleyball, gymnastics, puppetry, magic tricks, paragliding, birdsong recording, " +
    "boxing, blogging, beekeeping, horse riding",
);

export const PETS = new OpenClass(
  "dog, cat, rabbit, parrot, hamster, goldfish, turtle, horse, pony, lizard, goat, canary, " +
    "snake, ferret, guinea pig, duck, donkey, mouse, kitten, tortoise, budgie, gecko, " +
    "chinchilla, hedgehog, iguana, cockatoo, sheep, llama, alpaca, frog, newt, gerbil, rat, " +
    "puppy, pigeon, hen, peacock, tarantula, poodle, terrier",
);

/** Where things are put. */
export const SPOTS = new OpenClass(
  "on the kitchen table, in the drawer, under the sofa, in the coat, on the shelf, " +
    "in the car, behind the door, next to the radio, in the blue bag, under the doormat, " +
    "in the desk, on the window sill, in the cupboard, beside the lamp, on the piano, " +
    "in the garage, under the bed, on the fridge, in the red box, in the backpack, " +
    "under the pillow, in the laundry basket, behind the curtain, on the balcony, " +
    "in the flower pot, next to the kettle, in the toolbox, on the washing machine, " +
    "in the bread bin, under the stairs, behind the mirror, in the left boot, " +
    "near the letterbox, on the night table, in the guitar case, beside the printer, " +
    "in the picnic basket, on the bookcase, under the newspaper, in the jewel box, " +
    "behind the fish tank, in the green suitcase, on the radiator, in the gym locker, " +
    "next to the toaster",
);

export const INSTRUMENTS = new OpenClass(
  "piano, violin, guitar, flute, cello, trumpet, drums, harp, clarinet, saxophone, organ, " +
    "banjo, accordion, oboe, mandolin, bassoon, harmonica, ukulele, trombone, tuba, viola, " +
    "double bass, recorder, xylophone, marimba, sitar, lute, zither, bagpipes, bongos",
);

export const COUNTRIES = new OpenClass(
  "France, Spain, Italy, Norway, Poland, Japan, Brazil, Canada, Kenya, Peru, Greece, " +
    "Portugal, Sweden, Morocco, Chile, India, Vietnam, Egypt, Ireland, Iceland, Austria, " +
    "Finland, Turkey, Mexico, Denmark, Belgium, Hungary, Croatia, Estonia, Latvia, Romania, " +
    "Bulgaria, Cyprus, Malta, Tunisia, Ghana, Nigeria, Ethiopia, Tanzania, Zambia, Jordan, " +
    "Lebanon, Nepal, Thailand, Malaysia, Indonesia, Mongolia, Argentina, Uruguay, Ecuador, " +
    "Colombia, Bolivia, Jamaica, Cuba, Panama",
);

export const LANGUAGES = new OpenClass(
  "French, Spanish, German, Italian, Portuguese, Dutch, Polish, Greek, Swedish, Japanese, " +
    "Arabic, Turkish, Danish, Korean, Finnish, Norwegian, Icelandic, Czech, Slovak, Hungarian, " +
    "Romanian, Bulgarian, Croatian, Serbian, Hebrew, Persian, Hindi, Bengali, Thai, Swahili, " +
    "Irish, Welsh, Basque, Catalan, Estonian",
);

export const WEEKDAYS: readonly string[] = [
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
  "Sunday",
];

/** What one searches for, reads about or plays a quiz on. */
export const TOPICS = new OpenClass(
  "black holes, garden birds, electric cars, ancient Rome, sourdough bread, solar panels, " +
    "jazz history, deep sea fish, chess openings, coral reefs, city bikes, rock climbing, " +
    "wild mushrooms, steam engines, bee keeping, modern art, old maps, volcanoes, folk music, " +
    "glaciers, heat pumps, robot arms, tea plants, train travel, lighthouses, desert plants, " +
    "medieval castles, film music, night trains, home insulation, stone bridges, whale songs, " +
    "paper planes, rain forests, wind turbines, board games, silk roads, snow storms, " +
    "bread ovens, penguins, harbour cranes, pottery kilns, salt mines, radio plays, " +
    "watermills, kite flying, hot springs, cheese making, puppet theatre, sand dunes, " +
    "cargo ships, sewing patterns, apple orchards, comets, crossword puzzles, mountain huts, " +
    "violin makers, street food, fossil shells, cave paintings",
);

/** What one is reminded of or notes down: what follows "to". */
export const CHORES = new OpenClass(
  "call the dentist, water the plants, pay the rent, feed the cat, book the flight, " +
    "send the report, take out the trash, buy a present, clean the kitchen, return the books, " +
    "wash the car, fix the bike, renew the passport, walk the dog, check the oven, " +
    "charge the phone, order new shoes, cut the grass, print the tickets, pick up the parcel, " +
    "lock the door, write to the bank, iron the shirts, change the tyres, visit the doctor, " +
    "empty the dishwasher, call a taxi, feed the hamster, fold the laundry, " +
    "sharpen the knives, book a haircut, renew the licence, bake a cake, sweep the terrace, " +
    "defrost the freezer, sign the contract, collect the shoes, back up the photos, " +
    "invite the neighbours, measure the window, buy stamps, tune the piano, clean the gutters, " +
    "order firewood, pack the suitcase, polish the silver, plant tulips, replace the filter, " +
    "scan the receipts, cancel the gym",
);

/** Short messages to send. */
export const MESSAGES = new OpenClass(
  "I will be late, see you tomorrow, the meeting is cancelled, dinner is ready, " +
    "happy birthday, call me back, I am on my way, the train is late, " +
    "thank you for the flowers, good luck today, the parcel has arrived, we need more milk, " +
    "I am at the station, the report is done, let us meet at noon, the keys are at home, " +
    "please wait for me, the door is open, congratulations, I miss you, the game starts soon, " +
    "lunch is at one, I found your hat, the bus has left, it was a nice evening, " +
    "the plumber is coming, bring a jumper, supper at seven, the roof is leaking, " +
    "your glasses are in my car, the concert was great, my flight is delayed, get well soon, " +
    "the shop closes early, the cake is in the oven, do not wait up, we won the cup, " +
    "grandma says hello, the heating is broken, it is snowing here, see you at the harbour, " +
    "the tickets are sold out, send me the photos, the baby is asleep, I forgot my wallet, " +
    "the neighbours are away, the road is closed, choir practice is cancelled, " +
    "many happy returns, I passed the test",
);

/** Things to define, spell or translate. */
export const WORDS = new OpenClass(
  "house, river, window, mountain, bridge, garden, cloud, mirror, forest, candle, bread, " +
    "stone, winter, ladder, island, button, harbour, feather, pocket, thunder, kettle, meadow, " +
    "anchor, lantern, whisper, velvet, compass, orchard, pebble, glacier, saddle, blossom, " +
    "chimney, driftwood, ember, furnace, gravel, hinge, icicle, jewel, kernel, loom, marble, " +
    "nettle, oyster, parchment, quarry, ribbon, shadow, thimble, umbrella, valley, walnut, " +
    "yarn, zipper, ankle, basil, cradle, dusk, echo",
);

export const ROOMS = new OpenClass(
  "kitchen, bedroom, living room, bathroom, hall, garage, cellar, office, dining room, " +
    "attic, garden, pantry, study, nursery, porch, library, laundry room, guest room, " +
    "playroom, workshop, conservatory, wardrobe, basement, corridor, balcony, greenhouse, " +
    "music room, sauna, winter garden, loft, stable, terrace, shed, studio, utility room, " +
    "staircase, breakfast room, gym, wine cellar, boiler room",
);

export const TITLES = new OpenClass(
  "Blue River, Silent Moon, Golden Days, Summer Rain, Lost Horizon, Night Train, " +
    "Paper Boats, Morning Light, Broken Glass, Winter Song, Red Balloon, The Long Road, " +
    "City of Stars, Old Friends, Dancing Shadows, Green Fields, Open Sky, Silver Lining, " +
    "Wild Horses, Quiet Storm, Ocean Drive, Yellow Dress, Home Again, Second Chance, " +
    "Falling Leaves, Copper Sun, Glass Mountain, The Last Harbour, Velvet Sky, Seven Bridges, " +
    "Wooden Heart, Midnight Market, Crystal Snow, Under the Willow, Rusty Gates, Marble Halls, " +
    "Stranger Tides, Lonely Planets, The Tall Ship, Thunder Valley, Frozen Lake, " +
    "Hidden Letters, Carnival Nights, Apple Blossom, Desert Flower, The Clockmaker, Echoes, " +
    "Feather Light, Smoke and Mirrors, Ivory Tower",
);

/** Words of other languages, as translations come back. */
export const FOREIGN_WORDS = new OpenClass(
  "maison, fenster, ponte, luna, jardin, nuage, spiegel, bosco, vela, brood, piedra, hiver, " +
    "leiter, isla, knopf, puerto, plume, bolsa, donner, chaleira, wiese, ancre, lampe, tesoro, " +
    "bussola, schatten, bosque, rivier, sommar, fuego, kirche, montagna, strada, oiseau, " +
    "bloem, zeit, cielo, pierre, vogel, acqua, hund, chemin, flicka, noche, pioggia, stern, " +
    "fleur, wolke, mesa, herfst",
);

/** How the weather is. */
export const SKIES = new OpenClass(
  "clear, cloudy, rainy, sunny, windy, foggy, snowy, stormy, dry, overcast, hazy, icy, mild, " +
    "humid, misty, drizzly, calm, bright, freezing, thundery",
);

/** What a dictionary says. */
export const MEANINGS = new OpenClass(
  "a thing made of wood, a small tool, a kind of building, something to wear, " +
    "a piece of land, a part of a house, a sort of stone, a feeling of joy, an old machine, " +
    "a place to rest, a part of a ship, a kind of fruit, a small animal, a sign of respect, " +
    "a heavy metal, a musical sound, a kind of cloth, a narrow street, a winter sport, " +
    "an old coin",
);

/** What the news say. */
export const HEADLINES = new OpenClass(
  "new bridge opened, bees return to the city, museum finds lost painting, " +
    "record harvest of apples, local team wins the cup, train line reopens, " +
    "school builds a garden, lake is clean again, old cinema saved, storm is over, " +
    "choir sings in the park, baker wins a prize, new zoo director named, " +
    "bridge painted green, hospital gets a roof garden, chess champion retires, " +
    "ferry breaks a record, village buys a forest, wolves seen near the lake, " +
    "library stays open at night",
);
