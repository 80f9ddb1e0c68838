// Sentences to extract facts from and instructions to do so, as patterns (random.ts): openings begin
// a text, additions tell one field more. {amount} brings its currency along.

const WHO = "[|||my friend |our customer |our guest |my neighbour |the teacher ]{person}";
const WHO_AGE = "[|||||, {age},| ({age})|, aged {age},|, {age} years old,]";
const WHENCE = "[||||| from {city}| of {city}]";
const WHERE = "[||| in {city}| in a shop in {city}| at a market in {city}| near {city}]";
const WHEN = "[||| on {date}| on {date}]";
const FOR = "[|| for {amount}]";
const BUYS =
  "[bought|ordered|picked up|sold|wants|packed|asked for|collected|brought|found|has lost|received|took]";
const PAYS =
  "[paid|spent|won|lost|earned|saved|borrowed|owes us|still owes|received|gave away|invested]";
const LIVES =
  "[lives|works|studies|was born|has a flat|has a house|opened a shop|got married|runs a shop|is staying]";
const GOES =
  "[moved to|travelled to|will fly to|is going to|visited|comes from|is on the way to|went to|left] {city}";
const HAPPENED = "[arrived|called us|got married|was born|started|came to see us|had a party|left]";

/** Each place at most once counts: a wording that has one twice is not used. */
export const OPENINGS: readonly string[] = [
  `${WHO}[${WHO_AGE}|${WHENCE}] ${BUYS} {items}${FOR}${WHERE}${WHEN}.`,
  `[On {date}[,|]|In {city}|At {age},|Yesterday|Last week] ${WHO} ${BUYS} {items}${FOR}${WHERE}.`,
  `${WHO}[${WHO_AGE}|${WHENCE}] [paid|spent] {amount} [on|for] {items}${WHERE}${WHEN}.`,
  `[On {date}[,|]|In {city}|At {age},|Yesterday|Last week] ${WHO} [paid|spent] {amount} [on|for] {items}.`,
  `${WHO}[${WHO_AGE}|${WHENCE}] ${PAYS} {amount}${WHERE}${WHEN}.`,
  `[On {date}[,|]|In {city}|At {age},|Yesterday|Last week] ${WHO} ${PAYS} {amount}[| in {city}].`,
  `${WHO}${WHO_AGE} ${LIVES} in {city}[|| and is {age} [|years old]].`,
  `${WHO} is {age}[| years old] and ${LIVES} in {city}.`,
  `${WHO}[${WHENCE}| in {city}] [is|turned|is now|has turned] {age}[| years old]${WHEN}.`,
  `[On {date}[,|]|At {age},|Last week] ${WHO} ${GOES}[| with {items}].`,
  `${WHO}${WHO_AGE} ${GOES}${WHEN}[| with {items}].`,
  `${WHO}${WHO_AGE} ${HAPPENED}[| in {city}]${WHEN}.`,
  `[The|A] {age}-year-old {person} ${LIVES} in {city}.`,
  `{age}-year-old {person}${WHENCE} ${BUYS} {items}${FOR}${WHEN}.`,
  `[My name is|I am|I'm|This is] {person}[| from {city}], [{age}|and I am {age}[| years old]|and I live in {city}|{age}, and I live in {city}].`,
  `[Hi|Hello|Hey][,|!] [my name is|I am|this is] {person}[|, {age}][| from {city}][| and I need {items}| and I ordered {items}].`,
  `[Please send|We sent|Send|Deliver|We still have to send] {items} to {person}[| in {city}]${WHEN}.`,
  `[The|This|Our] [invoice|bill|ticket|order|parcel|receipt] [of|for] {person}[| from {city}| in {city}] [is|was|comes to|costs|came to] {amount}[|, due on {date}].`,
  `[The|Our|A] [meeting|party|visit|concert|wedding|course] [with|of] {person} [is|was|will be] [in {city}|in {city} on {date}|on {date}|on {date} in {city}].`,
  `[A|The] [room|flat|house|table|ticket|car] [in {city}|for {person}|for {person} in {city}] [costs|is|was] {amount}[| on {date}].`,
  `[We need|We bought|I bought|They want|Someone ordered] {items}[| in {city}]${FOR}${WHEN}.`,
  `[Name|Customer|Person|Guest]: {person}[,|;|.] [Age: {age}|City: {city}|Date: {date}|Total: {amount}|Items: {items}][|[,|;|.] [Age: {age}|City: {city}|Date: {date}|Price: {amount}|Items: {items}]].`,
  `[Order|List|Basket] of {person}: {items}[|, {amount}[| in all]]${WHEN}.`,
];

/** Sentences that follow an opening which has not told the field. */
export const ADDITIONS: Record<string, readonly string[]> = {
  person: [
    "[The|Our] [customer|contact|buyer|guest|driver|teacher] [is|was|is called] {person}.",
    "[It was signed|This was reported|All was paid|It was written|It was sent] by {person}.",
    "[Ask for|Please tell|Please call|Talk to|Thanks to] {person}.",
  ],
  age: [
    "[|The ][age|age at the time|age today][: | is | was ]{age}.",
    "[He|She] [is|was|is now|just turned|will soon be] {age}[| years old].",
    "That was at the age of {age}.",
  ],
  city: [
    "[It happened|All this took place|It was|The office is|The address is|The shop is|We are|They met] in {city}.",
    "[Greetings|The letter came|The parcel came|It was sent|The call came] from {city}.",
    "[City|Place|Town|Address]: {city}.",
  ],
  date: [
    "[It was|This was|It happened|It is due|It starts|The next visit is|The party is|It ends] on {date}.",
    "[The|Our] [date|deadline|day] is {date}.",
    "[Date|Day|Written|Due]: {date}.",
  ],
  amount: [
    "[It cost|The price was|The bill came to|That makes|The fee is|It costs|The total is] {amount}[| in all].",
    "[Total|Price|Amount|Amount due|Cost]: {amount}.",
    "[In the end|In all|Later|Today] {amount} [was|were] paid.",
  ],
  items: [
    "[The box contains|The list says|The basket holds|On the list are|We still need|The bag held] {items}.",
    "[Do not forget|Please bring|Please add|Please buy|Remember] {items}.",
    "[Items|List|Order|Products]: {items}.",
  ],
};

/** Instructions that name the fields. */
export const NAMING: readonly string[] = [
  "[Extract|Return|Find|List|Get|Give me|Write|Output|Show] {fields}[| from this text| from the text| from the sentence] [as|in] JSON[.|:]",
  "[Please|Now|Could you please] [extract|return|find|list|get|give me|write|output] {fields}[| from the text] as JSON[.|:]",
  "[I need|I want|I would like|Tell me] {fields} [as|in] JSON[.|:]",
  "[Make|Write|Return|Give me|Create] a JSON object with {fields}[| from this text][.|:]",
  "[Extract|Find|Get] {fields}[| from this text| from the text][.|:]",
];

/** Instructions that leave it to the text which fields there are. */
export const OPEN: readonly string[] = [
  "[Extract|Return|List|Get|Give me|Write|Output] [the facts|all facts|the data|the details|all fields|the information|everything][| from this text| from the sentence] [as|in] JSON[.|:]",
  "[Please extract|Please return|I need|I want] [the facts|all facts|the data|the details|all fields|the information] [as|in] JSON[.|:]",
  "[Turn|Convert|Put|Please turn|Please convert] [this|the text|this text|the sentence|this sentence] into JSON[.|:]",
];
