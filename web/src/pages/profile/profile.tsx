// The reader's own account: name, password, second factor, sessions and personal access tokens.
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../i18n/i18n.ts'
import { Loading, QueryError } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { AccountCard, PasswordCard } from './account.tsx'
import { profileQuery } from './card.tsx'
import { SessionList } from './sessions.tsx'
import { TokenList } from './tokens.tsx'
import { TwoFactorCard } from './two-factor.tsx'

export function ProfilePage() {
  const { t } = useTranslation()
  const profile = useQuery(profileQuery)
  return (
    <>
      <PageHeader title={t('profile.title')} about={t('profile.about')} />
      {profile.error && !profile.data && <QueryError title={t('profile.failed')} query={profile} />}
      {profile.isPending && <Loading lines={4} height={120} />}
      {profile.data && (
        <Stack gap="lg">
          <AccountCard profile={profile.data} />
          {profile.data.has_password && <PasswordCard />}
          {profile.data.has_password && <TwoFactorCard isOn={profile.data.two_factor} />}
          <SessionList />
          <TokenList hasPassword={profile.data.has_password} />
        </Stack>
      )}
    </>
  )
}
