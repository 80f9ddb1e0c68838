// Everyday questions in English and French, by kind: the items, the phrasings of the question (every
// fifth is held out), and the answer as a word, a sentence, and one sentence more.

/** A text in both languages. */
export interface Both<T = string> {
  en: T;
  fr: T;
}

/** Questions of one kind about different things. */
export interface QuestionKind {
  /** What `{x}` is in a question, and `{y}` in an answer. */
  items: readonly Both<readonly [x: string, y: string]>[];
  questions: Both<readonly string[]>;
  sentence: Both;
  /** What can be said besides. */
  more: Both;
}

export const QUESTION_KINDS: readonly QuestionKind[] = [
  {
    items: items(
      ["the lemon", "yellow", "le citron", "jaune"],
      ["the snow", "white", "la neige", "blanche"],
      ["the grass", "green", "l'herbe", "verte"],
      ["coal", "black", "le charbon", "noir"],
      ["the sky", "blue", "le ciel", "bleu"],
      ["the tomato", "red", "la tomate", "rouge"],
      ["the carrot", "orange", "la carotte", "orange"],
      ["milk", "white", "le lait", "blanc"],
      ["the elephant", "grey", "l'éléphant", "gris"],
      ["chocolate", "brown", "le chocolat", "brun"],
    ),
    questions: {
      en: [
        "What colour is {x}?",
        "Which colour does {x} have?",
        "Tell me the colour of {x}.",
        "What is the colour of {x}?",
        "Do you know what colour {x} is?",
        "What color is {x}?",
        "Name the colour of {x}.",
        "{x}: which colour?",
        "I want to know the colour of {x}.",
        "Can you tell me which colour {x} is?",
      ],
      fr: [
        "De quelle couleur est {x} ?",
        "Quelle couleur a {x} ?",
        "Quelle est la couleur ? Il s'agit de ceci : {x}.",
        "Dis-moi de quelle couleur est {x}.",
        "Sais-tu de quelle couleur est {x} ?",
        "{x} : quelle couleur ?",
        "Donne la couleur : {x}.",
        "Je veux savoir de quelle couleur est {x}.",
        "Pouvez-vous dire de quelle couleur est {x} ?",
        "Dites-moi de quelle couleur est {x}.",
      ],
    },
    sentence: { en: "{X} is {y}.", fr: "{X} est {y}." },
    more: { en: "You can see it at once.", fr: "On le voit tout de suite." },
  },
  {
    items: items(
      ["Italy", "Rome", "de l'Italie", "Rome"],
      ["France", "Paris", "de la France", "Paris"],
      ["Spain", "Madrid", "de l'Espagne", "Madrid"],
      ["Germany", "Berlin", "de l'Allemagne", "Berlin"],
      ["Portugal", "Lisbon", "du Portugal", "Lisbonne"],
      ["Greece", "Athens", "de la Grèce", "Athènes"],
      ["Austria", "Vienna", "de l'Autriche", "Vienne"],
      ["Norway", "Oslo", "de la Norvège", "Oslo"],
      ["Japan", "Tokyo", "du Japon", "Tokyo"],
      ["Egypt", "Cairo", "de l'Égypte", "Le Caire"],
      ["Poland", "Warsaw", "de la Pologne", "Varsovie"],
      ["England", "London", "de l'Angleterre", "Londres"],
    ),
    questions: {
      en: [
        "What is the capital of {x}?",
        "Which city is the capital of {x}?",
        "Tell me the capital of {x}.",
        "Name the capital of {x}.",
        "Do you know the capital of {x}?",
        "Capital of {x}?",
        "What's the capital of {x}?",
        "Which is the capital city of {x}?",
        "I need the capital of {x}.",
        "Can you name the capital city of {x}?",
      ],
      fr: [
        "Quelle est la capitale {x} ?",
        "Quelle ville est la capitale {x} ?",
        "Dis-moi la capitale {x}.",
        "Nomme la capitale {x}.",
        "Connais-tu la capitale {x} ?",
        "La capitale {x} ?",
        "Quelle est donc la capitale {x} ?",
        "Donne-moi la capitale {x}.",
        "Je cherche la capitale {x}.",
        "Pouvez-vous nommer la capitale {x} ?",
      ],
    },
    sentence: { en: "The capital of {x} is {y}.", fr: "La capitale {x} est {y}." },
    more: { en: "It is a large and old city.", fr: "C'est une grande et vieille ville." },
  },
  {
    items: items(
      ["the cow", "grass", "la vache", "de l'herbe"],
      ["the horse", "hay", "le cheval", "du foin"],
      ["the cat", "fish", "le chat", "du poisson"],
      ["the dog", "meat", "le chien", "de la viande"],
      ["the mouse", "cheese", "la souris", "du fromage"],
      ["the bear", "honey", "l'ours", "du miel"],
      ["the bird", "seeds", "l'oiseau", "des graines"],
      ["the rabbit", "carrots", "le lapin", "des carottes"],
      ["the monkey", "bananas", "le singe", "des bananes"],
    ),
    questions: {
      en: [
        "What does {x} eat?",
        "What does {x} like to eat?",
        "Tell me what {x} eats.",
        "What is the food of {x}?",
        "Do you know what {x} eats?",
        "What do you give {x} to eat?",
        "What food does {x} like?",
        "{x}: what does it eat?",
        "What should I feed {x}?",
        "Can you tell me what {x} likes to eat?",
      ],
      fr: [
        "Que mange {x} ?",
        "Qu'est-ce que mange {x} ?",
        "Dis-moi ce que mange {x}.",
        "{x} mange quoi ?",
        "Sais-tu ce que mange {x} ?",
        "Qu'aime manger {x} ?",
        "{x} : que mange-t-on dans ce cas ?",
        "Dites-moi ce que {x} aime manger.",
        "Je veux savoir ce que mange {x}.",
        "Pouvez-vous dire ce que mange {x} ?",
      ],
    },
    sentence: { en: "{X} eats {y}.", fr: "{X} mange {y}." },
    more: { en: "It eats a lot of it every day.", fr: "Il en faut beaucoup chaque jour." },
  },
  {
    items: items(
      ["Monday", "Tuesday", "lundi", "mardi"],
      ["Tuesday", "Wednesday", "mardi", "mercredi"],
      ["Wednesday", "Thursday", "mercredi", "jeudi"],
      ["Thursday", "Friday", "jeudi", "vendredi"],
      ["Friday", "Saturday", "vendredi", "samedi"],
      ["Saturday", "Sunday", "samedi", "dimanche"],
      ["Sunday", "Monday", "dimanche", "lundi"],
    ),
    questions: {
      en: [
        "Which day comes after {x}?",
        "What day is after {x}?",
        "Tell me the day after {x}.",
        "What comes after {x}?",
        "Do you know which day follows {x}?",
        "The day after {x}?",
        "Name the day that follows {x}.",
        "If today is {x}, what is tomorrow?",
        "What is the next day after {x}?",
        "Can you name the day after {x}?",
      ],
      fr: [
        "Quel jour vient après {x} ?",
        "Quel est le jour après {x} ?",
        "Dis-moi le jour après {x}.",
        "Qu'est-ce qui vient après {x} ?",
        "Sais-tu quel jour suit {x} ?",
        "Le jour après {x} ?",
        "Nomme le jour qui suit {x}.",
        "Si nous sommes {x}, quel jour est demain ?",
        "Quel jour suit {x} ?",
        "Pouvez-vous nommer le jour après {x} ?",
      ],
    },
    sentence: { en: "The day after {x} is {y}.", fr: "Le jour après {x} est {y}." },
    more: { en: "A week has seven days.", fr: "Une semaine a sept jours." },
  },
  {
    items: items(
      ["hot", "cold", "chaud", "froid"],
      ["big", "small", "grand", "petit"],
      ["old", "young", "vieux", "jeune"],
      ["fast", "slow", "rapide", "lent"],
      ["day", "night", "jour", "nuit"],
      ["good", "bad", "bon", "mauvais"],
      ["full", "empty", "plein", "vide"],
      ["black", "white", "noir", "blanc"],
      ["rich", "poor", "riche", "pauvre"],
      ["open", "closed", "ouvert", "fermé"],
    ),
    questions: {
      en: [
        "What is the opposite of {x}?",
        "Name the opposite of {x}.",
        "Tell me the opposite of {x}.",
        "The opposite of {x}?",
        "Do you know the opposite of {x}?",
        "Which word is the opposite of {x}?",
        "What's the opposite of {x}?",
        "Give me the opposite of {x}.",
        "I need the opposite of {x}.",
        "Can you name the opposite of {x}?",
      ],
      fr: [
        "Quel est le contraire de {x} ?",
        "Nomme le contraire de {x}.",
        "Dis-moi le contraire de {x}.",
        "Le contraire de {x} ?",
        "Connais-tu le contraire de {x} ?",
        "Quel mot est le contraire de {x} ?",
        "C'est quoi, le contraire de {x} ?",
        "Donne-moi le contraire de {x}.",
        "Je cherche le contraire de {x}.",
        "Pouvez-vous nommer le contraire de {x} ?",
      ],
    },
    sentence: { en: "The opposite of {x} is {y}.", fr: "Le contraire de {x} est {y}." },
    more: { en: "It is easy to remember.", fr: "C'est facile à retenir." },
  },
  {
    items: items(
      ["legs does a dog have", "four", "pattes a un chien", "quatre"],
      ["legs does a spider have", "eight", "pattes a une araignée", "huit"],
      ["legs does a bird have", "two", "pattes a un oiseau", "deux"],
      ["days does a week have", "seven", "jours a une semaine", "sept"],
      ["months does a year have", "twelve", "mois a une année", "douze"],
      ["wheels does a car have", "four", "roues a une voiture", "quatre"],
      ["wheels does a bicycle have", "two", "roues a un vélo", "deux"],
      ["sides does a triangle have", "three", "côtés a un triangle", "trois"],
      ["fingers does a hand have", "five", "doigts a une main", "cinq"],
    ),
    questions: {
      en: [
        "How many {x}?",
        "Tell me how many {x}.",
        "Do you know how many {x}?",
        "Say how many {x}.",
        "I would like to know how many {x}.",
        "So how many {x}?",
        "Please say how many {x}.",
        "Quick: how many {x}?",
        "How many {x}, please?",
        "Can you tell me how many {x}?",
      ],
      fr: [
        "Combien de {x} ?",
        "Dis-moi combien de {x}.",
        "Sais-tu combien de {x} ?",
        "Dites combien de {x}.",
        "Je voudrais savoir combien de {x}.",
        "Alors, combien de {x} ?",
        "Dis donc combien de {x}.",
        "Vite : combien de {x} ?",
        "Combien de {x}, s'il vous plaît ?",
        "Pouvez-vous dire combien de {x} ?",
      ],
    },
    sentence: { en: "The answer is {y}.", fr: "La réponse est {y}." },
    more: { en: "You can count them.", fr: "On peut les compter." },
  },
];

function items(
  ...rows: readonly (readonly [string, string, string, string])[]
): Both<readonly [string, string]>[] {
  return rows.map(([x, y, french, answer]) => ({ en: [x, y], fr: [french, answer] }));
}
