// The reader's account and permissions.
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { SubmitEvent } from 'react'
import type { z } from 'zod'
import { profileRoutes } from '../../../../src/admin/contract/profile.ts'
import type { profile as profileAnswer } from '../../../../src/admin/contract/profile.ts'
import { PERSON_NAME_LENGTH_MAX } from '../../../../src/admin/contract/sign-in.ts'
import { call } from '../../api.ts'
import { useRoleName } from '../../i18n/use-role-name.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { problemOf, unplaced } from '../../parts/field-problem.ts'
import { sessionQuery } from '../../session.ts'
import { useChange } from '../../use-change.ts'
import { Card } from './card.tsx'
import { EmailDialog } from './email-dialog.tsx'
import styles from './profile.module.css'

export function AccountCard({ profile }: { readonly profile: z.output<typeof profileAnswer> }) {
  const { t } = useTranslation()
  const roleName = useRoleName()
  const [name, setName] = useState(profile.name)
  const [isMoving, setMoving] = useState(false)
  const save = useChange([['profile'], sessionQuery.queryKey], {
    change: () => call(profileRoutes.changeProfile, { body: { name } }),
    said: () => t('profile.nameSaved'),
  })
  const failure = unplaced(save.error, ['name'])
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Card
      title={profile.email}
      about={t('profile.role', {
        role: roleName(profile.role),
        permissions: profile.permissions.map((each) => t(`permission.${each}`)).join(', '),
      })}
      actions={
        profile.has_password && (
          <Button variant="default" onClick={() => setMoving(true)}>
            {t('profile.changeEmail')}
          </Button>
        )
      }
    >
      {isMoving && <EmailDialog current={profile.email} onClose={() => setMoving(false)} />}
      {failure && <ErrorAlert title={t('dialog.failed')} error={failure} />}
      <form className={styles['form']} onSubmit={submit}>
        <TextInput
          label={t('link.name')}
          required
          maxLength={PERSON_NAME_LENGTH_MAX}
          autoComplete="name"
          value={name}
          error={problemOf(save.error, 'name')}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button
          type="submit"
          variant="default"
          loading={save.isPending}
          disabled={name.trim() === '' || name === profile.name}
        >
          {t('keyForm.save')}
        </Button>
      </form>
    </Card>
  )
}
