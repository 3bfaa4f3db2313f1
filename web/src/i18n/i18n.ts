// Chooses the language, loads its catalogue and tells the document; texts are read with useTranslation().
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { isLanguage, languages } from './languages.ts'
import type { Catalogue, Language } from './languages.ts'

declare module 'i18next' {
  interface CustomTypeOptions {
    readonly resources: { readonly translation: Catalogue }
  }
}

const storageKey = 'tollgate.language'

export async function startI18n(): Promise<void> {
  const language = preferredLanguage()
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    // There is one namespace, and permissions are called configuration:read.
    nsSeparator: false,
    resources: { [language]: { translation: await languages[language].load() } },
    // React escapes what it renders.
    interpolation: { escapeValue: false },
  })
  document.documentElement.lang = language
}

export async function changeLanguage(language: Language): Promise<void> {
  const catalogue = await languages[language].load()
  i18next.addResourceBundle(language, 'translation', catalogue)
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
  localStorage.setItem(storageKey, language)
}

function preferredLanguage(): Language {
  const wanted = [localStorage.getItem(storageKey), ...navigator.languages]
  return wanted.map((each) => each?.slice(0, 2)).find(isLanguage) ?? 'en'
}
