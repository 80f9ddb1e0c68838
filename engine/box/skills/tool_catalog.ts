// The catalogue of tools that answer questions, and the type of its entries. Each has names, requests
// and results in many forms, so that only the list in the prompt tells how a tool is called today.

/** What a tool is like before its names are chosen. */
export interface ToolPlan {
  /** Five names; the last is held out. */
  names: string;
  /** What it does, as an infinitive without "to". */
  about: string;
  /** Kinds of the parameters, required and optional; a request tells all that it has places for. */
  needs: string;
  may?: string;
  /**
   * Five requests or more, every fifth held out. Those without a full stop or question mark are
   * orders, which may be put politely.
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

export const QUESTION_TOOLS: readonly ToolPlan[] = [
  {
    names: "get_weather current_weather weather weather_now check_weather",
    about: "get the current weather in a city",
    needs: "city",
    may: "unit",
    requests: [
      "What is the weather in {city}?",
      "How is the weather in {city} right now?",
      "tell me the weather in {city} in {unit}",
      "Is it warm in {city} today?",
      "Do I need a coat in {city}?",
      "What is the weather like in {city}, in {unit}?",
      "check the weather in {city}",
      "Is it raining in {city}?",
      "Weather in {city}?",
      "How warm is it in {city} now?",
    ],
    again: "in {city}",
    gives: "temperature sky",
    says: "It is {temperature} degrees and {sky} in {city}.",
    group: "weather",
  },
  {
    names: "get_forecast forecast weather_forecast day_forecast predict_weather",
    about: "get the weather forecast for a city on a day",
    needs: "city weekday",
    requests: [
      "What will the weather be in {city} on {weekday}?",
      "Will it rain in {city} on {weekday}?",
      "give me the forecast for {city} on {weekday}",
      "How warm will it be on {weekday} in {city}?",
      "What is the forecast for {weekday} in {city}?",
    ],
    again: "on {weekday}",
    gives: "temperature sky",
    says: "It will be {temperature} degrees and {sky} in {city} on {weekday}.",
    group: "weather",
  },
  {
    names: "get_humidity humidity air_humidity humidity_in check_humidity",
    about: "get the humidity of the air in a city",
    needs: "city",
    requests: [
      "How humid is it in {city}?",
      "What is the humidity in {city}?",
      "tell me the humidity in {city}",
      "Is the air humid in {city}?",
      "check how humid the air in {city} is",
    ],
    again: "in {city}",
    gives: "humidity",
    says: "The humidity in {city} is {humidity} percent.",
    group: "weather",
  },
  {
    names: "get_time current_time local_time time_in clock",
    about: "get the local time in a city",
    needs: "city",
    requests: [
      "What time is it in {city}?",
      "What is the local time in {city}?",
      "tell me the time in {city}",
      "How late is it in {city} now?",
      "Which time do they have in {city}?",
      "give me the current time in {city}",
      "Time in {city}?",
    ],
    again: "in {city}",
    gives: "clock",
    says: "It is {clock} in {city}.",
  },
  {
    names: "add add_numbers sum plus addition",
    about: "add two numbers",
    needs: "first second",
    requests: [
      "What is {first} plus {second}?",
      "add {first} and {second}",
      "How much is {first} + {second}?",
      "What is the sum of {first} and {second}?",
      "add {second} to {first}",
      "{first} plus {second}?",
    ],
    gives: "number",
    compute: ({ first, second }) => Number(first) + Number(second),
    says: "{first} plus {second} is {number}.",
    group: "add",
  },
  {
    names: "multiply multiply_numbers times product multiplication",
    about: "multiply two numbers",
    needs: "first second",
    requests: [
      "What is {first} times {second}?",
      "multiply {first} by {second}",
      "How much is {first} * {second}?",
      "What is the product of {first} and {second}?",
      "multiply {first} and {second}",
      "{first} times {second}?",
    ],
    gives: "number",
    compute: ({ first, second }) => Number(first) * Number(second),
    says: "{first} times {second} is {number}.",
    group: "multiply",
  },
  {
    names: "convert_currency currency exchange currency_converter change_money",
    about: "convert an amount of money between currencies",
    needs: "money currencyFrom currencyTo",
    requests: [
      "How much are {money} {currencyFrom} in {currencyTo}?",
      "convert {money} {currencyFrom} to {currencyTo}",
      "What are {money} {currencyFrom} in {currencyTo}?",
      "change {money} {currencyFrom} into {currencyTo}",
      "How many {currencyTo} do I get for {money} {currencyFrom}?",
    ],
    again: "in {currencyTo}",
    gives: "price",
    says: "{money} {currencyFrom} are {price} {currencyTo}.",
  },
  {
    names: "convert_temperature temperature_converter temp_convert to_degrees change_scale",
    about: "convert degrees to another scale",
    needs: "degrees scale",
    requests: [
      "convert {degrees} degrees to {scale}",
      "What are {degrees} degrees in {scale}?",
      "How much are {degrees} degrees in {scale}?",
      "turn {degrees} degrees into {scale}",
      "give me {degrees} degrees in {scale}",
    ],
    gives: "number",
    compute: ({ degrees, scale }) =>
      Math.round(scale === "celsius" ? (Number(degrees) - 32) / 1.8 : Number(degrees) * 1.8 + 32),
    says: "{degrees} degrees are {number} degrees {scale}.",
  },
  {
    names: "stock_price get_stock_price share_price get_share_price stock_quote",
    about: "get the price of a share of a company",
    needs: "firm",
    requests: [
      "What is the stock price of {firm}?",
      "How much is a share of {firm}?",
      "tell me the share price of {firm}",
      "What does a share of {firm} cost?",
      "How is the stock of {firm} doing?",
      "get the stock price of {firm}",
    ],
    again: "{firm}",
    gives: "price",
    says: "A share of {firm} costs {price}.",
    group: "price",
  },
  {
    names: "get_distance distance distance_between measure_distance how_far",
    about: "get the distance between two cities",
    needs: "cityFrom cityTo",
    requests: [
      "How far is it from {cityFrom} to {cityTo}?",
      "What is the distance from {cityFrom} to {cityTo}?",
      "How many kilometres are there between {cityFrom} and {cityTo}?",
      "give me the distance between {cityFrom} and {cityTo}",
      "How far is {cityTo} from {cityFrom}?",
    ],
    again: "to {cityTo}",
    gives: "distance",
    says: "It is {distance} kilometres from {cityFrom} to {cityTo}.",
    group: "route",
  },
  {
    names: "travel_time get_travel_time trip_duration journey_time route_time",
    about: "get the travel time between two cities",
    needs: "cityFrom cityTo",
    requests: [
      "How long does it take from {cityFrom} to {cityTo}?",
      "How long is the trip from {cityFrom} to {cityTo}?",
      "What is the travel time from {cityFrom} to {cityTo}?",
      "How many minutes does the ride from {cityFrom} to {cityTo} take?",
      "How long do I travel from {cityFrom} to {cityTo}?",
    ],
    again: "to {cityTo}",
    gives: "minutesGiven",
    says: "It takes {minutesGiven} minutes from {cityFrom} to {cityTo}.",
    group: "route",
  },
  {
    names: "get_population population count_people inhabitants population_of",
    about: "get the number of people in a city",
    needs: "city",
    requests: [
      "How many people live in {city}?",
      "What is the population of {city}?",
      "tell me the population of {city}",
      "How big is the population of {city}?",
      "How many inhabitants does {city} have?",
    ],
    again: "in {city}",
    gives: "inhabitants",
    says: "{inhabitants} people live in {city}.",
    group: "city",
  },
  {
    names: "get_mayor mayor mayor_of find_mayor city_mayor",
    about: "get the name of the mayor of a city",
    needs: "city",
    requests: [
      "Who is the mayor of {city}?",
      "What is the mayor of {city} called?",
      "tell me the name of the mayor of {city}",
      "Who governs the city of {city}?",
      "Do you know the mayor of {city}?",
    ],
    again: "of {city}",
    gives: "mayor",
    says: "The mayor of {city} is {mayor}.",
    group: "city",
  },
  {
    names: "dialling_code get_dialling_code country_code phone_prefix call_code",
    about: "get the dialling code of a country",
    needs: "country",
    requests: [
      "What is the dialling code of {country}?",
      "What do I dial to call {country}?",
      "tell me the dialling code of {country}",
      "Which phone code does {country} have?",
      "What is the phone prefix of {country}?",
    ],
    again: "for {country}",
    gives: "code",
    says: "The dialling code of {country} is {code}.",
  },
];
