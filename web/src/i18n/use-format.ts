// The formats of the chosen language, in the reader's own variant of it (en-GB for a British browser).
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { formatFor } from './format.ts'
import type { Format } from './format.ts'

export function useFormat(): Format {
  const { i18n } = useTranslation()
  return useMemo(() => {
    const variant = navigator.languages.find((each) => each.startsWith(i18n.language))
    return formatFor(variant && isTag(variant) ? variant : i18n.language)
  }, [i18n.language])
}

/** Some systems tell the browser a locale that is no language tag: `en-US@posix`. */
function isTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length > 0
  } catch {
    return false
  }
}
