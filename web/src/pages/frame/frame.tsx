// The budget frame above all keys: what remains, who spends it, its audit log; edit, top up, reset.
import { Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FrameAnswer } from '../../../../src/admin/contract/frame.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { frameQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { FrameCard, FrameExhausted } from '../api-access/frame-card.tsx'
import { AuditEntries } from '../audit/audit.tsx'
import { EditFrameDialog } from './edit-frame-dialog.tsx'
import type { FrameDialogProps } from './edit-frame-dialog.tsx'
import { ResetFrameDialog } from './reset-frame-dialog.tsx'
import { Spenders } from './spenders.tsx'
import { TopUpFrameDialog } from './top-up-frame-dialog.tsx'
import styles from './frame.module.css'

type Action = 'edit' | 'top-up' | 'reset'

export function FramePage() {
  const { t } = useTranslation()
  const { may } = useSession()
  const frame = useQuery(frameQuery)
  const [action, setAction] = useState<Action>()
  return (
    <>
      <PageHeader
        title={t('nav.frame')}
        about={t('framePage.about')}
        actions={frame.data && may('configuration:manage') && <Actions onAction={setAction} />}
      />
      <Stack gap="lg">
        {frame.error && (
          <ErrorAlert
            title={frame.data ? t('overview.stale') : t('framePage.failed')}
            error={frame.error}
            onRetry={() => void frame.refetch()}
          />
        )}
        {frame.isPending && <Loading lines={2} height={150} />}
        {frame.data && (
          <>
            <FrameExhausted frame={frame.data} />
            <FrameCard frame={frame.data} isStale={frame.isError} />
            <Settings frame={frame.data} />
            <Spenders />
          </>
        )}
        {may('audit:read') && (
          <section>
            <h2 className={styles['heading']}>{t('framePage.history')}</h2>
            <AuditEntries
              search={{ subject: 'frame' }}
              none={{ title: t('audit.none'), about: t('audit.noneAbout') }}
            />
          </section>
        )}
      </Stack>
      {action && frame.data && (
        <FrameDialog action={action} frame={frame.data} onClose={() => setAction(undefined)} />
      )}
    </>
  )
}

function Actions({ onAction }: { readonly onAction: (action: Action) => void }) {
  const { t } = useTranslation()
  return (
    <>
      <Button variant="default" onClick={() => onAction('reset')}>
        {t('action.reset')}
      </Button>
      <Button variant="default" onClick={() => onAction('top-up')}>
        {t('action.topUp')}
      </Button>
      <Button onClick={() => onAction('edit')}>{t('framePage.edit')}</Button>
    </>
  )
}

function FrameDialog({ action, ...props }: FrameDialogProps & { readonly action: Action }) {
  switch (action) {
    case 'edit':
      return <EditFrameDialog {...props} />
    case 'top-up':
      return <TopUpFrameDialog {...props} />
    case 'reset':
      return <ResetFrameDialog {...props} />
  }
}

function Settings({ frame }: { readonly frame: FrameAnswer }) {
  const { t } = useTranslation()
  const format = useFormat()
  const per = `${format.money(frame.budget)} ${t(`periodShort.${frame.period}`)}`
  const facts: readonly (readonly [string, string])[] = [
    [t('keyField.budget'), per],
    [t('keyField.top_up'), format.money(frame.top_up)],
    [t('framePage.remaining'), format.moneyLeft(frame.remaining)],
    [t('keyField.timezone'), frame.timezone],
    [t('keyForm.field.week_start'), t(`keyForm.weekStart.${frame.week_start}`)],
  ]
  return (
    <dl className={`card ${styles['facts']}`}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
