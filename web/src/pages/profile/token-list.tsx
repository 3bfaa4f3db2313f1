// Personal access tokens, for scripts that act with their owner's permissions.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { profileRoutes } from '../../../../src/admin/contract/profile.ts'
import type { accessToken } from '../../../../src/admin/contract/profile.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { KeyIcon, PlusIcon } from '../../parts/icons.tsx'
import { Moment } from '../../parts/moment.tsx'
import { useChange } from '../../use-change.ts'
import { Card } from './card.tsx'
import { NewTokenDialog } from './new-token-dialog.tsx'
import { tokensQuery } from './profile-queries.ts'
import styles from './profile.module.css'

type Token = z.output<typeof accessToken>

export function TokenList({ hasPassword }: { readonly hasPassword: boolean }) {
  const { t } = useTranslation()
  const tokens = useQuery(tokensQuery)
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
      {tokens.error && !tokens.data && (
        <ErrorAlert
          title={t('profile.failed')}
          error={tokens.error}
          onRetry={() => void tokens.refetch()}
        />
      )}
      {tokens.data?.length === 0 ? (
        <div className="card">
          <EmptyState icon={<KeyIcon size={22} />} title={t('profile.noTokens')} />
        </div>
      ) : (
        !tokens.isError && <TokenTable rows={tokens.data} onRevoke={setOpen} />
      )}
      {open === 'new' && <NewTokenDialog hasPassword={hasPassword} onClose={close} />}
      {typeof open === 'object' && <RevokeTokenDialog token={open} onClose={close} />}
    </Card>
  )
}

type TokenTableProps = {
  readonly rows: readonly Token[] | undefined
  readonly onRevoke: (token: Token) => void
}

function TokenTable({ rows, onRevoke }: TokenTableProps) {
  const { t } = useTranslation()
  const columns: readonly Column<Token>[] = [
    {
      id: 'name',
      header: t('column.name'),
      isRowHeader: true,
      card: 'title',
      cell: ({ name, masked }) => (
        <>
          <span className="break">{name}</span>
          <div className={styles['sub']}>{masked}</div>
        </>
      ),
    },
    {
      id: 'permissions',
      header: t('keyField.permissions'),
      cell: ({ permissions }) =>
        permissions === null
          ? t('profile.allPermissions')
          : permissions.map((each) => t(`permission.${each}`)).join(', '),
    },
    {
      id: 'last_used',
      header: t('column.last_used'),
      cell: ({ last_used_at: at }) => (at ? <Moment at={at} /> : t('never')),
    },
    {
      id: 'expires',
      header: t('column.expires'),
      cell: ({ expires_at: at }) => <Moment at={at} />,
    },
    {
      id: 'revoke',
      header: t('overview.actions'),
      hideHeader: true,
      align: 'end',
      card: 'plain',
      cell: (token) => (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('profile.revokeToken', { name: token.name })}
          onClick={() => onRevoke(token)}
        >
          {t('action.revoke')}
        </Button>
      ),
    },
  ]
  return (
    <DataTable
      caption={t('profile.tokens')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
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
      title={t('profile.revokeToken', { name: token.name })}
      action={t('action.revoke')}
      isDangerous
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onCancel={onClose}
    >
      <p>{t('profile.revokeTokenEffect')}</p>
    </ConfirmDialog>
  )
}
