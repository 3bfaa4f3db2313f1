// The reader's sessions; each can be ended, or all at once.
import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { type personSession, profileRoutes } from '../../../../src/admin/contract/profile.ts'
import { call } from '../../base/api.ts'
import { leave } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Moment } from '../../parts/cells.tsx'
import { useChange } from '../../parts/changes.tsx'
import { actionColumn, type Column, QueryTable } from '../../parts/data-table.tsx'
import { ConfirmDialog } from '../../parts/dialogs.tsx'
import { ErrorAlert } from '../../parts/notices.tsx'
import { browserName } from './browser-name.ts'
import { Card, sessionsQuery } from './card.tsx'

type Session = z.output<typeof personSession>

export function SessionList() {
  const { t } = useTranslation()
  const [isLeaving, setLeaving] = useState(false)
  const sessions = useQuery(sessionsQuery)
  const end = useChange([sessionsQuery.queryKey], {
    change: (id: string) => call(profileRoutes.endSession, { params: { id } }),
    said: () => t('profile.sessionEnded'),
  })
  const columns: readonly Column<Session>[] = [
    {
      header: t('profile.browser'),
      isRowHeader: true,
      cell: ({ user_agent: agent, address, current }) => (
        <>
          {browserName(agent) ?? t('modelsPage.unknown')}{' '}
          {current && <small className="muted">({t('profile.thisSession')})</small>}
          <div className="sub break">{address}</div>
        </>
      ),
    },
    { header: t('profile.since'), cell: ({ created_at: at }) => <Moment at={at} /> },
    { header: t('column.expires'), cell: ({ expires_at: at }) => <Moment at={at} /> },
    actionColumn(
      t,
      ({ id, current }) =>
        !current && (
          <Button size="compact-sm" variant="default" onClick={() => end.mutate(id)}>
            {t('profile.endSession')}
          </Button>
        ),
      'plain',
    ),
  ]
  return (
    <Card
      title={t('profile.sessions')}
      isBare
      actions={
        <Button variant="default" onClick={() => setLeaving(true)}>
          {t('profile.signOutEverywhere')}
        </Button>
      }
    >
      {end.error && <ErrorAlert title={t('dialog.failed')} error={end.error} />}
      <QueryTable
        caption={t('profile.sessions')}
        columns={columns}
        rows={sessions.data}
        query={sessions}
        failed={t('profile.failed')}
        expectedRows={1}
      />
      {isLeaving && <SignOutEverywhere onClose={() => setLeaving(false)} />}
    </Card>
  )
}

function SignOutEverywhere({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const signOut = useMutation({
    mutationFn: () => leave(client, () => call(profileRoutes.signOutEverywhere, {})),
  })
  return (
    <ConfirmDialog
      title={t('profile.signOutTitle')}
      action={t('profile.signOutEverywhere')}
      effect={t('profile.signOutEffect')}
      isDangerous
      change={signOut}
      onCancel={onClose}
    />
  )
}
