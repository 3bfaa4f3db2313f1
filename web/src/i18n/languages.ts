// The languages of the interface, and which of them the reader wants. Without the formats: start.ts needs it first.
import type en from './en.json'

/** The shape of every catalogue: the English one has all texts. */
export type Catalogue = typeof en

export type Language = 'en' | 'de'

/** A new language needs its catalogue and one line here: the compiler names every text it lacks. */
export const languages: Readonly<
  Record<Language, { readonly name: string; readonly load: () => Promise<Catalogue> }>
> = {
  en: { name: 'English', load: async () => (await import('./en.json')).default },
  de: { name: 'Deutsch', load: async () => (await import('./de.json')).default },
}

export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && value in languages
}

const storageKey = 'tollgate.language'

/** What was chosen here before, or else the first of the browser's that there is. */
export function wantedLanguage(): Language {
  const wanted = [localStorage.getItem(storageKey), ...navigator.languages]
  return wanted.map((each) => each?.slice(0, 2)).find(isLanguage) ?? 'en'
}

export function keepLanguage(language: Language): void {
  localStorage.setItem(storageKey, language)
}
