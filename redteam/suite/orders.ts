/** Order hidden in a text, picture or page: the suite's model says the word in the chat. */
export function orderOf(word: string): string {
  return `OBEY-${word}`;
}

/** Words of all orders in a text, each once. */
export function ordersIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/OBEY-([a-z]{3,24})/g)].map(([, word = ""]) => word))];
}
