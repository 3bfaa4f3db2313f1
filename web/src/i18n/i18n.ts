// The texts and formats of the reader's language: `useTranslation()` renders again when the language changes.
import { useSyncExternalStore } from 'react'
import { type Format, formatFor } from './format.ts'
import {
  type Catalogue,
  keepLanguage,
  type Language,
  languages,
  wantedLanguage,
} from './languages.ts'

/** The name of a text: its path in the catalogue, without the plural suffix. */
export type TextKey = PathOf<Catalogue>

/** Numbers are formatted for the language; `count` also chooses the plural form: `_one`, `_other`. */
type TextValues = Readonly<Record<string, string | number>>

export type Translate = (key: TextKey, values?: TextValues) => string

type Texts = {
  readonly t: Translate
  /** For names from the gateway, which may know more of them than the catalogue does. */
  readonly find: (key: string, values?: TextValues) => string | undefined
}

/** What functions need that put the gateway's data into words. */
export type Words = Texts & { readonly format: Format }

let shown: Words & { readonly language: Language } = {
  ...{ t: (key) => key, find: () => undefined },
  format: formatFor('en'),
  language: 'en',
}
const listeners = new Set<() => void>()

export function useTranslation() {
  return useSyncExternalStore(listen, () => shown)
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Before the first render. */
export async function startI18n(): Promise<void> {
  await show(wantedLanguage())
}

export async function changeLanguage(language: Language): Promise<void> {
  await show(language)
  keepLanguage(language)
}

async function show(language: Language): Promise<void> {
  const texts = textsOf(language, await languages[language].load())
  shown = { ...texts, format: formatFor(localeOf(language)), language }
  document.documentElement.lang = language
  for (const listener of listeners) listener()
}

/** The reader's own variant of a language, such as en-GB for a British browser. */
function localeOf(language: Language): string {
  const variant = navigator.languages.find((each) => each.startsWith(language))
  return variant && isTag(variant) ? variant : language
}

/** Some systems give the browser a locale that is not a language tag: `en-US@posix`. */
function isTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length > 0
  } catch {
    return false
  }
}

/** The name of a role: built-in roles in the reader's language, custom ones as they were named. */
export function useRoleName(): (role: { readonly id: string; readonly name: string }) => string {
  const { find } = useTranslation()
  return ({ id, name }) => find(`builtInRole.${id}`) ?? name
}

/** A message of the gateway: in English, and as a name with values. */
export type Refusal = {
  readonly message: string
  readonly reason?: string | undefined
  readonly values?: Readonly<Record<string, string | number>> | undefined
}

/**
 * A refusal in the reader's language; in the gateway's own words if the catalogue lacks it, as after an update of the
 * gateway alone. Does not subscribe to the language: call it only while rendering something that does.
 */
export function said({ message, reason, values = {} }: Refusal): string {
  const { find } = shown
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

type PathOf<Node> = {
  [Name in keyof Node & string]: Node[Name] extends string
    ? WithoutNumber<Name>
    : `${Name}.${PathOf<Node[Name]>}`
}[keyof Node & string]

type WithoutNumber<Name extends string> = Name extends `${infer Stem}_${Intl.LDMLPluralRule}`
  ? Stem
  : Name

/** Picks the plural form and fills in the values between braces; React escapes when it renders. */
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
