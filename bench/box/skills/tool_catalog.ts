// The catalogue of tools that answer questions, and the type of its entries. Each has names, requests
// and results in many forms, so that only the list in the prompt tells how a tool is called today.

/** What a tool is like before its names are chosen. */
export interface ToolTemplate {
  /** What it may be called. */
  names: string;
  /** What it does, as an infinitive without "to". */
  about: string;
  /** Kinds of the parameters, required and optional; a request tells all that it has places for. */
  needs: string;
  may?: string;
  /**
   * Patterns (random.ts) of what a user says, without a capital and a mark at the end; every fifth
   * wording is held out. Those that begin with a verb may be put politely.
   */
  requests: readonly string[];
  /** What a second question asks for: "And in Oslo?". */
  again?: string;
  /** Kinds of the values given back; an action gives back none. */
  gives?: string;
  /** The number given back, of the values of the parameters, where it can be known. */
  compute?: (values: Readonly<Record<string, unknown>>) => number;
  /** The answer in words once the tool has answered. */
  says: string;
  /** Tools of one group may be mistaken for each other. */
  group?: string;
}

/** Ways to ask for something that has a name. */
export const ASK =
  "[what is|what's|do you know|can you tell me|tell me|give me|show me|find out|look up|I need|I want to know]";

export const QUESTION_TOOLS: readonly ToolTemplate[] = [
  {
    names: "get_weather current_weather weather",
    about: "get the current weather in a city",
    needs: "city",
    requests: [
      `${ASK} the [|current ]weather [in|for] {city}[| now| today| right now]`,
      "[how is|how's|what is|check] the weather [in|for] {city}[| now| today| right now]",
      "is it [warm|cold|raining|sunny|windy|snowing|hot] in {city}[| now| today| right now]",
      "how [warm|cold|hot] is it in {city}[| now| today| right now]",
    ],
    again: "in {city}",
    gives: "temperature sky",
    says: "It is {temperature} degrees and {sky} in {city}.",
    group: "weather",
  },
  {
    names: "get_forecast forecast weather_forecast",
    about: "get the weather forecast for a city on a day",
    needs: "city weekday",
    requests: [
      "[what|how] will the weather be [in {city} on {weekday}|on {weekday} in {city}]",
      "will it [rain|snow|be warm|be cold|be sunny] [in {city} on {weekday}|on {weekday} in {city}]",
      `${ASK} the [|weather ]forecast [for {city} on {weekday}|for {weekday} in {city}]`,
    ],
    again: "on {weekday}",
    gives: "temperature sky",
    says: "It will be {temperature} degrees and {sky} in {city} on {weekday}.",
    group: "weather",
  },
  {
    names: "get_time current_time local_time",
    about: "get the local time in a city",
    needs: "city",
    requests: [
      "what time is it in {city}[| now| right now| at the moment]",
      `${ASK} the [|local |current ]time in {city}[| now| right now]`,
      "how late is it in {city}[| now| right now| at the moment]",
    ],
    again: "in {city}",
    gives: "clock",
    says: "It is {clock} in {city}.",
    group: "clock",
  },
  {
    names: "add add_numbers sum",
    about: "add two numbers",
    needs: "first second",
    requests: [
      "[what is|what's|how much is|compute|calculate|work out] {first} [plus|+] {second}",
      "add [{first} and {second}|up {first} and {second}|{second} to {first}|the numbers {first} and {second}]",
      `${ASK} the sum of {first} and {second}`,
    ],
    gives: "number",
    compute: ({ first, second }) => Number(first) + Number(second),
    says: "{first} plus {second} is {number}.",
    group: "add",
  },
  {
    names: "multiply multiply_numbers product",
    about: "multiply two numbers",
    needs: "first second",
    requests: [
      "[what is|what's|how much is|compute|calculate|work out] {first} [times|*|multiplied by] {second}",
      "multiply [{first} by {second}|{first} and {second}|{first} with {second}|the numbers {first} and {second}]",
      `${ASK} the product of {first} and {second}`,
    ],
    gives: "number",
    compute: ({ first, second }) => Number(first) * Number(second),
    says: "{first} times {second} is {number}.",
    group: "multiply",
  },
  {
    names: "convert_currency currency exchange",
    about: "convert an amount of money between currencies",
    needs: "money currencyFrom currencyTo",
    requests: [
      "[how much are|what are|how much is|what is] {money} {currencyFrom} in {currencyTo}[| today| now]",
      "[convert|change|exchange|turn] {money} {currencyFrom} [to|into] {currencyTo}",
      "how many {currencyTo} [do I get|are there|can I buy] for {money} {currencyFrom}",
    ],
    again: "in {currencyTo}",
    gives: "price",
    says: "{money} {currencyFrom} are {price} {currencyTo}.",
    group: "currency",
  },
  {
    names: "stock_price get_stock_price share_price",
    about: "get the price of a share of a company",
    needs: "firm",
    requests: [
      `${ASK} the [stock|share] price of {firm}[| today| now]`,
      "[how much is|what is] a share of {firm}[| today| now| worth]",
      "how is the stock of {firm} doing[| today| now]",
    ],
    again: "{firm}",
    gives: "price",
    says: "A share of {firm} costs {price}.",
    group: "price",
  },
  {
    names: "get_distance distance distance_between",
    about: "get the distance between two cities",
    needs: "cityFrom cityTo",
    requests: [
      "how far is [it from {cityFrom} to {cityTo}|{cityTo} from {cityFrom}|the way from {cityFrom} to {cityTo}]",
      `${ASK} the distance [from {cityFrom} to {cityTo}|between {cityFrom} and {cityTo}]`,
      "how many kilometres [are there|is it] [from {cityFrom} to {cityTo}|between {cityFrom} and {cityTo}]",
    ],
    again: "to {cityTo}",
    gives: "distance",
    says: "It is {distance} kilometres from {cityFrom} to {cityTo}.",
    group: "route",
  },
  {
    names: "travel_time get_travel_time trip_duration",
    about: "get the travel time between two cities",
    needs: "cityFrom cityTo",
    requests: [
      "how long [does it take|is the trip|is the ride|do I travel|is the way|do I need] from {cityFrom} to {cityTo}",
      `${ASK} the travel time [from {cityFrom} to {cityTo}|between {cityFrom} and {cityTo}]`,
    ],
    again: "to {cityTo}",
    gives: "minutesGiven",
    says: "It takes {minutesGiven} minutes from {cityFrom} to {cityTo}.",
    group: "route",
  },
  {
    names: "get_population population count_people",
    about: "get the number of people in a city",
    needs: "city",
    requests: [
      "how many [people|persons|inhabitants] [live|are there] in {city}[| now| today]",
      `${ASK} the [population|number of people] [of|in] {city}`,
    ],
    again: "in {city}",
    gives: "inhabitants",
    says: "{inhabitants} people live in {city}.",
    group: "city",
  },
];
