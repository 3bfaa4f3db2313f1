// What keeps the requests of one conversation together, so that they reach the same target and its cache. The formats
// differ only in where they carry it.

/** Taken from each text: enough to distinguish conversations, little enough to hash for every request. */
const BEGINNING_CHARACTERS = 1024

/** The client's own key for the conversation, else its beginning: the instructions and the first user text. */
export function affinityBy(key: unknown, beginning: readonly string[]): string {
  if (typeof key === 'string' && key !== '') return key
  return beginning.map((text) => text.slice(0, BEGINNING_CHARACTERS)).join('\n')
}
