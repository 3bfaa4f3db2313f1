// Texts as a search compares them, whatever case they are written in. Kept beside the texts themselves: both databases
// know the cases of ASCII letters alone.

export function fold(text: string): string {
  // By way of the small letters: only so ß becomes what ẞ does, ς what σ does, and İ loses its dot.
  return text.normalize('NFC').toLowerCase().toUpperCase().replaceAll('I\u0307', 'I')
}

type Searched = {
  readonly name: string
  readonly owner: string | null
  readonly tags: readonly string[]
}

/** The columns of a key that are searched, always written together with what searches read. */
export function searchedColumns({ name, owner, tags }: Searched) {
  return {
    name,
    owner,
    tags: JSON.stringify(tags),
    folded_text: fold(`${name}\n${owner ?? ''}`),
    folded_tags: fold(JSON.stringify(tags)),
  }
}
