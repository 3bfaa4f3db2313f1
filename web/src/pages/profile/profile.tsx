// The reader's own account: name, password, second factor, sessions and personal access tokens.
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { AccountCard } from './account-card.tsx'
import { PasswordCard } from './password-card.tsx'
import { profileQuery } from './profile-queries.ts'
import { SessionList } from './session-list.tsx'
import { TokenList } from './token-list.tsx'
import { TwoFactorCard } from './two-factor-card.tsx'

export function ProfilePage() {
  const { t } = useTranslation()
  const profile = useQuery(profileQuery)
  return (
    <>
      <PageHeader title={t('profile.title')} about={t('profile.about')} />
      {profile.error && !profile.data && (
        <ErrorAlert
          title={t('profile.failed')}
          error={profile.error}
          onRetry={() => void profile.refetch()}
        />
      )}
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
