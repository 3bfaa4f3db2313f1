// A breadcrumb that is a text of the catalogue.
import type { ComponentType } from 'react'
import { useTranslation } from 'react-i18next'
import type { TextKey } from '../i18n/text-key.ts'

export function textCrumb(key: TextKey): ComponentType {
  const TextCrumb = () => useTranslation().t(key)
  return TextCrumb
}
