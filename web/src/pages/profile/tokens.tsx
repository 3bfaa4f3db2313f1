// Personal access tokens, for scripts that act with their owner's permissions.
import { Button, Checkbox, NativeSelect, Stack, Switch, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { Permission } from '../../../../src/admin/contract/permissions.ts'
import { profileRoutes, TOKEN_NAME_LENGTH_MAX } from '../../../../src/admin/contract/profile.ts'
import type { accessToken } from '../../../../src/admin/contract/profile.ts'
import { API_PREFIX } from '../../../../src/admin/contract/route.ts'
import { DAY_MS } from '../../../../src/core/units.ts'
import { call, problemOf } from '../../base/api.ts'
import { sessionQuery } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Moment } from '../../parts/cells.tsx'
import { useChange, useFields } from '../../parts/changes.tsx'
import { CopyBlock } from '../../parts/copy.tsx'
import { actionColumn, type Column, QueryTable } from '../../parts/data-table.tsx'
import { ConfirmDialog, OnceDialog } from '../../parts/dialogs.tsx'
import { KeyIcon, PlusIcon } from '../../parts/icons.tsx'
import { Notice } from '../../parts/notices.tsx'
import { Card, CurrentPassword, tokensQuery } from './card.tsx'

type Token = z.output<typeof accessToken>

export function TokenList({ hasPassword }: { readonly hasPassword: boolean }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState<Token | 'new'>()
  const close = () => setOpen(undefined)
  return (
    <Card
      title={t('profile.tokens')}
      about={t('profile.tokensAbout')}
      isBare
      actions={
        <Button variant="default" leftSection={<PlusIcon />} onClick={() => setOpen('new')}>
          {t('profile.newToken')}
        </Button>
      }
    >
      <TokenTable onRevoke={setOpen} />
      {open === 'new' && <NewTokenDialog hasPassword={hasPassword} onClose={close} />}
      {typeof open === 'object' && <RevokeTokenDialog token={open} onClose={close} />}
    </Card>
  )
}

function TokenTable({ onRevoke }: { readonly onRevoke: (token: Token) => void }) {
  const { t } = useTranslation()
  const tokens = useQuery(tokensQuery)
  const columns: readonly Column<Token>[] = [
    {
      header: t('column.name'),
      isRowHeader: true,
      cell: ({ name, masked }) => (
        <>
          <span className="break">{name}</span>
          <div className="sub break">{masked}</div>
        </>
      ),
    },
    {
      header: t('keyField.permissions'),
      cell: ({ permissions }) =>
        permissions === null
          ? t('profile.allPermissions')
          : permissions.map((each) => t(`permission.${each}`)).join(', '),
    },
    {
      header: t('column.last_used'),
      cell: ({ last_used_at: at }) => (at ? <Moment at={at} /> : t('never')),
    },
    { header: t('column.expires'), cell: ({ expires_at: at }) => <Moment at={at} /> },
    actionColumn(
      t,
      (token) => (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('profile.revokeToken', { name: token.name })}
          onClick={() => onRevoke(token)}
        >
          {t('action.revoke')}
        </Button>
      ),
      'plain',
    ),
  ]
  return (
    <QueryTable
      caption={t('profile.tokens')}
      columns={columns}
      rows={tokens.data}
      query={tokens}
      failed={t('profile.failed')}
      none={{ icon: KeyIcon, title: t('profile.noTokens'), about: t('profile.noTokensAbout') }}
      expectedRows={1}
    />
  )
}

type RevokeTokenDialogProps = { readonly token: Token; readonly onClose: () => void }

function RevokeTokenDialog({ token, onClose }: RevokeTokenDialogProps) {
  const { t } = useTranslation()
  const revoke = useChange([tokensQuery.queryKey], {
    change: () => call(profileRoutes.revokeToken, { params: { id: token.id } }),
    said: () => t('profile.tokenRevoked', { name: token.name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('revoke.title', { name: token.name })}
      action={t('action.revoke')}
      effect={t('profile.revokeTokenEffect')}
      isDangerous
      change={revoke}
      onCancel={onClose}
    />
  )
}

type NewTokenDialogProps = {
  /** False for people who only use single sign-on; they are not asked for a password. */
  readonly hasPassword: boolean
  readonly onClose: () => void
}

const lifetimes = ['7', '30', '90', '365'] as const

/** Creates a personal access token; its secret is shown here, once, and kept nowhere. */
function NewTokenDialog({ hasPassword, onClose }: NewTokenDialogProps) {
  const { t } = useTranslation()
  const [secret, setSecret] = useState<string>()
  const { values, text } = useFields({ name: '', days: '30', password: '' })
  const { name, days, password } = values
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
      change={create}
      placed={['name', 'expires_at', 'password']}
      onCancel={onClose}
    >
      <TextInput
        label={t('profile.tokenName')}
        required
        data-autofocus
        maxLength={TOKEN_NAME_LENGTH_MAX}
        {...text('name', create.error)}
      />
      <NativeSelect
        label={t('keyForm.field.lifetime')}
        {...text('days')}
        error={problemOf(create.error, 'expires_at')}
        data={lifetimes.map((value) => ({ value, label: t(`keyForm.lifetime.${value}`) }))}
      />
      <Scope chosen={chosen} onChange={setChosen} />
      {hasPassword && <CurrentPassword {...text('password', create.error)} />}
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
