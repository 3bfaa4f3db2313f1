// The reader's colour scheme and language, stored in this browser.
import { ActionIcon, Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import type { MantineColorScheme } from '@mantine/core'
import { changeLanguage, isLanguage, languages, useTranslation } from '../i18n/i18n.ts'
import { GlobeIcon, MoonIcon, SunIcon } from './icons.tsx'

const schemes: readonly MantineColorScheme[] = ['light', 'dark', 'auto']

export function Preferences() {
  return (
    <>
      <ThemeMenu />
      <LanguageMenu />
    </>
  )
}

function ThemeMenu() {
  const { t } = useTranslation()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const shown = useComputedColorScheme()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('preferences.theme')}>
          {shown === 'dark' ? <MoonIcon /> : <SunIcon />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(schemeOf(value))}>
          {schemes.map((scheme) => (
            <Menu.RadioItem key={scheme} value={scheme}>
              {t(`preferences.${scheme}`)}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  )
}

function schemeOf(value: string): MantineColorScheme {
  return schemes.find((scheme) => scheme === value) ?? 'auto'
}

function LanguageMenu() {
  const { t, language: chosen } = useTranslation()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('preferences.language')}>
          <GlobeIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup
          value={chosen}
          onChange={(value) => {
            if (isLanguage(value)) void changeLanguage(value)
          }}
        >
          {Object.entries(languages).map(([language, { name }]) => (
            <Menu.RadioItem key={language} value={language} lang={language}>
              {name}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  )
}
