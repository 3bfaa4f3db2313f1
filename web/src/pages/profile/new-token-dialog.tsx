// Creates a personal access token; its secret is shown here, once, and kept nowhere.
import { Checkbox, NativeSelect, Stack, Switch, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Permission } from '../../../../src/admin/contract/permissions.ts'
import { profileRoutes, TOKEN_NAME_LENGTH_MAX } from '../../../../src/admin/contract/profile.ts'
import { API_PREFIX } from '../../../../src/admin/contract/route.ts'
import { DAY_MS } from '../../../../src/core/units.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { CopyBlock } from '../../parts/copy-block.tsx'
import { problemOf, unplaced } from '../../parts/field-problem.ts'
import { Notice } from '../../parts/notice.tsx'
import { OnceDialog } from '../../parts/once-dialog.tsx'
import { sessionQuery } from '../../session.ts'
import { useChange } from '../../use-change.ts'
import { CurrentPassword } from './current-password.tsx'
import { tokensQuery } from './profile-queries.ts'

type NewTokenDialogProps = {
  /** False for people who only use single sign-on; they are not asked for a password. */
  readonly hasPassword: boolean
  readonly onClose: () => void
}

const lifetimes = ['7', '30', '90', '365'] as const

export function NewTokenDialog({ hasPassword, onClose }: NewTokenDialogProps) {
  const { t } = useTranslation()
  const [secret, setSecret] = useState<string>()
  const [name, setName] = useState('')
  const [days, setDays] = useState('30')
  const [password, setPassword] = useState('')
  const [chosen, setChosen] = useState<readonly Permission[] | null>(null)
  const create = useChange([tokensQuery.queryKey], {
    change: () =>
      call(profileRoutes.createToken, {
        body: {
          name: name.trim(),
          expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
          permissions: chosen === null ? null : [...chosen],
          ...(hasPassword && { password }),
        },
      }),
    onAnswer: (made) => setSecret(made.secret),
  })
  if (secret !== undefined) return <TokenSecret name={name} secret={secret} onClose={onClose} />
  return (
    <ConfirmDialog
      title={t('profile.newToken')}
      action={t('profile.createToken')}
      isReady={name.trim() !== '' && chosen?.length !== 0 && (password !== '' || !hasPassword)}
      isPending={create.isPending}
      error={unplaced(create.error, ['name', 'expires_at', 'password'])}
      onConfirm={() => create.mutate()}
      onCancel={onClose}
    >
      <TextInput
        label={t('profile.tokenName')}
        required
        data-autofocus
        maxLength={TOKEN_NAME_LENGTH_MAX}
        value={name}
        error={problemOf(create.error, 'name')}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <NativeSelect
        label={t('keyForm.field.lifetime')}
        value={days}
        error={problemOf(create.error, 'expires_at')}
        onChange={({ currentTarget }) => setDays(currentTarget.value)}
        data={lifetimes.map((value) => ({ value, label: t(`keyForm.lifetime.${value}`) }))}
      />
      <Scope chosen={chosen} onChange={setChosen} />
      {hasPassword && (
        <CurrentPassword
          value={password}
          error={problemOf(create.error, 'password')}
          onType={setPassword}
        />
      )}
    </ConfirmDialog>
  )
}

type ScopeProps = {
  /** Null: everything the person may do. */
  readonly chosen: readonly Permission[] | null
  readonly onChange: (chosen: readonly Permission[] | null) => void
}

function Scope({ chosen, onChange }: ScopeProps) {
  const { t } = useTranslation()
  const { data: session } = useQuery(sessionQuery)
  const own = session?.person?.permissions ?? []
  return (
    <>
      <Switch
        label={t('profile.allPermissions')}
        checked={chosen === null}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? null : own)}
      />
      {chosen && (
        <Checkbox.Group
          label={t('roles.permissions')}
          value={[...chosen]}
          onChange={(values) => onChange(own.filter((each) => values.includes(each)))}
        >
          <Stack gap="xs" mt="xs">
            {own.map((permission) => (
              <Checkbox key={permission} value={permission} label={t(`permission.${permission}`)} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
    </>
  )
}

type TokenSecretProps = Pick<NewTokenDialogProps, 'onClose'> & {
  readonly name: string
  readonly secret: string
}

function TokenSecret({ name, secret, onClose }: TokenSecretProps) {
  const { t } = useTranslation()
  const example = `export TOLLGATE_TOKEN=${secret}
curl ${location.origin}${API_PREFIX}/session -H "Authorization: Bearer $TOLLGATE_TOKEN"`
  return (
    <OnceDialog
      title={t('profile.tokenCreated', { name })}
      loss={t('once.token')}
      onClose={onClose}
    >
      {(onCopied) => (
        <>
          <Notice tone="warn" title={t('secret.once')}>
            {t('secret.keepSafe')}
          </Notice>
          <CopyBlock label={t('profile.tokenSecret')} text={secret} onCopied={onCopied} />
          <CopyBlock label={t('profile.tokenExample')} text={example} />
        </>
      )}
    </OnceDialog>
  )
}
