// The texts of the chosen language. i18n.ts loads the catalogue before the first render; a change of language renders
// everything again.
import { useSyncExternalStore } from 'react'
import type { Language } from './languages.ts'
import type { Texts } from './texts.ts'

type Translation = Texts & { readonly language: Language }

let shown: Translation = { t: (key) => key, find: () => undefined, language: 'en' }
const listeners = new Set<() => void>()

export function useTranslation(): Translation {
  return useSyncExternalStore(listen, () => shown)
}

/** For plain functions whose callers use the hook. */
export function shownTexts(): Texts {
  return shown
}

export function showTexts(texts: Texts, language: Language): void {
  shown = { ...texts, language }
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
