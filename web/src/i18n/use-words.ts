// The texts and formats of the chosen language together, for functions that put the gateway's data into words.
import type { Format } from './format.ts'
import type { Texts } from './texts.ts'
import { useFormat } from './use-format.ts'
import { useTranslation } from './use-translation.ts'

export type Words = Texts & { readonly format: Format }

export function useWords(): Words {
  const { t, find } = useTranslation()
  return { t, find, format: useFormat() }
}
