// The reader's colour scheme and language, stored in this browser.
import { ActionIcon, Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import type { MantineColorScheme } from '@mantine/core'
import type { ReactNode } from 'react'
import { changeLanguage, useTranslation } from '../i18n/i18n.ts'
import { isLanguage, languages } from '../i18n/languages.ts'
import { GlobeIcon, type Icon, MoonIcon, SunIcon } from './icons.tsx'

const schemes: readonly MantineColorScheme[] = ['light', 'dark', 'auto']

export function Preferences() {
  const { t, language } = useTranslation()
  // It would stop transitions by a style element, which the policy of the page forbids.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  const shown = useComputedColorScheme()
  return (
    <>
      <PreferenceMenu
        label={t('preferences.theme')}
        icon={shown === 'dark' ? MoonIcon : SunIcon}
        value={colorScheme}
        onChange={(value) => setColorScheme(schemes.find((each) => each === value) ?? 'auto')}
      >
        {schemes.map((scheme) => (
          <Menu.RadioItem key={scheme} value={scheme}>
            {t(`preferences.${scheme}`)}
          </Menu.RadioItem>
        ))}
      </PreferenceMenu>
      <PreferenceMenu
        label={t('preferences.language')}
        icon={GlobeIcon}
        value={language}
        onChange={(value) => isLanguage(value) && void changeLanguage(value)}
      >
        {Object.entries(languages).map(([each, { name }]) => (
          <Menu.RadioItem key={each} value={each} lang={each}>
            {name}
          </Menu.RadioItem>
        ))}
      </PreferenceMenu>
    </>
  )
}

type PreferenceMenuProps = {
  readonly label: string
  readonly icon: Icon
  readonly value: string
  readonly onChange: (value: string) => void
  readonly children: ReactNode
}

function PreferenceMenu({ label, icon: Icon, value, onChange, children }: PreferenceMenuProps) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label}>
          <Icon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={value} onChange={onChange}>
          {children}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  )
}
