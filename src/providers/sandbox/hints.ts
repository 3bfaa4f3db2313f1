// Guesses from a message at the fields of a schema: quoted words, names, numbers, "city: Paris". They are used only
// where the schema allows them.

export type Hints = {
  /** Texts for text fields, the likeliest first; never empty. */
  readonly phrases: readonly string[]
  readonly numbers: readonly number[]
  /** Whether it is one of the texts, in any case. */
  isMentioned(text: string): boolean
  /** The value that follows a field's name in the text. */
  valueOf(field: string): string | undefined
}

/** Only the beginning of a message is read, so that a long one takes no longer. */
const CHARACTERS_MAX = 4000

/** Each number of a message is tried in each field for one. */
const NUMBERS_MAX = 20

export function readHints(message: string): Hints {
  const text = message.slice(0, CHARACTERS_MAX)
  const phrases = [...quoted(text), ...names(text), ...plainWords(text)]
  const values = labelled(text)
  const mentioned = new Set(phrases.map((phrase) => phrase.toLowerCase()))
  return {
    isMentioned: (word) => mentioned.has(word.toLowerCase()),
    phrases: phrases.length > 0 ? [...new Set(phrases)] : ['sandbox'],
    numbers: [...text.matchAll(/(?<![\w.-])-?\d{1,15}(?:\.\d{1,9})?(?![\w.]{0,9}\w)/g)]
      .slice(0, NUMBERS_MAX)
      .map(([digits]) => Number(digits)),
    valueOf: (field) => values.get(plainName(field)),
  }
}

function quoted(text: string): string[] {
  return [...text.matchAll(/"([^"\n]{1,200})"|“([^”\n]{1,200})”|`([^`\n]{1,200})`/g)].map(
    ([, straight, curly, code]) => straight ?? curly ?? code ?? '',
  )
}

/** Capitalized words inside a sentence: "in New York" is about New York. */
function names(text: string): string[] {
  return [
    ...text.matchAll(/(?<=[\p{L}\p{N},;:]\s)\p{Lu}[\p{L}\p{N}-]*(?:\s\p{Lu}[\p{L}\p{N}-]*)*/gu),
  ]
    .map(([name]) => name)
    .filter((name) => name !== 'I')
}

/** The last words first, because requests tend to end with what they are about. */
function plainWords(text: string): string[] {
  return [...text.matchAll(/\p{L}[\p{L}\p{N}]{2,30}/gu)]
    .slice(-20)
    .map(([word]) => word)
    .toReversed()
}

/** "city: Paris", "first name is Bob": values by the one or two words before them. */
function labelled(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  const said =
    /(?:([\p{L}\p{N}]{1,40})[ _-])?([\p{L}\p{N}]{1,40})["']?(?: is| to| of|:|=)\s?(?:"([^"\n]{1,200})"|([^\s,;]{1,200}))/gu
  for (const [, before = '', word = '', quotation, plain = ''] of text.matchAll(said)) {
    const value = quotation ?? plain.replace(/[.!?]+$/, '')
    if (value === '') continue
    values.set(plainName(word), value)
    values.set(plainName(before + word), value)
  }
  return values
}

function plainName(name: string): string {
  return name.replaceAll(/[\s_-]/g, '').toLowerCase()
}
