// Reads texts from a catalogue: picks the plural form and fills in the values between braces. Nothing is escaped here:
// React escapes when it renders.
import type { Catalogue } from './languages.ts'

/** The name of a text: its path in the catalogue, without the plural suffix. */
export type TextKey = PathOf<Catalogue>

/**
 * `count` chooses between `_one`, `_other` and the language's other plural forms. Numbers are formatted for the
 * language.
 */
type TextValues = Readonly<Record<string, string | number>>

export type Translate = (key: TextKey, values?: TextValues) => string

export type Texts = {
  readonly t: Translate
  /** For names from the gateway, which may know more of them than the catalogue does. */
  readonly find: (key: string, values?: TextValues) => string | undefined
}

type PathOf<Node> = {
  [Name in keyof Node & string]: Node[Name] extends string
    ? WithoutNumber<Name>
    : `${Name}.${PathOf<Node[Name]>}`
}[keyof Node & string]

type WithoutNumber<Name extends string> = Name extends `${infer Stem}_${Intl.LDMLPluralRule}`
  ? Stem
  : Name

export function textsOf(language: string, catalogue: Catalogue): Texts {
  const texts = flatten(catalogue)
  const plurals = new Intl.PluralRules(language)
  const numbers = new Intl.NumberFormat(language)
  const written = (value: string | number = '') =>
    typeof value === 'number' ? numbers.format(value) : value
  const find: Texts['find'] = (key, values = {}) => {
    const counted =
      typeof values['count'] === 'number' && texts.get(`${key}_${plurals.select(values['count'])}`)
    const text = counted || texts.get(key)
    return text?.replace(/\{\{(\w+)\}\}/g, (_, name: string) => written(values[name]))
  }
  return { find, t: (key, values) => find(key, values) ?? key }
}

/** Every text by its path. */
export function flatten(node: object, prefix = ''): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [name, value] of Object.entries(node))
    if (typeof value === 'string') texts.set(prefix + name, value)
    else for (const [key, text] of flatten(value, `${prefix}${name}.`)) texts.set(key, text)
  return texts
}
