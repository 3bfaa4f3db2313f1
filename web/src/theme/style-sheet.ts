// The theme as one style sheet, generated when the interface is built, never in the browser.
import {
  convertCssVariables,
  DEFAULT_THEME,
  defaultCssVariablesResolver,
  mergeMantineTheme,
} from '@mantine/core'
import { cssVariables, theme } from './theme.ts'

export function themeStyleSheet(): string {
  const whole = mergeMantineTheme(DEFAULT_THEME, theme)
  const given = defaultCssVariablesResolver(whole)
  const own = cssVariables(whole)
  return convertCssVariables(
    {
      variables: given.variables,
      light: { ...given.light, ...own.light },
      dark: { ...given.dark, ...own.dark },
    },
    ':root',
  )
}
