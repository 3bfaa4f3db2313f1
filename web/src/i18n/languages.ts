// The available languages. A new one needs its catalogue and one line here: the compiler names every text it lacks.
import type en from './en.json'

/** The shape of every catalogue: the English one has all texts. */
export type Catalogue = typeof en

export type Language = 'en' | 'de'

type Entry = { readonly name: string; readonly load: () => Promise<Catalogue> }

export const languages: Readonly<Record<Language, Entry>> = {
  en: { name: 'English', load: async () => (await import('./en.json')).default },
  de: { name: 'Deutsch', load: async () => (await import('./de.json')).default },
}

export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && value in languages
}
