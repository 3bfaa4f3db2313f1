// A breadcrumb that is a text of the catalogue.
import type { ComponentType } from 'react'
import type { TextKey } from '../i18n/texts.ts'
import { useTranslation } from '../i18n/use-translation.ts'

export function textCrumb(key: TextKey): ComponentType {
  const TextCrumb = () => useTranslation().t(key)
  return TextCrumb
}
