// The name of a text that takes no values, for tables of things with labels.
import type { ParseKeys } from 'i18next'

export type TextKey = ParseKeys
