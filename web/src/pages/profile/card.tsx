// What the cards of the profile page share.
import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { queryOptions } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { profileRoutes } from '../../../../src/admin/contract/profile.ts'
import { call } from '../../base/api.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import styles from './profile.module.css'

type CardProps = {
  readonly title: string
  readonly about?: ReactNode
  readonly actions?: ReactNode
  readonly children?: ReactNode
  /** No border: the content is a table, which has its own. */
  readonly isBare?: boolean
}

export function Card({ title, about, actions, children, isBare = false }: CardProps) {
  return (
    <section className={isBare ? styles['bare'] : 'card'}>
      <div className={styles['head']}>
        <div>
          <h2 className={styles['heading']}>{title}</h2>
          {about && <p className={styles['about']}>{about}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  )
}

type CurrentPasswordProps = Pick<PasswordInputProps, 'value' | 'error' | 'onChange'> & {
  readonly isFirst?: boolean
}

/** Asks for the current password before an action that only the owner may take. */
export function CurrentPassword({ isFirst = false, ...field }: CurrentPasswordProps) {
  const { t } = useTranslation()
  return (
    <PasswordInput
      {...field}
      label={t('profile.currentPassword')}
      required
      data-autofocus={isFirst || undefined}
      autoComplete="current-password"
      visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword') }}
    />
  )
}

export const profileQuery = queryOptions({
  queryKey: ['profile', 'self'],
  queryFn: ({ signal }) => call(profileRoutes.readProfile, { signal }),
})

export const sessionsQuery = queryOptions({
  queryKey: ['profile', 'sessions'],
  queryFn: async ({ signal }) => (await call(profileRoutes.listSessions, { signal })).sessions,
})

export const tokensQuery = queryOptions({
  queryKey: ['profile', 'tokens'],
  queryFn: async ({ signal }) => (await call(profileRoutes.listTokens, { signal })).tokens,
})
