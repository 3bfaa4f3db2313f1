// Alerts: the budget thresholds that send one, the destinations, and the result of each delivery.
import { Button, Group, Stack, Switch, TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { alertRoutes, type alertRule } from '../../../../src/admin/contract/alerts.ts'
import { call, problemOf } from '../../base/api.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { readList, thresholdLimits } from '../../i18n/typed-numbers.ts'
import { useChange } from '../../parts/changes.tsx'
import { KeySelect } from '../../parts/filters.tsx'
import { ErrorAlert, Loading, QueryError } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { madeOldByAlerts, ruleQuery, useAlertWords } from './alert-words.ts'
import styles from './alerts.module.css'
import { DeliveryLog } from './delivery-log.tsx'
import { DestinationList } from './destinations.tsx'

export function AlertsPage() {
  const { t } = useTranslation()
  return (
    <>
      <PageHeader title={t('nav.alerts')} about={t('alerts.about')} />
      <Stack gap="xl">
        <DestinationList />
        <Thresholds />
        <DeliveryLog />
      </Stack>
    </>
  )
}

function Thresholds() {
  const { t } = useTranslation()
  const [key, setKey] = useState<string>()
  return (
    <section>
      <div className={styles['head']}>
        <h2>{t('alerts.thresholds')}</h2>
      </div>
      <div className={styles['pair']}>
        <div className="card">
          <h3 className={styles['title']}>{t('framePage.name')}</h3>
          <RuleEditor keyId={undefined} />
        </div>
        <div className="card">
          <h3 className={styles['title']}>{t('alerts.oneKey')}</h3>
          <KeySelect label={t('requests.key')} required value={key} onChange={setKey} />
          {key !== undefined && <RuleEditor key={key} keyId={key} />}
        </div>
      </div>
    </section>
  )
}

type Rule = z.output<typeof alertRule>
type RuleEditorProps = {
  /** Undefined for the frame. */
  readonly keyId: string | undefined
}

function RuleEditor({ keyId }: RuleEditorProps) {
  const { t } = useTranslation()
  const rule = useQuery(ruleQuery(keyId))
  if (rule.error && !rule.data) return <QueryError title={t('alerts.failed')} query={rule} />
  if (!rule.data) return <Loading lines={2} height={36} />
  return (
    <Stack gap="md" mt="md">
      <RuleForm keyId={keyId} rule={rule.data} />
      <LastAlerts alerts={rule.data.alerts} />
    </Stack>
  )
}

type Draft = { readonly isOwn: boolean; readonly typed: string[] }

function RuleForm({ keyId, rule }: RuleEditorProps & { readonly rule: Rule }) {
  const { t, format } = useTranslation()
  const { may } = useSession()
  // Shows the gateway's values until the reader types; from then on a refetch must not overwrite the draft.
  const [draft, setDraft] = useState<Draft>()
  const { isOwn, typed } = draft ?? { isOwn: rule.own, typed: rule.thresholds.map(String) }
  const body = { thresholds: isOwn ? typed.map(Number) : null }
  const save = useChange(madeOldByAlerts, {
    change: () =>
      keyId === undefined
        ? call(alertRoutes.changeFrameAlerts, { body })
        : call(alertRoutes.changeKeyAlerts, { params: { id: keyId }, body }),
    said: () => t('alerts.rulesSaved'),
    onDone: () => setDraft(undefined),
  })
  const isGood = !isOwn || readList(typed, thresholdLimits) !== undefined
  const isChanged = isOwn !== rule.own || (isOwn && typed.join() !== rule.thresholds.join())
  const problem = isGood ? problemOf(save.error, 'thresholds') : t('alerts.percentProblem')
  if (!may('configuration:manage'))
    return <p>{rule.thresholds.map((each) => format.percent(each / 100)).join(', ')}</p>
  return (
    <>
      <Switch
        label={t('alerts.own')}
        description={t('alerts.ownAbout')}
        checked={isOwn}
        onChange={({ currentTarget }) => setDraft({ isOwn: currentTarget.checked, typed })}
      />
      <TagsInput
        label={t('alerts.percent')}
        description={isOwn && t('keyForm.hint.tags')}
        disabled={!isOwn}
        maxTags={thresholdLimits.count}
        value={typed}
        error={problem}
        onChange={(next) => setDraft({ isOwn, typed: next })}
      />
      {save.error && !problem && <ErrorAlert title={t('dialog.failed')} error={save.error} />}
      <Group>
        <Button
          variant="default"
          loading={save.isPending}
          disabled={!isChanged || !isGood}
          onClick={() => save.mutate()}
        >
          {t('keyForm.save')}
        </Button>
      </Group>
    </>
  )
}

function LastAlerts({ alerts }: Pick<Rule, 'alerts'>) {
  const { t } = useTranslation()
  const words = useAlertWords()
  if (alerts.length === 0) return <p className={styles['alerts']}>{t('alerts.noAlerts')}</p>
  return (
    <ul className={styles['alerts']} aria-label={t('alerts.last')}>
      {alerts.map((alert) => (
        <li key={alert.id}>{words.brief(alert)}</li>
      ))}
    </ul>
  )
}
