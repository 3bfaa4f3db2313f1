// The menu that shows who is signed in, with sign-out.
import { ActionIcon, Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { signInRoutes } from '../../../src/admin/contract/sign-in.ts'
import { call } from '../api.ts'
import { useRoleName } from '../i18n/use-role-name.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { PersonIcon } from '../parts/icons.tsx'
import { useSession } from '../session.ts'
import { leave } from './leave.ts'

export function AccountMenu() {
  const { t } = useTranslation()
  const roleName = useRoleName()
  const { person } = useSession()
  const client = useQueryClient()
  const signOut = useMutation({
    mutationFn: () => leave(client, () => call(signInRoutes.signOut, {})),
  })
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('account.menu')}>
            <PersonIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            {person?.name}
            <br />
            {person?.email} · {person && roleName(person.role)}
          </Menu.Label>
          <Menu.Item component={Link} to="/settings/profile">
            {t('account.profile')}
          </Menu.Item>
          <Menu.Item onClick={() => signOut.mutate()}>{t('account.signOut')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {signOut.error && (
        <ConfirmDialog
          title={t('account.stillSignedIn')}
          action={t('account.signOut')}
          error={signOut.error}
          onConfirm={() => signOut.mutate()}
          onCancel={signOut.reset}
        >
          <p>{t('account.stillSignedInEffect')}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
