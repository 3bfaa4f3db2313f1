// What keeps the requests of one conversation together, so that they reach the same target and its cache: the formats
// differ only in where they say it.

/** Of each text: enough to tell conversations apart, little enough to be hashed for every request. */
const BEGINNING_CHARACTERS = 1024

/** The client's own key for the conversation, else how it begins: its instructions and the first thing the user said. */
export function affinityBy(key: unknown, beginning: readonly string[]): string {
  if (typeof key === 'string' && key !== '') return key
  return beginning.map((text) => text.slice(0, BEGINNING_CHARACTERS)).join('\n')
}
