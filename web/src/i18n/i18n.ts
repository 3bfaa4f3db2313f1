// Chooses the language, loads its catalogue and sets the document's language; useTranslation() reads the texts.
import { isLanguage, languages } from './languages.ts'
import type { Language } from './languages.ts'
import { textsOf } from './texts.ts'
import { showTexts } from './use-translation.ts'

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
