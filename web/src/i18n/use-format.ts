// The formats of the chosen language, in the reader's own variant of it (en-GB for a British browser).
import { useMemo } from 'react'
import { formatFor } from './format.ts'
import type { Format } from './format.ts'
import { useTranslation } from './use-translation.ts'

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
