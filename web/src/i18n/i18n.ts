// The texts of the chosen language. i18n.ts loads the catalogue before the first render; a change of language renders
// everything again.
import { useMemo, useSyncExternalStore } from 'react'
import type en from './en.json'
import { formatFor } from './format.ts'
import type { Format } from './format.ts'

type Translation = Texts & { readonly language: Language }

let shown: Translation = { t: (key) => key, find: () => undefined, language: 'en' }
const listeners = new Set<() => void>()

export function useTranslation(): Translation {
  return useSyncExternalStore(listen, () => shown)
}

/** For plain functions whose callers use the hook. */
function shownTexts(): Texts {
  return shown
}

function showTexts(texts: Texts, language: Language): void {
  shown = { ...texts, language }
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

// The formats of the chosen language, in the reader's own variant of it (en-GB for a British browser).

export function useFormat(): Format {
  const { language } = useTranslation()
  return useMemo(() => {
    const variant = navigator.languages.find((each) => each.startsWith(language))
    return formatFor(variant && isTag(variant) ? variant : language)
  }, [language])
}

/** Some systems give the browser a locale that is not a language tag: `en-US@posix`. */
function isTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length > 0
  } catch {
    return false
  }
}

// The texts and formats of the chosen language together, for functions that put the gateway's data into words.

export type Words = Texts & { readonly format: Format }

export function useWords(): Words {
  const { t, find } = useTranslation()
  return { t, find, format: useFormat() }
}

// The name of a role: built-in roles in the reader's language, custom ones as they were named.

type Role = { readonly id: string; readonly name: string }

export function useRoleName(): (role: Role) => string {
  const { find } = useTranslation()
  return ({ id, name }) => find(`builtInRole.${id}`) ?? name
}

// A refusal of the gateway in the reader's language; in the gateway's own words if the catalogue lacks it, as after an
// update of the gateway alone.

/** A message of the gateway: in English, and as a name with values. */
export type Refusal = {
  readonly message: string
  readonly reason?: string | undefined
  readonly values?: Readonly<Record<string, string | number>> | undefined
}

/** Does not subscribe to the language: call it only while rendering something that does. */
export function said({ message, reason, values = {} }: Refusal): string {
  const { find } = shownTexts()
  const { field, permission } = values
  const words = {
    ...values,
    ...(field === undefined ? {} : { field: find(`keyField.${field}`) ?? field }),
    ...(permission === undefined
      ? {}
      : { permission: find(`permission.${permission}`) ?? permission }),
  }
  return find(`refused.${reason}`, words) ?? message
}

// Chooses the language, loads its catalogue and sets the document's language; useTranslation() reads the texts.

const storageKey = 'tollgate.language'

export async function startI18n(): Promise<void> {
  await show(preferredLanguage())
}

export async function changeLanguage(language: Language): Promise<void> {
  await show(language)
  localStorage.setItem(storageKey, language)
}

async function show(language: Language): Promise<void> {
  showTexts(textsOf(language, await languages[language].load()), language)
  document.documentElement.lang = language
}

function preferredLanguage(): Language {
  const wanted = [localStorage.getItem(storageKey), ...navigator.languages]
  return wanted.map((each) => each?.slice(0, 2)).find(isLanguage) ?? 'en'
}

// The available languages. A new one needs its catalogue and one line here: the compiler names every text it lacks.

/** The shape of every catalogue: the English one has all texts. */
export type Catalogue = typeof en

type Language = 'en' | 'de'

type Entry = { readonly name: string; readonly load: () => Promise<Catalogue> }

export const languages: Readonly<Record<Language, Entry>> = {
  en: { name: 'English', load: async () => (await import('./en.json')).default },
  de: { name: 'Deutsch', load: async () => (await import('./de.json')).default },
}

export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && value in languages
}

// Reads texts from a catalogue: picks the plural form and fills in the values between braces. Nothing is escaped here:
// React escapes when it renders.

/** The name of a text: its path in the catalogue, without the plural suffix. */
export type TextKey = PathOf<Catalogue>

/**
 * `count` chooses between `_one`, `_other` and the language's other plural forms. Numbers are formatted for the
 * language.
 */
type TextValues = Readonly<Record<string, string | number>>

export type Translate = (key: TextKey, values?: TextValues) => string

type Texts = {
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
