// A breadcrumb whose label is a catalogue text.
import type { ComponentType } from 'react'
import type { TextKey } from '../i18n/texts.ts'
import { useTranslation } from '../i18n/use-translation.ts'

export function textCrumb(key: TextKey): ComponentType {
  const TextCrumb = () => useTranslation().t(key)
  return TextCrumb
}
