// Who is signed in.
import { ActionIcon, Menu } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { PersonIcon } from '../parts/icons.tsx'
import { useSession } from '../session.ts'

export function AccountMenu() {
  const { t } = useTranslation()
  const { email } = useSession()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('account.menu')}>
          <PersonIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{email}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  )
}
