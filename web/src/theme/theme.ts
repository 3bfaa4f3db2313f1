// The colours, type and component defaults of the interface. vite.config.ts writes the variables into a style sheet
// when the interface is built, so that the page needs no inline style; theme.test.ts checks the contrasts.
import {
  convertCssVariables,
  createTheme,
  DEFAULT_THEME,
  defaultCssVariablesResolver,
  type MantineColorsTuple,
  mergeMantineTheme,
} from '@mantine/core'

/** Colours, as --tg-NAME. Text on ground and raised has a contrast of 4.5:1, graphics 3:1. */
export const tokens = {
  light: {
    ground: '#f7f7f4',
    raised: '#ffffff',
    sunken: '#f0f0ec',
    line: '#e2e1db',
    'line-strong': '#8a8d8c',
    shadow: '#1b242c26',
    text: '#1b242c',
    muted: '#56606a',
    accent: '#0b646a',
    'accent-ground': '#e3f0f0',
    track: '#e5e6e2',
    held: '#65989c',
    others: '#7c8894',
    good: '#14693a',
    'good-ground': '#e4f2e9',
    warn: '#8a4b00',
    'warn-ground': '#fcefd9',
    bad: '#b3261e',
    'bad-ground': '#fbe8e6',
    'series-1': '#0b646a',
    'series-2': '#c2410c',
    'series-3': '#5b4bb5',
    'series-4': '#7a8b00',
    'series-5': '#b0307a',
    'series-6': '#7c8894',
  },
  dark: {
    ground: '#11161a',
    raised: '#191f25',
    sunken: '#0d1114',
    line: '#2c343c',
    'line-strong': '#75808b',
    shadow: '#000000a6',
    text: '#e8edf1',
    muted: '#a3aeb8',
    accent: '#63c6cc',
    'accent-ground': '#12292c',
    track: '#2b333b',
    held: '#4c8a8f',
    others: '#85909b',
    good: '#72d18f',
    'good-ground': '#14291c',
    warn: '#f0b45e',
    'warn-ground': '#32260f',
    bad: '#ff948a',
    'bad-ground': '#381a17',
    'series-1': '#63c6cc',
    'series-2': '#ff8f4a',
    'series-3': '#a99bf5',
    'series-4': '#bccb45',
    'series-5': '#f08bc3',
    'series-6': '#85909b',
  },
} as const

const petrol: MantineColorsTuple = [
  '#e6f4f4',
  '#cde8e9',
  '#a0d3d5',
  '#6fbcc0',
  '#45a5aa',
  '#1f8c92',
  '#11777d',
  '#0b646a',
  '#084f54',
  '#06393d',
]

const red: MantineColorsTuple = [
  '#fdeeec',
  '#fbdad7',
  '#f6b3ad',
  '#f08a81',
  '#ea665b',
  '#dc4237',
  '#c6322a',
  '#b3261e',
  '#931b15',
  '#6d110c',
]

// Mantine draws input borders with shade 4, so that shade has 3:1.
const gray: MantineColorsTuple = [
  '#f7f7f4',
  '#f0f0ec',
  '#e9e9e4',
  '#e2e1db',
  '#8a8d8c',
  '#7b7f80',
  '#56606a',
  '#454e57',
  '#333b43',
  '#1b242c',
]

const dark: MantineColorsTuple = [
  '#e8edf1',
  '#c9d1d9',
  '#a3aeb8',
  '#8b96a1',
  '#75808b',
  '#2c343c',
  '#191f25',
  '#151b20',
  '#11161a',
  '#0d1114',
]

/** style.css lets the list of options scroll: around it, assistive technology would meet a box that no key scrolls. */
const options = { defaultProps: { withScrollArea: false } }

/** Mantine heads a dialog with a <header>: outside of the page's sections, that is a banner like the page's own. */
const noBanner = { header: { role: 'presentation' } }

export const theme = createTheme({
  primaryColor: 'petrol',
  primaryShade: { light: 7, dark: 6 },
  colors: { petrol, red, gray, dark },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '650' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  autoContrast: false,
  components: {
    // Mantine's scroll lock writes a <style> element, which the Content-Security-Policy forbids; style.css locks
    // instead.
    // A stray click discards nothing typed, and the second of a double click does not close what the first opened.
    Modal: {
      defaultProps: {
        attributes: noBanner,
        lockScroll: false,
        centered: true,
        radius: 'lg',
        closeOnClickOutside: false,
      },
    },
    ModalRoot: { defaultProps: { lockScroll: false } },
    Drawer: { defaultProps: { attributes: noBanner, lockScroll: false } },
    // An element of its own that takes the focus first, where assistive technology expects only items.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Tooltip: {
      defaultProps: {
        withArrow: true,
        multiline: true,
        maw: 320,
        events: { hover: true, focus: true, touch: true },
      },
    },
    Autocomplete: options,
    MultiSelect: options,
    Select: options,
    TagsInput: options,
  },
})

const mantineNames = {
  '--mantine-color-body': 'var(--tg-ground)',
  '--mantine-color-text': 'var(--tg-text)',
  '--mantine-color-dimmed': 'var(--tg-muted)',
  '--mantine-color-placeholder': 'var(--tg-muted)',
  '--mantine-color-anchor': 'var(--tg-accent)',
  '--mantine-color-default': 'var(--tg-raised)',
  '--mantine-color-default-hover': 'var(--tg-sunken)',
  '--mantine-color-default-color': 'var(--tg-text)',
  '--mantine-color-default-border': 'var(--tg-line-strong)',
  '--mantine-color-error': 'var(--tg-bad)',
  '--mantine-color-success': 'var(--tg-good)',
  '--mantine-color-disabled': 'var(--tg-track)',
  '--mantine-color-disabled-color': 'var(--tg-muted)',
}

function prefixed(names: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(names).map(([name, value]) => [`--tg-${name}`, value]))
}

/** The theme as one style sheet, generated when the interface is built, never in the browser. */
export function themeStyleSheet(): string {
  const { variables, light, dark } = defaultCssVariablesResolver(
    mergeMantineTheme(DEFAULT_THEME, theme),
  )
  return convertCssVariables(
    {
      variables,
      light: { ...light, ...prefixed(tokens.light), ...mantineNames },
      dark: { ...dark, ...prefixed(tokens.dark), ...mantineNames },
    },
    ':root',
  )
}
